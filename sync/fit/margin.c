/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/private.h"

#include <math.h>

/*
 * The line with the largest slack to both half hulls (Huygens, Geng et al.
 * 2018, finds it by a support vector machine). For a given rate the best
 * offset is in the middle between the innermost corners of both sides; the
 * slack there is a concave function of the rate, and its slope says on which
 * side the maximum lies.
 */
enum { HALVINGS = 200 };

struct innermost {
	double distance; /* from the line of that rate through the origin */
	double x;        /* of the corner, since the origin */
};

static struct innermost innermost(const struct hull *hull, const struct line *line)
{
	struct innermost best = {hull->upper ? -INFINITY : INFINITY, 0};

	for (size_t i = 0; i < hull->count; i++) {
		double distance = line_distance(line, hull->point[i].x, hull->point[i].y);

		if (hull->upper ? distance > best.distance : distance < best.distance) {
			best.distance = distance;
			best.x = (double)(hull->point[i].x - line->x0);
		}
	}
	return best;
}

double fit_middle(const struct pair *pair, struct line *line)
{
	struct innermost above = innermost(&pair->lower, line);
	struct innermost below = innermost(&pair->upper, line);

	line->offset += (above.distance + below.distance) / 2;
	return (above.distance - below.distance) / 2;
}

static void fit_two_sides(struct pair *pair, double limit)
{
	struct line *line = &pair->line;
	double low = -limit, high = limit;

	for (int i = 0; i < HALVINGS && low < high; i++) {
		struct innermost above, below;

		line->rate = low + (high - low) / 2;
		above = innermost(&pair->lower, line);
		below = innermost(&pair->upper, line);
		if (below.x - above.x > 0)
			low = line->rate;
		else if (below.x - above.x < 0)
			high = line->rate;
		else
			break;
	}
	pair->margin_ns = fit_middle(pair, line);
}

/*
 * One direction only: the edge of the hull that lies under (over) the middle
 * of the time, as the delay is small somewhere on both of its ends.
 */
static void fit_one_side(struct pair *pair, double limit)
{
	const struct hull *hull = pair->lower.count ? &pair->lower : &pair->upper;
	const struct hull_point *first = &hull->point[0];
	const struct hull_point *last = &hull->point[hull->count - 1];
	nsec_t middle = first->x + (last->x - first->x) / 2;
	struct line *line = &pair->line;
	size_t k = 0;

	while (k + 2 < hull->count && hull->point[k + 1].x < middle)
		k++;
	line->rate = 0;
	if (hull->count > 1) {
		const struct hull_point *p = &hull->point[k], *q = &hull->point[k + 1];

		line->rate =
		    (double)((q->y - p->y) - (q->x - p->x)) / (double)(q->x - p->x);
		line->rate = fmax(-limit, fmin(limit, line->rate));
	}
	line->offset = innermost(hull, line).distance;
	pair->margin_ns = 0;
}

void fit_pair_margin(struct pair *pair, double limit)
{
	pair->line = (struct line){.x0 = pair->origin.x, .y0 = pair->origin.y};
	if (pair->lower.count && pair->upper.count)
		fit_two_sides(pair, limit);
	else
		fit_one_side(pair, limit);
}

/* Far beyond any clock, so that one too fast for the limit is told from chaos. */
#define ANY_RATE 0.1

void fit_pair_or_too_fast(struct pair *pair, double limit)
{
	fit_pair_margin(pair, limit);
	pair->too_fast = false;
	if (pair->margin_ns >= 0 || limit >= ANY_RATE)
		return;
	fit_pair_margin(pair, ANY_RATE);
	pair->too_fast = pair->margin_ns >= 0;
	if (!pair->too_fast)
		fit_pair_margin(pair, limit);
}

static int pair_line(struct fit_island *island, uint32_t pair, struct line *line,
		     struct error *error)
{
	(void)error;
	*line = island->pairs->pair[pair].line;
	return 0;
}

static int fit(struct fit_island *island, struct error *error)
{
	return fit_along_tree(island, pair_line, error);
}

const struct fit_method fit_margin = {
    .name = "margin",
    .help = "the line with the largest slack to both hulls of a pair, along the tree",
    .fit = fit,
};
