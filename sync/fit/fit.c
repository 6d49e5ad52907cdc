/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/fit.h"

#include <math.h>
#include <string.h>

double fit_correct(const struct fit_clock *clock, nsec_t local_ns, nsec_t ref)
{
	nsec_t elapsed = local_ns - clock->origin_ns;

	return (double)(clock->ref_ns - ref + elapsed) + clock->offset_ns +
	       clock->rate * (double)elapsed;
}

/* Whole nanoseconds stay integers, because a double would round times of years. */
nsec_t fit_reference(const struct fit_clock *clock, nsec_t local_ns)
{
	nsec_t elapsed = local_ns - clock->origin_ns;

	return clock->ref_ns + elapsed +
	       nsec_round(clock->offset_ns + clock->rate * (double)elapsed);
}

/*
 * Tie a clock to its parent by the line between them: the child's origin is
 * put on the line, and its rate follows from the parent's and the line's.
 */
static void tie(struct fit_island *island, uint32_t child, const struct line *line)
{
	struct fit_clock *clock = &island->clock[child];
	const struct fit_clock *parent = &island->clock[clock->parent];
	nsec_t x, whole;
	double relative, fraction;

	if (island->pairs->pair[clock->parent_pair].a == (uint32_t)clock->parent) {
		/* y is the child: x = x0 + (y - y0 - offset) / (1 + rate). */
		double dy = (double)(clock->origin_ns - line->y0);

		relative = -line->rate / (1 + line->rate);
		x = line->x0 + (clock->origin_ns - line->y0);
		fraction = dy * relative - line->offset * (1 + relative);
	} else {
		double dx = (double)(clock->origin_ns - line->x0);

		relative = line->rate;
		x = line->y0 + (clock->origin_ns - line->x0);
		fraction = line->offset + dx * relative;
	}
	whole = nsec_round(fraction);
	clock->rate = parent->rate + relative + parent->rate * relative;
	clock->ref_ns = parent->ref_ns + (x + whole - parent->origin_ns);
	clock->offset_ns = fit_correct(parent, x + whole, clock->ref_ns) +
			   (1 + parent->rate) * (fraction - (double)whole);
}

int fit_along_tree(struct fit_island *island, pair_line_fn *pair_line)
{
	for (size_t i = 1; i < island->members; i++) {
		uint32_t child = island->member[i];
		const struct line line =
		    pair_line(island, (uint32_t)island->clock[child].parent_pair);

		tie(island, child, &line);
	}
	return 0;
}

/*
 * The line with the largest slack to both hulls (Huygens, Geng et al.
 * 2018, finds it by a support vector machine). For a given rate the best
 * offset is in the middle between the innermost corners of both sides; the
 * slack there is a concave function of the rate, and its slope says on which
 * side the maximum lies.
 */
enum { HALVINGS = 64 }; /* as many bits as a double has, and more */

/* Put a line of given rate in the middle between the hulls; its slack to them. */
static double fit_middle(const struct pair *pair, struct line *line)
{
	struct hull_inner above = hull_innermost(&pair->lower, line);
	struct hull_inner below = hull_innermost(&pair->upper, line);

	line->offset += (above.distance + below.distance) / 2;
	return (above.distance - below.distance) / 2;
}

static void fit_two_sides(struct pair *pair, double limit)
{
	struct line *line = &pair->line;
	double low = -limit, high = limit;

	for (int i = 0; i < HALVINGS && low < high; i++) {
		struct hull_inner above, below;

		line->rate = low + (high - low) / 2;
		above = hull_innermost(&pair->lower, line);
		below = hull_innermost(&pair->upper, line);
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
	if (hull->count > 1)
		line->rate = fmax(-limit, fmin(limit, hull_edge_rate(hull, k + 1)));
	line->offset = hull_innermost(hull, line).distance;
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

/*
 * The bisector of the two extreme tangents (Duda et al. 1987; Ashton 1995;
 * Poirier et al. 2010). As both slopes are within parts in a thousand of 1,
 * the bisector of the angle and the mean of slopes and intercepts agree to
 * less than a part in 10^15; the mean is taken. A tangent beyond the drift
 * limit gives way to the line at the limit, in the middle between the hulls.
 */

/* Some nanoseconds, as two corrected stamps are rounded each. */
#define LEAST_SLACK_NS 2.0

/*
 * Slack is concave in the rate, so between that of the pair's own line and the limit it
 * ends once.
 */
struct line fit_extreme(const struct pair *pair, double limit)
{
	struct line line = {.x0 = pair->origin.x, .y0 = pair->origin.y, .rate = limit};
	double good = pair->line.rate, bad = limit;
	bool is_beyond = limit > 0 ? good >= limit : good <= limit;

	if (fit_middle(pair, &line) >= 0 || is_beyond)
		return line;
	for (int i = 0; i < HALVINGS; i++) {
		line.rate = good + (bad - good) / 2;
		line.offset = 0;
		*(fit_middle(pair, &line) >= 0 ? &good : &bad) = line.rate;
	}
	return line;
}

double fit_bisector(const struct pair *pair, double limit, nsec_t x, struct line *line)
{
	double dx = (double)(x - pair->origin.x);
	double most = pair->too_fast ? ANY_RATE : limit;
	struct line steep, flat;

	*line = pair->line;
	if (pair->margin_ns < 0 || !pair->lower.count || !pair->upper.count)
		return INFINITY;
	steep = fit_extreme(pair, most);
	flat = fit_extreme(pair, -most);
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

static struct line margin_line(struct fit_island *island, uint32_t index)
{
	return island->pairs->pair[index].line;
}

static struct line bisector_line(struct fit_island *island, uint32_t index)
{
	const struct pair *pair = &island->pairs->pair[index];
	struct line line;

	fit_bisector(pair, fit_pair_limit(island, pair), 0, &line);
	return line;
}

static int fit_margin(struct fit_island *island, struct error *error)
{
	(void)error;
	return fit_along_tree(island, margin_line);
}

int fit_hull(struct fit_island *island, struct error *error)
{
	(void)error;
	return fit_along_tree(island, bisector_line);
}

static const struct fit_method methods[] = {
    {"hull", false, fit_hull},
    {"margin", false, fit_margin},
    {"joint", false, fit_joint},
    {"regression", true, fit_regression},
};

const struct fit_method *fit_method_find(const char *name)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}
