/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/statistics.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_version.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static bool all_finite(const double *value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(value[i]))
			return false;
	return true;
}

bool statistics_robust(const double *x, const double *y, size_t n, size_t parameters,
		       double *c)
{
	gsl_error_handler_t *before = gsl_set_error_handler_off();
	gsl_multifit_robust_workspace *work =
	    gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, n, parameters);
	gsl_matrix *covariance = gsl_matrix_alloc(parameters, parameters);
	gsl_matrix_const_view rows = gsl_matrix_const_view_array(x, n, parameters);
	gsl_vector_const_view values = gsl_vector_const_view_array(y, n);
	gsl_vector_view result = gsl_vector_view_array(c, parameters);
	int status = gsl_multifit_robust(&rows.matrix, &values.vector, &result.vector,
					 covariance, work);

	gsl_matrix_free(covariance);
	gsl_multifit_robust_free(work);
	gsl_set_error_handler(before);
	/* Not having converged in GSL's 100 rounds still leaves a usable line. */
	return (status == GSL_SUCCESS || status == GSL_EMAXITER) &&
	       all_finite(c, parameters);
}

struct least_squares {
	gsl_matrix *normal;
	gsl_vector *right;
};

struct least_squares *least_squares_new(size_t unknowns)
{
	struct least_squares *squares = mem_zalloc(sizeof(*squares));

	squares->normal = gsl_matrix_calloc(unknowns, unknowns);
	squares->right = gsl_vector_calloc(unknowns);
	return squares;
}

void least_squares_add(struct least_squares *squares, const size_t *index,
		       const double *factor, size_t terms, double value, double weight)
{
	double square = weight * weight;

	for (size_t i = 0; i < terms; i++) {
		for (size_t k = 0; k < terms; k++)
			*gsl_matrix_ptr(squares->normal, index[i], index[k]) +=
			    square * factor[i] * factor[k];
		*gsl_vector_ptr(squares->right, index[i]) += square * factor[i] * value;
	}
}

bool least_squares_solve(struct least_squares *squares, double *unknown)
{
	gsl_error_handler_t *before = gsl_set_error_handler_off();
	size_t n = squares->right->size;
	gsl_vector_view result = gsl_vector_view_array(unknown, n);
	int status = gsl_linalg_cholesky_decomp1(squares->normal);

	if (!status)
		status = gsl_linalg_cholesky_solve(squares->normal, squares->right,
						   &result.vector);
	gsl_set_error_handler(before);
	return !status && all_finite(unknown, n);
}

void least_squares_free(struct least_squares *squares)
{
	gsl_matrix_free(squares->normal);
	gsl_vector_free(squares->right);
	free(squares);
}

const char *statistics_library_version(void)
{
	return gsl_version;
}
