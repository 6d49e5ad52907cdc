/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_REGRESSION_H
#define CT_SYNC_FIT_REGRESSION_H

#include "sync/fit/lp.h"

/* Linear models; the only user of GSL. */

/*
 * Robust regression, y ~ sum of c[k] * x[k]: iteratively reweighted least squares with
 * Tukey's bisquare. x holds `n` rows of `parameters` numbers near 1. Return false if no
 * solution was found.
 */
bool statistics_robust(const double *x, const double *y, size_t n, size_t parameters,
		       double *c);

/* Weighted least squares from single terms, for many unknowns and sparse rows. */
struct least_squares;

struct least_squares *least_squares_new(size_t unknowns);

/* Add weight^2 * (sum of terms of the unknowns, less value)^2 to the sum. */
void least_squares_add(struct least_squares *squares, const struct lp_term *term,
		       size_t terms, double value, double weight);

/* Solve by Cholesky's method. Return false if the rows do not determine the unknowns. */
bool least_squares_solve(struct least_squares *squares, double *unknown);

void least_squares_free(struct least_squares *squares);

/* Return NULL, or an error: this build has no GSL, and the functions find nothing. */
const char *statistics_missing(void);

/* Return "GSL 2.7.1"; the caller frees it. */
char *statistics_library_version(void);

#endif
