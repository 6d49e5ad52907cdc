/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_UNSEEN_H
#define CT_SYNC_PIECEWISE_UNSEEN_H

#include "sync/sync.h"

/*
 * Detection of steps and slews that contradict no message, because they are smaller than
 * a round trip, and so are missing from the fit.
 *
 * From some time on, such an event lengthens the latencies in one direction and shortens
 * those in the other by the same amount. Load and chance change each direction
 * independently, so the difference of the shortest latencies of both directions varies
 * over time as much as their sum. If the difference varies much more, the clocks did not
 * run as fitted.
 */
struct unseen;

struct unseen *unseen_new(const struct sync *sync);

/*
 * Add a message: `x` is its time by the pair's first clock, `latency` its latency in the
 * fit, ns.
 */
void unseen_note(struct unseen *unseen, const struct message *message, nsec_t x,
		 nsec_t latency);

bool unseen_is_likely(const struct unseen *unseen, size_t pair);

void unseen_free(struct unseen *unseen);

#endif
