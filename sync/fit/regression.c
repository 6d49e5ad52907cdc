/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/private.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/fit/statistics.h"

/*
 * Robust regression, for comparison: the delays of both directions are one
 * line plus or minus half a mean round trip,
 *
 *	y - x = offset + rate * x + delay * (+1 or -1) + error.
 *
 * It is no bound, and the line may contradict messages.
 */
enum { PARAMETERS = 3 };

struct observations {
	double *x, *y;
	size_t count;
	double span; /* what time is measured in, ns */
};

static void add_side(struct observations *to, const struct pair *pair,
		     const struct sample_side *side, double direction)
{
	for (size_t i = 0; i < side->count; i++) {
		nsec_t dx = side->point[i].x - pair->origin.x;
		nsec_t dy = side->point[i].y - pair->origin.y;
		double *row = &to->x[PARAMETERS * to->count];

		row[0] = 1;
		row[1] = (double)dx / to->span;
		row[2] = direction;
		to->y[to->count++] = (double)(dy - dx);
	}
}

static double widest(const struct pair *pair, const struct sample_side *side)
{
	double most = 1;

	for (size_t i = 0; i < side->count; i++)
		most = fmax(most, fabs((double)(side->point[i].x - pair->origin.x)));
	return most;
}

static bool regress(const struct pair *pair, const struct pair_sample *sample,
		    struct line *line)
{
	size_t n = sample->ab.count + sample->ba.count;
	struct observations all = {
	    .x = mem_realloc(NULL, n * PARAMETERS, sizeof(double)),
	    .y = mem_realloc(NULL, n, sizeof(double)),
	    .span = fmax(widest(pair, &sample->ab), widest(pair, &sample->ba)),
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
	    regress(pair, sample, &fitted) && fabs(fitted.rate) <= 2 * island->limit)
		*line = fitted;
	return 0;
}

static int fit(struct fit_island *island, struct error *error)
{
	return fit_along_tree(island, pair_line, error);
}

const struct fit_method fit_regression = {
    .name = "regression",
    .help = "robust regression of the delays, along the tree; for comparison",
    .wants_sample = true,
    .fit = fit,
};
