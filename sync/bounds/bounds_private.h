/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_BOUNDS_PRIVATE_H
#define CT_SYNC_BOUNDS_BOUNDS_PRIVATE_H

#include "sync/bounds/bounds.h"

enum { BINS = 4096 }; /* of a clock's time, to see where its messages are */

/* What the rounding of corrections and of what is printed can take from a bound. */
#define ROUNDING_NS 2.0

/*
 * A clock, and the error of a line that it is near: how far the true correction is above
 * the line. How the fit bends does not enter.
 */
struct search_clock {
	struct clock line;        /* of one segment */
	struct envelope envelope; /* of the error; without cells: it has no bounds */
	unsigned depth;           /* in the tree */
	bool is_reference;        /* of an island of several clocks: it has no error */
	bool is_straight;         /* it keeps its rate */
	bool *is_busy;            /* by bin of its time: messages were in it */
	bool is_news;             /* tighter than when its messages were last read */
};

struct search {
	struct sync *sync;
	struct search_clock *clock;
	uint32_t *member; /* the clocks that get bounds, in the order of their trees */
	size_t members;
	unsigned rounds;
};

/* The largest |rate| of a clock, without unit. */
double limit_of(const struct search *search);

/* What is known of a clock's error at a time. */
double error_at(const struct search_clock *clock, nsec_t at, bool high);

/* Extremes of a true correction, less a reference time. */
struct extremes {
	double low, high;
};

/* What a clock may be within a gap, where it is as before or as after. */
struct extremes before_or_after(const struct search *search,
				const struct search_clock *clock,
				const struct envelope_gap *gap, nsec_t at, nsec_t zero);

/* State the bounds of a clock, by times that its messages, steps and slews choose. */
void state_bounds(const struct search *search, uint32_t index, size_t spans);

#endif
