/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/piecewise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "sync/fit/fit.h"

enum { BAND_SEGMENTS_MOST = 4096 };

/* The feasible band between two steps. */
struct band {
	const struct piecewise_bound *bound;
	size_t n;
	double limit;
	struct line base; /* values are differences from it */
	double unit_ns, length_ns;
	struct pair cell; /* the hulls of one segment */
};

/* Connected segments: differences from the base at the breakpoints, both in ns. */
struct shape {
	size_t segments;
	double breakpoint[BAND_SEGMENTS_MOST + 1], value[BAND_SEGMENTS_MOST + 1];
};

/* What a unit of change of the rate costs, in shares of a segment's slack. */
#define RATE_CHANGE_COST 1e-2

#define STRAIGHT 0.005 /* so near to a line, in shares of its slack, is one */

static void band_hulls(struct pair *pair, const struct piecewise_bound *bound, size_t n)
{
	hull_reset(&pair->lower);
	hull_reset(&pair->upper);
	for (size_t i = 0; i < n; i++)
		hull_add(bound[i].above ? &pair->lower : &pair->upper, bound[i].x,
			 bound[i].y);
	hull_settle(&pair->lower);
	hull_settle(&pair->upper);
	if (n)
		pair->origin = (struct hull_point){bound[0].x, bound[0].y};
}

/* Segments of one length. */
static void shape_init(struct shape *shape, size_t segments, double length_ns)
{
	shape->segments = segments;
	for (size_t k = 0; k <= segments; k++)
		shape->breakpoint[k] = length_ns * (double)k / (double)segments;
}

/* When a bound is, since the band began. */
static double band_time(const struct band *band, size_t bound)
{
	return (double)(band->bound[bound].x - band->bound[0].x);
}

/* The first bound that is not of a segment of the shape, nor of one before. */
static size_t band_end(const struct band *band, const struct shape *shape, size_t segment)
{
	if (segment + 1 == shape->segments)
		return band->n;
	return FIRST_NOT(band->n, i, band_time(band, i) < shape->breakpoint[segment + 1]);
}

/* Columns: the values at the breakpoints, the slack of each segment, the rate change at
 * each. */
static void add_corner(const struct band *band, const struct shape *shape, struct lp *lp,
		       size_t segment, const struct hull_point *corner, bool above)
{
	double at = (double)(corner->x - band->bound[0].x);
	double begin = shape->breakpoint[segment], end = shape->breakpoint[segment + 1];
	double share = (at - begin) / (end - begin), sign = above ? -1 : 1;
	double have = line_distance(&band->base, corner->x, corner->y);
	struct lp_term term[3] = {
	    {segment, sign * (1 - share)},
	    {segment + 1, sign * share},
	    {shape->segments + 1 + segment, -1},
	};

	lp_row(lp, term, 3, sign * have / band->unit_ns);
}

/* |rate| <= limit within a segment. */
static void add_rate(const struct band *band, const struct shape *shape, struct lp *lp,
		     size_t segment)
{
	double length = shape->breakpoint[segment + 1] - shape->breakpoint[segment];
	double scale = length / band->unit_ns;

	for (int sign = -1; sign <= 1; sign += 2) {
		struct lp_term term[2] = {{segment, sign}, {segment + 1, -sign}};

		lp_row(lp, term, 2, (sign * band->base.rate - band->limit) * scale);
	}
}

/*
 * The slack that the bounds in band->cell could leave a line of their own, in
 * units. Negative where they contradict every line, 0 without bounds on both
 * sides.
 */
static double band_best_slack(struct band *band)
{
	struct pair *cell = &band->cell;

	if (!cell->lower.count || !cell->upper.count)
		return 0;
	fit_pair_margin(cell, band->limit);
	return cell->margin_ns / band->unit_ns;
}

static void add_segment(struct band *band, const struct shape *shape, struct lp *lp,
			size_t segment, size_t range[2])
{
	struct pair *cell = &band->cell;
	size_t slack = shape->segments + 1 + segment;
	double best;

	band_hulls(cell, band->bound + range[0], range[1] - range[0]);
	for (size_t i = 0; i < cell->lower.count; i++)
		add_corner(band, shape, lp, segment, &cell->lower.point[i], true);
	for (size_t i = 0; i < cell->upper.count; i++)
		add_corner(band, shape, lp, segment, &cell->upper.point[i], false);
	best = fmax(0, band_best_slack(band));
	lp_bound(lp, slack, 0, best);
	if (best > 0)
		lp_objective(lp, slack, 1 / fmax(best, 1e-3));
}

/*
 * By how much the rate changes at a breakpoint, over the shorter segment next to it. It
 * costs little, but where messages leave a clock free it keeps to a line.
 */
static void add_breakpoint_row(const struct shape *shape, struct lp *lp,
			       size_t breakpoint)
{
	double before = shape->breakpoint[breakpoint] - shape->breakpoint[breakpoint - 1];
	double after = shape->breakpoint[breakpoint + 1] - shape->breakpoint[breakpoint];
	double length = fmin(before, after);
	size_t change = 2 * shape->segments + breakpoint;

	for (int sign = -1; sign <= 1; sign += 2) {
		struct lp_term term[4] = {
		    {breakpoint - 1, sign * length / before},
		    {breakpoint, -sign * (length / before + length / after)},
		    {breakpoint + 1, sign * length / after},
		    {change, 1},
		};

		lp_row(lp, term, 4, 0);
	}
	lp_objective(lp, change, -RATE_CHANGE_COST);
}

/* The values at the breakpoints of a shape that leave the most slack; false: none do. */
static bool band_solve(struct band *band, struct shape *shape)
{
	struct lp *lp = lp_new(3 * shape->segments);
	size_t range[2] = {0, 0};
	bool found;

	for (size_t k = 0; k < shape->segments; k++) {
		range[1] = band_end(band, shape, k);
		add_segment(band, shape, lp, k, range);
		add_rate(band, shape, lp, k);
		range[0] = range[1];
		if (k)
			add_breakpoint_row(shape, lp, k);
	}
	found = lp_maximize(lp);
	for (size_t k = 0; found && k <= shape->segments; k++)
		shape->value[k] = lp_value(lp, k) * band->unit_ns;
	lp_free(lp);
	return found;
}

static void append(const struct band *band, const struct shape *shape,
		   struct piecewise_fit *fit)
{
	size_t total = fit->segments + shape->segments;

	fit->segment = mem_realloc(fit->segment, total, sizeof(*fit->segment));
	for (size_t k = 0; k < shape->segments; k++) {
		struct clock_segment *segment = &fit->segment[fit->segments++];
		double begin = shape->breakpoint[k], end = shape->breakpoint[k + 1];
		double here = shape->value[k], there = shape->value[k + 1];
		nsec_t local = band->bound[0].x + nsec_round(begin);

		segment->local_ns = local;
		segment->rate_ppb =
		    (band->base.rate + (there - here) / (end - begin)) * 1e9;
		segment->ref_ns =
		    band->base.y0 + (local - band->base.x0) +
		    nsec_round(here + band->base.offset +
			       band->base.rate * (double)(local - band->base.x0));
	}
}

enum {
	LEAST_BOUNDS = 8,     /* of a piece that is looked at */
	BOUNDS_TO_HALVE = 32, /* of a segment, on average */
	SURELY_CURVED = 8,    /* segments; chance alone makes less */
};

/*
 * Whether the rate changes in some span of time: no line satisfies its bounds, or the
 * slacks of its pieces prove it.
 */
static bool is_curved(struct band *band, const double time[2], const size_t range[2])
{
	struct piece piece[PIECES_MOST];
	size_t pieces = PIECES_MOST, n = range[1] - range[0];
	double slack;

	band_hulls(&band->cell, band->bound + range[0], n);
	slack = band_best_slack(band) * band->unit_ns;
	while (pieces >= PIECES_LEAST && n < pieces * LEAST_BOUNDS)
		pieces /= 2;
	if (slack < 0 || pieces < PIECES_LEAST)
		return slack < 0;
	pieces_init(piece, pieces);
	for (size_t i = range[0]; i < range[1]; i++) {
		const struct piecewise_bound *bound = &band->bound[i];

		piece_note(
		    piece, pieces, (band_time(band, i) - time[0]) / (time[1] - time[0]),
		    bound->above, line_distance(&band->cell.line, bound->x, bound->y));
	}
	return curvature_is_proved(piece, pieces, slack);
}

/*
 * Halve a segment wherever the rate changes so much that lines show it. Adds the
 * breakpoints within it to the shape, as ends of segments.
 */
static void split_curved(struct band *band, const double time[2], const size_t range[2],
			 struct shape *shape)
{
	double middle = (time[0] + time[1]) / 2;
	size_t half;

	if (range[1] - range[0] < 4 * LEAST_BOUNDS || !is_curved(band, time, range))
		return;
	half = range[0] +
	       FIRST_NOT(range[1] - range[0], i, band_time(band, range[0] + i) < middle);
	split_curved(band, (double[2]){time[0], middle}, (size_t[2]){range[0], half},
		     shape);
	if (shape->segments < BAND_SEGMENTS_MOST / 2)
		shape->breakpoint[++shape->segments] = middle;
	split_curved(band, (double[2]){middle, time[1]}, (size_t[2]){half, range[1]},
		     shape);
}

/* Whether all breakpoints lie on a line, about: by chance, parts of one may look curved.
 */
static bool is_straight(const struct shape *shape, double tolerance)
{
	size_t last = shape->segments;
	double rate = (shape->value[last] - shape->value[0]) / shape->breakpoint[last];

	for (size_t k = 1; k < last; k++)
		if (fabs(shape->value[k] - shape->value[0] -
			 rate * shape->breakpoint[k]) > tolerance)
			return false;
	return true;
}

/* Each segment in two; the values are still to be found. */
static void shape_halve(struct shape *shape)
{
	for (size_t k = shape->segments; k > 0; k--) {
		shape->breakpoint[2 * k] = shape->breakpoint[k];
		shape->breakpoint[2 * k - 1] =
		    (shape->breakpoint[k - 1] + shape->breakpoint[k]) / 2;
	}
	shape->segments *= 2;
}

/*
 * A shape with segments so short that no change of the rate within them can be told from
 * chance, and of half that length, where there are enough bounds for that; solved. False
 * where no segments satisfy the bounds.
 */
static bool band_find_breakpoints(struct band *band, struct shape *shape,
				  double tolerance)
{
	struct shape halves;
	bool solved;

	shape->segments = 0;
	split_curved(band, (double[2]){0, band->length_ns}, (size_t[2]){0, band->n},
		     shape);
	shape->breakpoint[0] = 0;
	shape->breakpoint[++shape->segments] = band->length_ns;
	solved = band_solve(band, shape);
	while (!solved && 2 * shape->segments <= BAND_SEGMENTS_MOST &&
	       shape->segments <= band->n) {
		shape_halve(shape);
		solved = band_solve(band, shape);
	}
	if (solved && is_straight(shape, tolerance)) {
		shape_init(shape, 1, band->length_ns);
		shape->value[0] = shape->value[1] = 0;
	} else if (solved && shape->segments >= SURELY_CURVED &&
		   2 * shape->segments <= BAND_SEGMENTS_MOST &&
		   shape->segments * BOUNDS_TO_HALVE <= band->n) {
		halves = *shape;
		shape_halve(&halves);
		if (band_solve(band, &halves))
			*shape = halves;
	}
	return solved;
}

static int band_fit(const struct piecewise_bound *bound, size_t n, double limit,
		    struct piecewise_options options, struct piecewise_fit *fit,
		    struct error *error)
{
	struct shape shape;
	struct band band = {
	    .bound = bound,
	    .n = n,
	    .limit = limit,
	    .length_ns = fmax(1, (double)(bound[n - 1].x - bound[0].x)),
	    .cell = {.upper = {.upper = true}},
	};
	size_t segments = options.segments;
	double slack_ns;
	bool found;

	band_hulls(&band.cell, bound, n);
	if (band.cell.lower.count || band.cell.upper.count)
		fit_pair_margin(&band.cell, limit);
	slack_ns = band.cell.margin_ns;
	band.base = band.cell.line;
	band.unit_ns = fmax(1000, fabs(slack_ns));
	if (options.length_ns)
		segments = (size_t)fmax(
		    1, fmin(BAND_SEGMENTS_MOST,
			    round(band.length_ns / (double)options.length_ns)));
	if (segments) {
		shape_init(&shape, segments, band.length_ns);
		found = band_solve(&band, &shape);
	} else {
		found = band_find_breakpoints(&band, &shape, STRAIGHT * slack_ns);
	}
	if (found)
		append(&band, &shape, fit);
	else
		error_set(error, "no %zu segments satisfy its messages", shape.segments);
	hull_clear(&band.cell.lower);
	hull_clear(&band.cell.upper);
	return found ? 0 : -1;
}

enum {
	NEAR_STEP = 32,         /* places that a step is looked for at */
	REACH_AFTER_STEP = 128, /* how many bounds after one are looked at */
};

static int by_x(const void *a, const void *b)
{
	const struct piecewise_bound *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	if (p->y != q->y)
		return p->y < q->y ? -1 : 1;
	return p->above - q->above;
}

size_t piecewise_reach(const struct piecewise_bound *bound, size_t n, double limit)
{
	double high = INFINITY, low = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		double passed = (double)(bound[i].x - bound[i ? i - 1 : 0].x);
		double value =
		    (double)((bound[i].y - bound->y) - (bound[i].x - bound->x));

		high += limit * passed;
		low -= limit * passed;
		if (bound[i].above ? value < low : value > high)
			return i;
		if (bound[i].above)
			high = fmin(high, value);
		else
			low = fmax(low, value);
	}
	return n;
}

/*
 * The bound that the clock was stepped before, near the one that contradicts those from
 * the first on: the place from which one clock gets furthest.
 */
static size_t find_step(const struct piecewise_bound *bound, size_t n, size_t end,
			double limit)
{
	size_t from = end > NEAR_STEP ? end - NEAR_STEP : 1;
	size_t to = n - end > REACH_AFTER_STEP ? end + REACH_AFTER_STEP : n;
	size_t best = end, furthest = 0;

	for (size_t i = from; i <= end; i++) {
		size_t reached = i + piecewise_reach(bound + i, to - i, limit);

		if (reached > furthest) {
			furthest = reached;
			best = i;
		}
	}
	return best;
}

/* Add a step before the segment that comes next. */
static void add_step(struct piecewise_fit *fit, nsec_t from_ns, nsec_t to_ns)
{
	*MEM_NEXT(fit->step, fit->steps, fit->step_capacity) =
	    (struct piecewise_step){fit->segments, from_ns, to_ns};
}

void piecewise_fit_clear(struct piecewise_fit *fit)
{
	free(fit->segment);
	free(fit->step);
	memset(fit, 0, sizeof(*fit));
}

int piecewise_find(struct piecewise_bound *bound, size_t n, double limit,
		   struct piecewise_options options, struct piecewise_fit *fit,
		   struct error *error)
{
	size_t step = 0;
	int status = 0;

	memset(fit, 0, sizeof(*fit));
	if (!n)
		return error_set(error, "no message bounds it");
	qsort(bound, n, sizeof(*bound), by_x);
	for (size_t begin = 0; !status && begin < n; begin = step) {
		size_t end = begin + piecewise_reach(bound + begin, n - begin, limit);

		step = end;
		if (end < n)
			step = begin +
			       find_step(bound + begin, n - begin, end - begin, limit);
		status =
		    band_fit(bound + begin, step - begin, limit, options, fit, error);
		if (end < n)
			add_step(fit, bound[step - 1].x, bound[end].x);
	}
	if (status)
		piecewise_fit_clear(fit);
	return status;
}
