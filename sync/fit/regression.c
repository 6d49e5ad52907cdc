/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/regression.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/version.h"
#include "sync/fit/method_private.h"

#if CT_HAVE_GSL
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_version.h>

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

void least_squares_add(struct least_squares *squares, const struct lp_term *term,
		       size_t terms, double value, double weight)
{
	double square = weight * weight;

	for (size_t i = 0; i < terms; i++) {
		for (size_t k = 0; k < terms; k++)
			*gsl_matrix_ptr(squares->normal, term[i].column,
					term[k].column) +=
			    square * term[i].factor * term[k].factor;
		*gsl_vector_ptr(squares->right, term[i].column) +=
		    square * term[i].factor * value;
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

const char *statistics_missing(void)
{
	return NULL;
}

char *statistics_library_version(void)
{
	return mem_printf("GSL %s", gsl_version);
}
#else
bool statistics_robust(const double *x, const double *y, size_t n, size_t parameters,
		       double *c)
{
	(void)x;
	(void)y;
	(void)n;
	(void)parameters;
	(void)c;
	return false;
}

struct least_squares *least_squares_new(size_t unknowns)
{
	(void)unknowns;
	return NULL;
}

void least_squares_add(struct least_squares *squares, const struct lp_term *term,
		       size_t terms, double value, double weight)
{
	(void)squares;
	(void)term;
	(void)terms;
	(void)value;
	(void)weight;
}

bool least_squares_solve(struct least_squares *squares, double *unknown)
{
	(void)squares;
	(void)unknown;
	return false;
}

void least_squares_free(struct least_squares *squares)
{
	(void)squares;
}

const char *statistics_missing(void)
{
	return CT_WITHOUT("GSL", "libgsl-dev");
}

char *statistics_library_version(void)
{
	return mem_strdup("no GSL");
}
#endif

/*
 * Robust regression, for comparison: the delays of both directions are one
 * line plus or minus half a mean round trip,
 *
 *	y - x = offset + rate * x + delay * (+1 or -1) + error.
 *
 * The result is not a bound: the line may contradict messages.
 */
enum { PARAMETERS = 3 };

struct delays {
	double *x, *y;
	size_t count;
	double span; /* what time is measured in, ns */
};

static void add_side(struct delays *to, const struct pair *pair,
		     const struct sample_side *side, double direction)
{
	for (size_t i = 0; i < side->count; i++) {
		nsec_t dx = side->point[i].x - pair->hulls.origin.x;
		nsec_t dy = side->point[i].y - pair->hulls.origin.y;
		double *row = &to->x[PARAMETERS * to->count];

		row[0] = 1;
		row[1] = (double)dx / to->span;
		row[2] = direction;
		to->y[to->count++] = (double)(dy - dx);
	}
}

static double widest_interval(const struct pair *pair, const struct sample_side *side)
{
	double most = 1;

	for (size_t i = 0; i < side->count; i++)
		most =
		    fmax(most, fabs((double)(side->point[i].x - pair->hulls.origin.x)));
	return most;
}

static bool regress_line(const struct pair *pair, const struct pair_sample *sample,
			 struct line *line)
{
	size_t n = sample->ab.count + sample->ba.count;
	struct delays all = {
	    .x = mem_realloc(NULL, n * PARAMETERS, sizeof(double)),
	    .y = mem_realloc(NULL, n, sizeof(double)),
	    .span = fmax(widest_interval(pair, &sample->ab),
			 widest_interval(pair, &sample->ba)),
	};
	double c[PARAMETERS];
	bool found;

	add_side(&all, pair, &sample->ab, 1);
	add_side(&all, pair, &sample->ba, -1);
	found = statistics_robust(all.x, all.y, n, PARAMETERS, c);
	if (found) {
		line->offset = c[0];
		line->rate = c[1] / all.span;
	}
	free(all.x);
	free(all.y);
	return found;
}

static struct line pair_line(const struct fit_island *island, uint32_t index)
{
	const struct pair *pair = &island->net->pairs.pair[index];
	const struct pair_sample *sample = &island->sample[index];
	struct line fitted = pair->fit.line;

	/* Fewer messages than this leave the scatter unknown. */
	if (sample->ab.count > PARAMETERS && sample->ba.count > PARAMETERS &&
	    regress_line(pair, sample, &fitted) &&
	    fabs(fitted.rate) <= 2 * island->net->limit)
		return fitted;
	return pair->fit.line;
}

int fit_regression(const struct fit_island *island, struct error *error)
{
	(void)error;
	return fit_along_tree(island, pair_line);
}
