/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_JUDGE_UNSEEN_H
#define CT_SYNC_JUDGE_UNSEEN_H

#include "sync/bounds/latencies.h"

/*
 * Detection of clocks that were stepped or slewed without contradicting a message, by
 * less than a round trip, so that the fit lacks it.
 *
 * From then on latencies are longer in one direction and shorter in the other, by the
 * same amount. Load and chance change each direction by itself, and so the round trip as
 * well. So in spells of time with about the same round trip, the directions should differ
 * by the same amount, apart from the drift that the limit allows in between.
 */

/* Return true if a clock moved, according to the messages with all others. */
bool unseen_is_likely(const struct network *net, const struct latencies *latencies,
		      uint32_t clock);

#endif
