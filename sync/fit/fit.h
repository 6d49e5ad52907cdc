/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_FIT_H
#define CT_SYNC_FIT_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "clock/clock.h"
#include "sync/pair/pair.h"
#include "sync/pair/sample.h"

/*
 * A linear program, sparse, solved by the simplex method. The only user of
 * GLPK. Whoever builds one centres and scales its columns, rows and objective
 * to numbers near 1: GLPK's tolerances are absolute, and on raw nanoseconds
 * it returns wrong answers without a word.
 *
 * GLPK keeps its memory in a thread's own environment: a program is built,
 * solved and freed in one thread.
 */
struct lp;

#define LP_INFINITY 1e300 /* as a bound: none on that side */

struct lp_term {
	size_t column;
	double factor;
};

struct lp *lp_new(size_t columns);

/* low <= column <= high; a new program's columns are free. */
void lp_bound(struct lp *lp, size_t column, double low, double high);

/* Add the row: low <= sum of terms. */
void lp_row(struct lp *lp, const struct lp_term *term, size_t terms, double low);

/* The factor of a column in the objective; 0 in a new program. */
void lp_objective(struct lp *lp, size_t column, double factor);

/*
 * Maximize the objective, once and last of all. False where the rows contradict each
 * other, nothing bounds the objective, or no solution was found.
 */
bool lp_maximize(struct lp *lp);

/* A column's value in the solution. */
double lp_value(const struct lp *lp, size_t column);

void lp_free(struct lp *lp);

/* "GLPK 5.0"; the caller frees it. */
char *lp_library_version(void);

/*
 * Fitting the clocks of one island to its reference.
 *
 * What a method gets is the whole island; what it gives is a line for every
 * clock, in fit_clock. Methods are interchangeable: --method picks one.
 */
struct fit_clock {
	nsec_t begin_ns, end_ns; /* local stamps of the first and last event */
	nsec_t origin_ns;        /* local; the middle, where the line is anchored */
	nsec_t ref_ns;           /* reference time at the origin, the whole part */
	double offset_ns;        /* what is added to it, the fine part */
	double rate;             /* of the correction, without unit */
	int parent;              /* the clock it is tied to in the tree, -1: root */
	size_t place;            /* among the members of its island */
	bool too_fast;           /* only rates beyond the limit satisfy its messages */
	int parent_pair;         /* the pair that ties them */
};

/* Reference time of a local one, less `ref`: exact to fractions of a nanosecond. */
double fit_correct(const struct fit_clock *clock, nsec_t local_ns, nsec_t ref);

/* Return the reference time of a local one, rounded to the nanosecond. */
nsec_t fit_reference(const struct fit_clock *clock, nsec_t local_ns);

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

/* For those who implement a method. */

int fit_hull(struct fit_island *island, struct error *error);
int fit_joint(struct fit_island *island, struct error *error);
int fit_regression(struct fit_island *island, struct error *error);

/* The largest |rate| between the clocks of a pair: each may have the limit's. */
double fit_pair_limit(const struct fit_island *island, const struct pair *pair);

/* Compose lines of the tree's pairs, each from its a to its b, along the tree. 0. */
typedef struct line pair_line_fn(struct fit_island *island, uint32_t pair);
int fit_along_tree(struct fit_island *island, pair_line_fn *pair_line);

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

/*
 * The traces as nodes, the pairs as edges, but for contradictory ones. An edge's length
 * is how far the pair leaves the relation of its two clocks open, so the shortest way is
 * the most certain one.
 */
struct island {
	uint32_t reference;
	uint32_t *member; /* traces, the reference first, then by distance from it */
	size_t members;
	uint32_t *inside; /* pairs between members, by index */
	size_t insides;
};

struct graph_node {
	uint32_t island;
	int parent;      /* towards the island's reference, -1 at it */
	int parent_pair; /* the pair on that way */
	double distance; /* from the reference */
};

struct graph {
	struct graph_node *node; /* by trace */
	size_t nodes;
	struct island *island; /* the largest first, or the one with the reference */
	size_t islands;
	double *length; /* by pair */
};

/*
 * Find islands, references and trees. `reference` is the trace that must be
 * its island's reference, or -1. A trace in `is_set_back` (by trace, or NULL) shall be
 * none unless all are. Pairs have been settled and fitted.
 */
void graph_make(struct graph *graph, size_t nodes, const struct pair_table *pairs,
		const bool *is_set_back, int reference);

/* How far a pair leaves its clocks open, in nanoseconds. */
double graph_edge_length(const struct pair *pair);

/*
 * What of that is not known, as two messages and one back may agree to the nanosecond, by
 * luck. With n of them, the fastest is as much slower than the least delay as one of n
 * is, so some times the margin over n stands for it.
 */
double pair_luck(const struct pair *pair);

void graph_clear(struct graph *graph);

#endif
