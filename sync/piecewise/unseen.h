/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_UNSEEN_H
#define CT_SYNC_PIECEWISE_UNSEEN_H

#include "sync/sync.h"

/*
 * What clocks did that contradicts no message, and so is in no fit: a step or a slew of
 * less than a round trip.
 *
 * It makes the latencies one way longer and those the other way shorter, by as much, from
 * some time on. Load and chance change either by itself: then the difference of the
 * shortest latencies of both directions varies from time to time as much as their sum.
 * Where the difference varies much more, the clocks are not what they were fitted as.
 */
struct unseen;

struct unseen *unseen_new(const struct sync *sync);

/* A message's latency by the fit; its time by the pair's first clock. */
void unseen_note(struct unseen *unseen, const struct message *message, nsec_t x,
		 nsec_t latency);

bool unseen_is_likely(const struct unseen *unseen, size_t pair);

void unseen_free(struct unseen *unseen);

#endif
