/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_ENVELOPE_H
#define CT_SYNC_BOUNDS_ENVELOPE_H

#include "clock/clock.h"

/* Local times around a step: nothing is known within it, nor across it. */
struct envelope_gap {
	nsec_t from_ns, to_ns;
	bool high_open, low_open; /* nothing bounds that side inside */
};

/*
 * Rates of the true correction during a slew, beyond those that the envelope was created
 * with.
 */
struct envelope_slew {
	nsec_t from_ns, to_ns;           /* no part of the slew is before or after */
	nsec_t full_from_ns, full_to_ns; /* the clock was certainly slewed in between */
	double rate[2];                  /* least and largest rate between the latter */
};

/*
 * Bounds over time on the error of a clock's correction, from bounds at single times and
 * the rates at which the clock can run: a bound at one time also bounds the times around
 * it, and widens with the rate. Stored at the points of an even grid. In between it is
 * exact, because a bound at another time was widened to the grid points next to it.
 */
struct envelope {
	nsec_t begin_ns;
	double step_ns;   /* distance of grid points; with `edge`, the mean one */
	double *edge;     /* grid points, ns since begin_ns; NULL if the grid is even */
	size_t cells;     /* cells of the grid; it has one point more */
	double *most[2];  /* by grid point: bound on the error at [true], on its negative
			     at [false]; of a doubted clock, by earlier times only */
	double *later[2]; /* for a doubted clock, the bounds by later times; or NULL */
	double rate[2];   /* how fast these can grow, without unit */
	double (*slewed)[2]; /* `rate` by cell; NULL if `rate` applies to all */
	double width_ns;     /* mean distance of the two bounds at the last sweep */
	bool is_touched;     /* a bound was tightened since the last sweep */
	bool is_broken;      /* no line fits between the bounds, but one is required */
	struct envelope_gap *gap; /* ascending, apart from each other */
	size_t gaps;
};

/* Make a grid of `cells` cells over a line, a clock with one segment, without bounds.
 * `rates` are the least and the largest rate of the true correction. */
void envelope_init(struct envelope *envelope, const struct clock *line,
		   const double rates[2], size_t cells);

/* Place most cells at messages. `is_busy` marks the spans with messages among `bins`
 * spans of equal length; each run of others gets one cell. If the cells do not suffice,
 * the grid stays even. Call before adding bounds. */
void envelope_follow(struct envelope *envelope, const bool *is_busy, size_t bins);

/*
 * Doubt the clock: it may have been stepped by less than a round trip, at one time that
 * is unknown. Then either the bounds by earlier times hold or those by later ones. Call
 * before adding any bound.
 */
void envelope_doubt(struct envelope *envelope);

/* Return the start of a cell, ns since begin_ns. */
double envelope_edge(const struct envelope *envelope, size_t cell);

/* Add a step of the clock. Add gaps by ascending begin, and before any bound. */
void envelope_add_gap(struct envelope *envelope, nsec_t from, nsec_t to);

/* Add a slew of the clock. Call before adding any bound. */
void envelope_add_slew(struct envelope *envelope, const struct clock *line,
		       const struct envelope_slew *slew);

/* Return the gap that contains a time, or NULL. */
struct envelope_gap *envelope_gap_at(const struct envelope *envelope, nsec_t at);

/* Add a bound: at time `at` the error is at most (`high`) or at least `error_ns`. */
void envelope_add_bound(struct envelope *envelope, nsec_t at, double error_ns, bool high);

/* Return true if that would tighten what is known. */
bool envelope_is_tighter(const struct envelope *envelope, nsec_t at, double error_ns,
			 bool high);

/* Let every bound that was added bound all times. Return true if that gained much. */
bool envelope_sweep(struct envelope *envelope);

/* Do the same for a clock with a constant rate, so that its error is a line: find the
 * range of the lines between all bounds. If there is none, set is_broken and change
 * nothing. */
bool envelope_straighten(struct envelope *envelope);

/* Return the bound at a time; infinite if unknown, as within a gap. */
double envelope_at(const struct envelope *envelope, nsec_t at, bool high);

/*
 * A span of time without a gap, and what to add to the error in it: `added` has the
 * values at both ends, with a line in between.
 */
struct envelope_span {
	nsec_t from, to;
	double added[2];
};

/* Return the largest (`high`) or least sum of the error and `added` within a span. */
double envelope_extreme(const struct envelope *envelope, const struct envelope_span *span,
			bool high);

void envelope_clear(struct envelope *envelope);

#endif
