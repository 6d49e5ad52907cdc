/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_LP_H
#define CT_SYNC_FIT_LP_H

#include <stddef.h>

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

enum lp_status { LP_OPTIMAL, LP_INFEASIBLE, LP_UNBOUNDED, LP_FAILED };

/* Maximize the objective; starts from the solution before, if there is one. */
enum lp_status lp_maximize(struct lp *lp);

/* A column's value, and the objective's, in the solution. */
double lp_value(const struct lp *lp, size_t column);
double lp_maximum(const struct lp *lp);

void lp_free(struct lp *lp);

/* "GLPK 5.0"; the caller frees it. */
char *lp_library_version(void);

#endif
