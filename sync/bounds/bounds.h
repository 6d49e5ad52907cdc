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

/* Rates of the true correction meanwhile, beyond those that an envelope is made with. */
struct envelope_slew {
	nsec_t from_ns, to_ns;           /* it may be slewed, */
	nsec_t full_from_ns, full_to_ns; /* and certainly is */
	double rate[2];                  /* the least and the most of the latter */
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
	double step_ns;      /* between two times of the grid */
	double *edge;        /* times of the grid since the begin, where it is not even */
	size_t cells;        /* the grid has one time more */
	double *most[2];     /* of the error at [true], of its negative at [false] */
	double rate[2];      /* how fast these can grow, no unit */
	double (*slewed)[2]; /* by cell, the same; NULL: rate holds everywhere */
	double width_ns;     /* between the two, on average, when last swept */
	bool is_touched;     /* a bound was tightened since it was swept */
	bool is_broken;      /* no line lies between the two, but one was asked for */
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
 * Put most cells where messages are: by `bins` spans of equal length, whether any is in
 * it. Before anything is taken in.
 */
void envelope_follow(struct envelope *envelope, const bool *is_busy, size_t bins);

/* When a cell begins, since the envelope's begin. */
double envelope_edge(const struct envelope *envelope, size_t cell);

/* The clock was stepped in between; gaps come by their begin, before any bound. */
void envelope_add_gap(struct envelope *envelope, nsec_t from, nsec_t to);

/* The clock was slewed; before any bound. */
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
