/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/line.h"

#include <math.h>

/* The line with the largest slack to both hulls (Huygens, Geng et al. 2018, finds it by a
 * support vector machine). For a given rate the best offset is in the middle between the
 * innermost corners of both sides. The slack there is a concave function of the rate, and
 * its slope shows on which side the maximum is. */
enum { HALVINGS = 64 }; /* as many bits as a double has, and more */

/* Put a line of given rate in the middle between the hulls. Return its slack. */
static double put_in_middle(const struct hulls *hulls, struct line *line)
{
	struct hull_inner above = hull_innermost(&hulls->lower, line);
	struct hull_inner below = hull_innermost(&hulls->upper, line);

	line->offset += (above.distance + below.distance) / 2;
	return (above.distance - below.distance) / 2;
}

static void fit_two_sides(const struct hulls *hulls, double limit, struct pair_line *fit)
{
	struct line *line = &fit->line;
	double low = -limit, high = limit;

	for (int i = 0; i < HALVINGS && low < high; i++) {
		struct hull_inner above, below;

		line->rate = low + (high - low) / 2;
		above = hull_innermost(&hulls->lower, line);
		below = hull_innermost(&hulls->upper, line);
		if (below.x - above.x > 0)
			low = line->rate;
		else if (below.x - above.x < 0)
			high = line->rate;
		else
			break;
	}
	fit->margin_ns = put_in_middle(hulls, line);
}

/* With one direction only, use the edge of the hull at the middle of the time, since the
 * delay is small somewhere on both sides of it. */
static void fit_one_side(const struct hulls *hulls, double limit, struct line *line)
{
	const struct hull *hull = hulls->lower.count ? &hulls->lower : &hulls->upper;
	const struct hull_point *first = &hull->point[0];
	const struct hull_point *last = &hull->point[hull->count - 1];
	nsec_t middle = first->x + (last->x - first->x) / 2;
	size_t k = 0;

	while (k + 2 < hull->count && hull->point[k + 1].x < middle)
		k++;
	line->rate = 0;
	if (hull->count > 1)
		line->rate = fmax(-limit, fmin(limit, hull_edge_rate(hull, k + 1)));
	line->offset = hull_innermost(hull, line).distance;
}

struct pair_line pair_line_fit(const struct hulls *hulls, double limit)
{
	struct pair_line fit = {.line = {.x0 = hulls->origin.x, .y0 = hulls->origin.y}};

	if (hulls->lower.count && hulls->upper.count)
		fit_two_sides(hulls, limit, &fit);
	else
		fit_one_side(hulls, limit, &fit.line);
	return fit;
}

struct pair_line pair_line_or_too_fast(const struct hulls *hulls, double limit)
{
	struct pair_line fit = pair_line_fit(hulls, limit), fast;

	if (fit.margin_ns >= 0 || limit >= PAIR_RATE_MOST)
		return fit;
	fast = pair_line_fit(hulls, PAIR_RATE_MOST);
	fast.too_fast = fast.margin_ns >= 0;
	return fast.too_fast ? fast : fit;
}

/* The bisector of the two extreme tangents (Duda et al. 1987; Ashton 1995; Poirier et al.
 * 2010). Both slopes are within 0.1 % of 1, so the angle's bisector and the mean of
 * slopes and intercepts agree to less than 10^-15; this is the mean. A tangent beyond the
 * drift limit is replaced by the line at the limit, in the middle between the hulls. */

/* ns; two corrected timestamps are rounded */
#define LEAST_SLACK_NS 2.0

/*
 * Slack is concave in the rate, so between that of the pair's own line and the limit it
 * ends once.
 */
struct line pair_line_extreme(const struct hulls *hulls, const struct pair_line *fit,
			      double limit)
{
	struct line line = {.x0 = hulls->origin.x, .y0 = hulls->origin.y, .rate = limit};
	double good = fit->line.rate, bad = limit;
	bool is_beyond = limit > 0 ? good >= limit : good <= limit;

	if (put_in_middle(hulls, &line) >= 0 || is_beyond)
		return line;
	for (int i = 0; i < HALVINGS; i++) {
		line.rate = good + (bad - good) / 2;
		line.offset = 0;
		*(put_in_middle(hulls, &line) >= 0 ? &good : &bad) = line.rate;
	}
	return line;
}

double pair_line_bisector(const struct hulls *hulls, const struct pair_line *fit,
			  double limit, nsec_t x, struct line *line)
{
	double dx = (double)(x - hulls->origin.x);
	double most = fit->too_fast ? PAIR_RATE_MOST : limit;
	struct line steep, flat;

	*line = fit->line;
	if (fit->margin_ns < 0 || !hulls->lower.count || !hulls->upper.count)
		return INFINITY;
	steep = pair_line_extreme(hulls, fit, most);
	flat = pair_line_extreme(hulls, fit, -most);
	line->rate = (steep.rate + flat.rate) / 2;
	line->offset = (steep.offset + flat.offset) / 2;
	/* If both tangents touch one corner, so does the bisector: rounding must not
	 * break it. */
	if (fmin(hull_slack(&hulls->lower, line), hull_slack(&hulls->upper, line)) <
	    LEAST_SLACK_NS)
		put_in_middle(hulls, line);
	return fabs(steep.offset - flat.offset + (steep.rate - flat.rate) * dx) / 2;
}
