/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_BOUNDS_H
#define CT_SYNC_BOUNDS_BOUNDS_H

#include "sync/bounds/envelope.h"
#include "sync/sync.h"

/* For the files of the search for bounds by the drift limit. */

/* What the rounding of corrections and of what is printed can take from a bound. */
#define ROUNDING_NS 2.0

/*
 * By clock, the error of a line that the clock is near: how far the true correction
 * is above it. No fit enters, however bent it is.
 */
struct search {
	struct sync *sync;
	struct clock *base;        /* the lines, of one segment each */
	struct envelope *envelope; /* without cells: it has none */
	bool *is_reference;        /* of the islands that are searched */
	bool *news;                /* tighter since it was last heard */
	unsigned rounds;
};

/* Extremes of a true correction, less a reference time. */
struct extremes {
	double low, high;
};

/*
 * Bounds that take no clock to be straight. Every message says that its
 * receive came after its send, and every clock keeps to the drift limit: these
 * are differences of times, so the tightest bound is a shortest way from the
 * reference through messages and along clocks (Bellman and Ford's relaxation,
 * over all messages until none gains, on one envelope a clock). Sound however
 * early it stops. Done for the islands that do not have a region: all of them,
 * unless clocks are to be taken as straight; then those where a clock bends.
 * Sets the bounds of sync->fitted and the rates of sync->region. 0, or -1
 * with error.
 */
int bounds_find(struct sync *sync, struct error *error);

#endif
