/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_REACH_H
#define CT_SYNC_PIECEWISE_REACH_H

#include "sync/piecewise/piecewise.h"

/* Walks over the bounds of a clock, up to the first that contradicts those before it. */

/* The bounds of a clock, sorted by local time or, with is_by_y, by reference time. */
struct band_search {
	const struct piecewise_bound *bound;
	size_t n;
	double limit;
	double tight_ns; /* amount by which each bound is tightened */
	bool has_claims; /* some bounds are a daemon's claims: none is tightened */
	bool is_by_y;
};

/* The possible rates of a correction from a time on, up to the next span. */
struct rate_span {
	double from; /* ns since the first bound */
	double low, high;
};

/* A walk over bounds that finds how many of them one clock satisfies. */
struct walk {
	size_t from, to; /* bounds [from, to); backward over [to, from) if `to` is less */
	double shrink_ns;         /* added to tight_ns */
	struct rate_span span[5]; /* in order of time; earlier, the drift limit applies */
	size_t spans;
};

/* Return the time of a bound since the first one, ns. */
double bound_time(const struct band_search *search, size_t i);

/*
 * Return the first bound that no clock satisfies together with those before it in the
 * walk (backward, its index plus 1), or walk->to if one clock satisfies all.
 */
size_t reach(const struct band_search *search, const struct walk *walk);

/*
 * Return by how much (ns) the bounds in [from, to) can all be tightened at once; 0 if
 * there are too few to limit it.
 */
double slack_of(const struct band_search *search, size_t from, size_t to);

/*
 * Return how many bounds, from the first on and in the order of their times, some clock
 * within the limit satisfies: each bound opens with the time that passes. Going as far as
 * possible each time takes the fewest steps, because what contradicts nothing still does
 * not with fewer bounds.
 */
size_t piecewise_reach(const struct piecewise_bound *bound, size_t n, double limit);

#endif
