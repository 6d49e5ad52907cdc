/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit_private.h"

#include <math.h>

/*
 * The bisector of the two extreme tangents (Duda et al. 1987; Ashton 1995;
 * Poirier et al. 2010). As both slopes are within parts in a thousand of 1,
 * the bisector of the angle and the mean of slopes and intercepts agree to
 * less than a part in 10^15; the mean is taken.
 */
double fit_bisector(const struct pair *pair, nsec_t x, struct line *line)
{
	struct line steep, flat;
	double dx = (double)(x - pair->origin.x);

	*line = pair->line;
	if (hull_tangents(&pair->lower, &pair->upper, pair->origin, &steep, &flat) !=
	    TANGENTS_BOTH)
		return INFINITY;
	line->rate = (steep.rate + flat.rate) / 2;
	line->offset = (steep.offset + flat.offset) / 2;
	return fabs(steep.offset - flat.offset + (steep.rate - flat.rate) * dx) / 2;
}

static int pair_line(struct fit_island *island, uint32_t index, struct line *line,
		     struct error *error)
{
	(void)error;
	fit_bisector(&island->pairs->pair[index], 0, line);
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
