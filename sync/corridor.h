/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_CORRIDOR_H
#define CT_SYNC_CORRIDOR_H

#include "base/error.h"
#include "clock/clock.h"

/*
 * The fewest line segments through a corridor: for a clock that no single
 * line describes, each message bounds the reference time at one local time,
 * from above or from below, and the correction must pass between.
 */
struct corridor_bound {
	nsec_t x; /* local time of the clock */
	nsec_t y; /* reference time that it is at most, or at least */
	bool above;
};

struct corridor_fit {
	struct clock_segment *segment; /* by ascending local_ns; freed by the caller */
	size_t segments;
	size_t steps; /* segments that do not go on where the one before ends */
};

/*
 * Fit segments to bounds, which are put in order. The correction's |rate| is
 * at most `limit` within segments; they join, except where the bounds before
 * and after a time contradict each other for any such rate: there the clock
 * was stepped. 0, or -1 with error where no number of segments satisfies all.
 */
int corridor_find(struct corridor_bound *bound, size_t n, double limit,
		  struct corridor_fit *fit, struct error *error);

#endif
