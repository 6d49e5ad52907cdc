/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PIECEWISE_REACH_H
#define CT_SYNC_PIECEWISE_REACH_H

#include "sync/piecewise/piecewise.h"

/* How far bounds of a clock go without contradicting each other. */

/* The bounds of a clock, in the order of the clock's time or of the reference's. */
struct band_search {
	const struct piecewise_bound *bound;
	size_t n;
	double limit;
	double tight_ns; /* each bound is taken to be tighter by this */
	bool is_by_y;
};

/* Rates of a correction that are possible from a time on. */
struct rate_span {
	double from; /* time since the first bound */
	double low, high;
};

/* A walk over bounds that counts how many of them some clock satisfies. */
struct walk {
	size_t from, to;  /* bounds; down to `to`, not included, if that is less */
	double shrink_ns; /* each bound is tighter by this, too */
	struct rate_span span[5]; /* in order of time; none: the drift limit */
	size_t spans;
};

/* The time of a bound since the first one, in ns. */
double bound_time(const struct band_search *search, size_t i);

/* The first bound that no clock satisfies along with those walked over before it. */
size_t reach(const struct band_search *search, const struct walk *walk);

/*
 * By how much the bounds from one up to another may be tighter at once, in ns; 0 where
 * there are few.
 */
double slack_of(const struct band_search *search, size_t from, size_t to);

#endif
