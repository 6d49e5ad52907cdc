/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_REGION_H
#define CT_SYNC_BOUNDS_REGION_H

#include "sync/fit/fit.h"

/*
 * How far the true clocks may lie from the fitted ones: for each clock and
 * each of a few times the extremes over all sets of clocks that satisfy every
 * message of the island and the drift limit. Two linear programs a time, each
 * started from the one before; whatever method made the fit, this is the
 * same region.
 */
enum {
	REGION_TIMES =
	    9, /* evenly from begin to end of the trace, the middle among them */
	REGION_TIMES_OF_MANY = 3, /* in an island of more than REGION_MANY clocks */
	REGION_MANY = 32,
};

struct region {
	bool known; /* false: the messages contradict each other */
	int times;
	struct clock_bound bound[REGION_TIMES];
	double rate_low, rate_high; /* of the correction, without unit */
};

/*
 * Fill region[i] for the i-th member of the island. Bounds are rounded
 * outwards. Pairs whose messages contradict each other are left out; where
 * the rest still do, only the tree's pairs count. In islands of more than
 * REGION_MANY clocks each is bounded by the pairs on its way to the
 * reference: wider, and as true.
 */
void region_find(struct fit_island *island, struct region *region);

#endif
