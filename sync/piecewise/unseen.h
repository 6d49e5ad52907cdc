/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_UNSEEN_H
#define CT_SYNC_PIECEWISE_UNSEEN_H

#include "sync/sync.h"

/*
 * Detection of clocks that were stepped or slewed without contradicting a message, by
 * less than a round trip, so that the fit lacks it.
 *
 * From then on latencies are longer in one direction and shorter in the other, by the
 * same amount. Load and chance change each direction by itself, and so the round trip as
 * well. So of spells of time with about the same round trip, the two directions should
 * differ alike, but for what the drift limit lets a clock drift meanwhile.
 */
struct unseen;

struct unseen *unseen_new(const struct sync *sync);

/* Add a message that is not rejected: its time and its latency in the fit, ns. */
void unseen_note(struct unseen *unseen, const struct message *message, nsec_t at,
		 nsec_t latency);

/* Return true if a clock moved, by the messages with all others. */
bool unseen_is_likely(const struct unseen *unseen, uint32_t clock);

void unseen_free(struct unseen *unseen);

#endif
