/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_FIT_H
#define CT_SYNC_FIT_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "clock/clock.h"
#include "sync/fit/lp.h"
#include "sync/pair/pair.h"

/*
 * Fitting the clocks of one island to its reference.
 *
 * What a method gets is the whole island; what it gives is a line for every
 * clock, in fit_clock. Methods are interchangeable: --method picks one.
 */
struct fit_clock {
	nsec_t begin_ns, end_ns;         /* local stamps of the first and last event */
	nsec_t own_begin_ns, own_end_ns; /* the same without sources tied to it */
	nsec_t origin_ns; /* local; the middle, where the line is anchored */
	nsec_t ref_ns;    /* reference time at the origin, the whole part */
	double offset_ns; /* what is added to it, the fine part */
	double rate;      /* of the correction, without unit */
	int parent;       /* the clock it is tied to in the tree, -1: root */
	bool too_fast;    /* only rates beyond the limit satisfy its messages */
	int parent_pair;  /* the pair that ties them */
};

/* Reference time of a local one, less `ref`: exact to fractions of a nanosecond. */
double fit_correct(const struct fit_clock *clock, nsec_t local_ns, nsec_t ref);

struct fit_island {
	struct fit_clock *clock; /* of every trace of the run, by its index */
	const uint32_t *member;  /* the island's traces; tree order, reference first */
	size_t members;
	struct pair_table *pairs; /* of the run, settled */
	const uint32_t *inside;   /* pairs between members */
	size_t insides;
	double limit;                     /* largest |rate|, without unit */
	const struct pair_sample *sample; /* by pair; NULL unless wants_sample */
};

struct fit_method {
	const char *name;
	bool wants_sample; /* needs messages, not only hulls */
	/* Set rate, ref_ns and offset_ns of every member but the first. */
	int (*fit)(struct fit_island *island, struct error *error);
};

/* hull, margin, joint or regression; NULL: there is no such method. */
const struct fit_method *fit_method_find(const char *name);

/*
 * The line with the largest slack to both half hulls of a pair, its |rate|
 * at most `limit`, and that slack; negative where no line satisfies all.
 * Where messages go one way only: the line that lies closest to them on
 * average, and slack 0.
 */
void fit_pair_margin(struct pair *pair, double limit);

/*
 * The same, but where only rates beyond the limit satisfy all messages, that
 * line; sets pair->too_fast.
 */
void fit_pair_or_too_fast(struct pair *pair, double limit);

/* For those who implement a method. */

int fit_hull(struct fit_island *island, struct error *error);
int fit_joint(struct fit_island *island, struct error *error);
int fit_regression(struct fit_island *island, struct error *error);

/*
 * The bisector and half the width that they leave at x, in nanoseconds;
 * infinite, with the largest-margin line, where messages go one way only or
 * contradict each other.
 */
double fit_bisector(const struct pair *pair, double limit, nsec_t x, struct line *line);

/* The largest |rate| between the clocks of a pair: each may have the limit's. */
double fit_pair_limit(const struct fit_island *island, const struct pair *pair);

/* Put a line of given rate in the middle between the hulls; its slack to them. */
double fit_middle(const struct pair *pair, struct line *line);

/*
 * Compose lines of pairs along the island's tree: `pair_line` gives each
 * tree pair's line from its a to its b.
 */
int fit_along_tree(struct fit_island *island,
		   int (*pair_line)(struct fit_island *island, uint32_t pair,
				    struct line *line, struct error *error),
		   struct error *error);

/*
 * By how much the message at a corner of a pair's hull was received after it
 * was sent, on the fitted clocks, in nanoseconds.
 */
double fit_corner_slack(const struct fit_island *island, const struct pair *pair,
			struct hull_point corner, bool forward);

/* Call `look` for each corner of each pair inside the island. */
void fit_each_corner(struct fit_island *island,
		     void (*look)(void *context, const struct pair *pair,
				  struct hull_point corner, bool forward),
		     void *context);

/*
 * The linear program of an island's clocks (Sirdey and Maurice 2005;
 * Scheuermann et al. 2009). It is written about the fit at hand: a clock's
 * columns are what is added to its line, at its origin and from there to its
 * end, so that every number is a difference of the size of the delays. One
 * row a corner of a hull: received after sent.
 */
struct island_lp {
	struct fit_island *island;
	struct lp *lp;
	int *place;      /* by trace: its place among the members, -1: none */
	double unit_ns;  /* of the offsets' columns and the rows */
	double *half_ns; /* by place: from a clock's origin to its end */
	double least_ns; /* what a message must take at least; 0 at first */
	size_t extra;    /* the first of the caller's own columns */
};

/* Columns of the member at a place; the reference, place 0, has none. */
static inline size_t island_lp_offset(size_t place)
{
	return 2 * (place - 1);
}

static inline size_t island_lp_rate(size_t place)
{
	return 2 * (place - 1) + 1;
}

/* Make the columns, bound the rates, with `extra` columns after them. No rows. */
void island_lp_init(struct island_lp *program, struct fit_island *island, size_t extra);

/* Add the rows of a pair's corners: each has a slack of least_ns or more. */
void island_lp_add_pair(struct island_lp *program, const struct pair *pair);

/* Move the island's clocks by the clocks' columns. */
void island_lp_move(struct island_lp *program, const double *column);

/* Take the solution over into the island's clocks. */
void island_lp_apply(struct island_lp *program);

/* A column's amount per unit of change of the clock at a local time. */
double island_lp_rate_factor(const struct island_lp *program, size_t place,
			     nsec_t local_ns);

void island_lp_clear(struct island_lp *program);

/* Linear models, of regression.c, the only user of GSL. */

/*
 * Robust regression, y ~ sum of c[k] * x[k]: iteratively reweighted least
 * squares with Tukey's bisquare. x holds `n` rows of `parameters` numbers
 * near 1. False when no solution was found.
 */
bool statistics_robust(const double *x, const double *y, size_t n, size_t parameters,
		       double *c);

/* Weighted least squares from single terms, for many unknowns and sparse rows. */
struct least_squares;

struct least_squares *least_squares_new(size_t unknowns);

/* Add weight^2 * (sum of terms of the unknowns, less value)^2 to the sum. */
void least_squares_add(struct least_squares *squares, const struct lp_term *term,
		       size_t terms, double value, double weight);

/* Solve by Cholesky's method; false when the rows do not determine the unknowns. */
bool least_squares_solve(struct least_squares *squares, double *unknown);

void least_squares_free(struct least_squares *squares);

/* "2.7.1" */
const char *statistics_library_version(void);

#endif
