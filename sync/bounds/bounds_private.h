/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_BOUNDS_PRIVATE_H
#define CT_SYNC_BOUNDS_BOUNDS_PRIVATE_H

#include "sync/bounds/bounds.h"
#include "sync/bounds/envelope.h"

enum { BINS = 4096 }; /* equal parts of a clock's time, to find those with messages */

/* Allowance of each bound for the rounding of corrections and of printed values, ns. */
#define ROUNDING_NS 2.0

/*
 * A clock, a line close to it, and bounds on that line's error: the true correction less
 * the line. The segments of the fit do not matter.
 */
struct search_clock {
	struct clock line;        /* has one segment */
	struct envelope envelope; /* bounds on the error; without cells if unbounded */
	unsigned depth;           /* depth in the tree */
	bool is_reference; /* reference of an island of several clocks; its error is 0 */
	bool is_straight;  /* the clock keeps its rate */
	bool is_doubted;   /* some clock of its island is piecewise */
	bool *is_busy;     /* by bin: contains messages; NULL if the grid is even */
	bool is_news;      /* bounds are tighter than when its messages were last read */
};

struct search {
	const struct network *net;
	const struct curves *curves;
	const struct latencies *latencies;
	const struct bounds_options *options;
	struct bounds *result;
	struct search_clock *clock;
	uint32_t *member; /* clocks that get bounds, in tree order */
	size_t members;
	unsigned rounds;
};

/*
 * Return the upper (`high`) or lower bound on a clock's error at a time; infinite if
 * unknown.
 */
double error_at(const struct search_clock *clock, nsec_t at, bool high);

/* The least and the largest value of a true correction, less a reference time. */
struct extremes {
	double low, high;
};

/*
 * Return the extremes of a clock's true correction, less `zero`, at time `at` in a gap.
 * There the clock runs as before the gap or as after it.
 */
struct extremes before_or_after(const struct search *search,
				const struct search_clock *clock,
				const struct envelope_gap *gap, nsec_t at, nsec_t zero);

/* Return the mean rate of a fit's segments within the limit, without unit. */
double usual_rate(const struct search *search, uint32_t index);

/*
 * Return by how much a clock's rate may differ from its mean one. If the fit follows a
 * change of rate for so long that it must have been slow, the limit applies.
 */
double wander_of(const struct search *search, uint32_t index, double rate);

/* State the bounds of a clock at times that depend on its messages, steps and slews. */
void state_bounds(const struct search *search, uint32_t index, size_t spans);

#endif
