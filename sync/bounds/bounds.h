/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_BOUNDS_H
#define CT_SYNC_BOUNDS_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>

#include "clock/clock.h"
#include "sync/sync.h"

/* Local times around a step: nothing is known inside, nor across. */
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
 * How far a clock's true correction may lie from its fitted one, by time, when
 * all that is known of it are bounds at single times and how fast it can run:
 * what bounds one time bounds the times around it, opening with the rate. Kept
 * at the times of an even grid; in between it is exact, for a bound that was
 * taken in at another time has been opened up to the next times of the grid.
 */
struct envelope {
	nsec_t begin_ns;
	double step_ns;  /* distance of grid points; with `edge`, the mean one */
	double *edge;    /* grid points, ns since begin_ns; NULL if the grid is even */
	size_t cells;    /* cells of the grid; it has one point more */
	double *most[2]; /* by grid point: bound on the error at [true], on its negative
			    at [false]; of a doubted clock, by what is known of earlier
			    times */
	double
	    *later[2];  /* of a doubted clock, the same by later times; NULL otherwise */
	double rate[2]; /* how fast these can grow, without unit */
	double (*slewed)[2]; /* `rate` by cell; NULL if `rate` applies to all */
	double width_ns;     /* mean distance of the two bounds at the last sweep */
	bool is_touched;     /* a bound was tightened since the last sweep */
	bool is_broken;      /* no line fits between the bounds, but one is required */
	struct envelope_gap *gap; /* ascending, apart from each other */
	size_t gaps;
};

/*
 * A grid of so many cells from begin to end of a line, its one segment, with nothing
 * known. `rates` are the least and the most that the true correction's rate can be.
 */
void envelope_init(struct envelope *envelope, const struct clock *line,
		   const double rates[2], size_t cells);

/*
 * Place most cells where messages are. `is_busy` marks, among `bins` spans of equal
 * length, those with messages; each run of other spans gets one cell. With too few cells
 * for that, the grid stays even. Call before adding any bound.
 */
void envelope_follow(struct envelope *envelope, const bool *is_busy, size_t bins);

/*
 * Doubt the clock: it may have been stepped by less than a round trip, at one time that
 * is unknown. Then either what is known of earlier times holds or what is known of later
 * ones. Call before adding any bound.
 */
void envelope_doubt(struct envelope *envelope);

/* Return the start of a cell, ns since begin_ns. */
double envelope_edge(const struct envelope *envelope, size_t cell);

/* The clock was stepped in between; gaps come by their begin, before any bound. */
void envelope_add_gap(struct envelope *envelope, nsec_t from, nsec_t to);

/* Add a slew of the clock. Call before adding any bound. */
void envelope_add_slew(struct envelope *envelope, const struct clock *line,
		       const struct envelope_slew *slew);

/* The gap that a time lies in; NULL: none. */
struct envelope_gap *envelope_gap_at(const struct envelope *envelope, nsec_t at);

/* The error at a time is at most, or at least, so many nanoseconds. */
void envelope_take(struct envelope *envelope, nsec_t at, double error_ns, bool high);

/* Let every bound that was taken in bound all times. Whether it gained by that. */
bool envelope_sweep(struct envelope *envelope);

/*
 * The same of a clock that keeps its rate, whose error is a line: what lines can reach
 * that lie between all bounds. Sets is_broken, and changes nothing, where there is none.
 */
bool envelope_straighten(struct envelope *envelope);

/* What is known at a time; infinite where nothing is, as inside of a gap. */
double envelope_at(const struct envelope *envelope, nsec_t at, bool high);

/*
 * The most (`high`) or the least over all times of a span that has no gap inside, of the
 * error and what is added to it: so much at the span's begin, so much at its end,
 * in between by a line.
 */
struct envelope_span {
	nsec_t from, to;
	double added[2];
};

double envelope_extreme(const struct envelope *envelope, const struct envelope_span *span,
			bool high);

void envelope_clear(struct envelope *envelope);

/*
 * Bounds of the clocks. Every message says that its receive came after its send, and
 * every clock keeps to the drift limit: these are differences of times, so the tightest
 * bound is a shortest way from the reference through messages and along clocks (Bellman
 * and Ford's relaxation, over all messages until none gains, on one envelope a clock).
 * Sound however early it stops. Where clocks are said to wander less, or to keep their
 * rates, it is done once more with that. Sets the bounds of sync->fitted and sync->rate.
 * 0, or -1 with error.
 */
int bounds_find(struct sync *sync, struct error *error);

#endif
