/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit_private.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

/*
 * Robust regression, for comparison: the delays of both directions are one
 * line plus or minus half a mean round trip,
 *
 *	y - x = offset + rate * x + delay * (+1 or -1) + error,
 *
 * solved by iteratively reweighted least squares with Tukey's bisquare, as
 * delays have long tails. It is no bound, and the line may contradict
 * messages.
 */
enum { PARAMETERS = 3 };

struct observations {
	gsl_matrix *x;
	gsl_vector *y;
	size_t count;
	double span; /* what x is measured in */
};

static void fill_side(struct observations *to, const struct pair *pair,
		      const struct sample_side *side, double direction)
{
	for (size_t i = 0; i < side->count; i++) {
		nsec_t dx = side->point[i].x - pair->origin.x;
		nsec_t dy = side->point[i].y - pair->origin.y;

		gsl_matrix_set(to->x, to->count, 0, 1);
		gsl_matrix_set(to->x, to->count, 1, (double)dx / to->span);
		gsl_matrix_set(to->x, to->count, 2, direction);
		gsl_vector_set(to->y, to->count++, (double)(dy - dx));
	}
}

static double widest(const struct pair *pair, const struct sample_side *side)
{
	double most = 1;

	for (size_t i = 0; i < side->count; i++)
		most = fmax(most, fabs((double)(side->point[i].x - pair->origin.x)));
	return most;
}

static int regress(const struct pair *pair, const struct pair_sample *sample,
		   struct line *line)
{
	size_t n = sample->ab.count + sample->ba.count;
	struct observations all = {
	    .x = gsl_matrix_alloc(n, PARAMETERS),
	    .y = gsl_vector_alloc(n),
	    .span = fmax(widest(pair, &sample->ab), widest(pair, &sample->ba)),
	};
	gsl_multifit_robust_workspace *work =
	    gsl_multifit_robust_alloc(gsl_multifit_robust_bisquare, n, PARAMETERS);
	gsl_matrix *covariance = gsl_matrix_alloc(PARAMETERS, PARAMETERS);
	gsl_vector *c = gsl_vector_alloc(PARAMETERS);
	int status;

	fill_side(&all, pair, &sample->ab, 1);
	fill_side(&all, pair, &sample->ba, -1);
	status = gsl_multifit_robust(all.x, all.y, c, covariance, work);
	/* Not having converged in GSL's 100 rounds still leaves a usable line. */
	if (status == GSL_SUCCESS || status == GSL_EMAXITER) {
		line->offset = gsl_vector_get(c, 0);
		line->rate = gsl_vector_get(c, 1) / all.span;
		status = 0;
	}
	gsl_vector_free(c);
	gsl_vector_free(all.y);
	gsl_matrix_free(covariance);
	gsl_matrix_free(all.x);
	gsl_multifit_robust_free(work);
	return status;
}

static int pair_line(struct fit_island *island, uint32_t index, struct line *line,
		     struct error *error)
{
	const struct pair *pair = &island->pairs->pair[index];
	const struct pair_sample *sample = &island->sample[index];
	struct line fitted = pair->line;

	(void)error;
	*line = pair->line;
	/* Fewer messages than this leave the scatter unknown. */
	if (sample->ab.count > PARAMETERS && sample->ba.count > PARAMETERS &&
	    regress(pair, sample, &fitted) == 0 && isfinite(fitted.offset) &&
	    fabs(fitted.rate) <= 2 * island->limit)
		*line = fitted;
	return 0;
}

static int fit(struct fit_island *island, struct error *error)
{
	gsl_error_handler_t *before = gsl_set_error_handler_off();
	int status = fit_along_tree(island, pair_line, error);

	gsl_set_error_handler(before);
	return status;
}

const struct fit_method fit_regression = {
    .name = "regression",
    .help = "robust regression of the delays, along the tree; for comparison",
    .wants_sample = true,
    .fit = fit,
};
