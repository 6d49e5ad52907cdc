/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_LP_H
#define CT_SYNC_FIT_LP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A sparse linear program, solved by the simplex method. The only user of GLPK. Callers
 * centre and scale columns, rows and objective to numbers near 1: GLPK's tolerances are
 * absolute, and on raw nanoseconds it returns wrong answers without a word.
 *
 * GLPK keeps its memory in a thread's own environment: build, solve and free a program in
 * one thread.
 */
struct lp;

#define LP_INFINITY 1e300 /* a bound that means unbounded */

struct lp_term {
	size_t column;
	double factor;
};

struct lp *lp_new(size_t columns);

/* Set low <= column <= high; a new program's columns are free. */
void lp_bound(struct lp *lp, size_t column, double low, double high);

/* Add the row: low <= sum of terms. */
void lp_row(struct lp *lp, const struct lp_term *term, size_t terms, double low);

/* Set the factor of a column in the objective; it is 0 in a new program. */
void lp_objective(struct lp *lp, size_t column, double factor);

/*
 * Maximize the objective. Call once, after everything else was added. Return false if the
 * rows contradict each other, nothing bounds the objective, or no solution was found.
 */
bool lp_maximize(struct lp *lp);

/* Return a column's value in the solution. */
double lp_value(const struct lp *lp, size_t column);

void lp_free(struct lp *lp);

/* Return NULL, or an error: this build has no GLPK, and lp_maximize() finds nothing. */
const char *lp_missing(void);

/* Return "GLPK 5.0"; the caller frees it. */
char *lp_library_version(void);

#endif
