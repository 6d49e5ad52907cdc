/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/private.h"

#include <math.h>

/*
 * The bisector of the two extreme tangents (Duda et al. 1987; Ashton 1995;
 * Poirier et al. 2010). As both slopes are within parts in a thousand of 1,
 * the bisector of the angle and the mean of slopes and intercepts agree to
 * less than a part in 10^15; the mean is taken. A tangent beyond the drift
 * limit gives way to the line at the limit, in the middle between the hulls.
 */

/* Some nanoseconds, as two corrected stamps are rounded each. */
#define LEAST_SLACK_NS 2.0

/* Cut an extreme tangent that is not there, or too steep, at the limit. */
static void cut(const struct pair *pair, bool has, double limit, struct line *line)
{
	if (has && (limit > 0 ? line->rate <= limit : line->rate >= limit))
		return;
	*line = (struct line){.x0 = pair->origin.x, .y0 = pair->origin.y, .rate = limit};
	fit_middle(pair, line);
}

double fit_bisector(const struct pair *pair, double limit, nsec_t x, struct line *line)
{
	struct line steep = {.rate = 0}, flat = {.rate = 0};
	double dx = (double)(x - pair->origin.x);
	enum tangents found =
	    hull_tangents(&pair->lower, &pair->upper, pair->origin, &steep, &flat);

	*line = pair->line;
	if (found == TANGENTS_CONTRADICTED || !pair->lower.count || !pair->upper.count)
		return INFINITY;
	if (!pair->too_fast) {
		cut(pair, found == TANGENTS_BOTH || found == TANGENTS_STEEP, limit,
		    &steep);
		cut(pair, found == TANGENTS_BOTH || found == TANGENTS_FLAT, -limit,
		    &flat);
	}
	line->rate = (steep.rate + flat.rate) / 2;
	line->offset = (steep.offset + flat.offset) / 2;
	/* Where both touch one corner, so does the bisector: no rounding may break it. */
	if (fmin(hull_slack(&pair->lower, line), hull_slack(&pair->upper, line)) <
	    LEAST_SLACK_NS)
		fit_middle(pair, line);
	return fabs(steep.offset - flat.offset + (steep.rate - flat.rate) * dx) / 2;
}

double fit_pair_limit(const struct fit_island *island, const struct pair *pair)
{
	bool has_reference = pair->a == island->member[0] || pair->b == island->member[0];

	return (has_reference ? 1 : 2) * island->limit;
}

static int pair_line(struct fit_island *island, uint32_t index, struct line *line,
		     struct error *error)
{
	const struct pair *pair = &island->pairs->pair[index];

	(void)error;
	fit_bisector(pair, fit_pair_limit(island, pair), 0, line);
	return 0;
}

static int fit(struct fit_island *island, struct error *error)
{
	return fit_along_tree(island, pair_line, error);
}

const struct fit_method fit_hull = {
    .name = "hull",
    .help = "the bisector of the hulls' two extreme tangents, along the tree",
    .fit = fit,
};
