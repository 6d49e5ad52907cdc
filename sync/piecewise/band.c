/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/piecewise/band.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "sync/fit/lp.h"
#include "sync/piecewise/curvature.h"

enum { BAND_SEGMENTS_MOST = 4096 };

/*
 * Connected segments: breakpoints, ns since the band's start, and the differences from
 * the base there, ns.
 */
struct shape {
	size_t segments;
	double breakpoint[BAND_SEGMENTS_MOST + 1], value[BAND_SEGMENTS_MOST + 1];
};

/* Cost of one unit of rate change, in shares of a segment's slack. */
#define RATE_CHANGE_COST 1e-2

#define STRAIGHT 0.005 /* share of its slack within which a clock counts as a line */

static void band_hulls(struct hulls *hulls, const struct piecewise_bound *bound, size_t n)
{
	hull_reset(&hulls->lower);
	hull_reset(&hulls->upper);
	for (size_t i = 0; i < n; i++)
		hull_add(bound[i].above ? &hulls->lower : &hulls->upper, bound[i].x,
			 bound[i].y);
	hull_settle(&hulls->lower);
	hull_settle(&hulls->upper);
	if (n)
		hulls->origin = (struct hull_point){bound[0].x, bound[0].y};
}

/* Divide the shape into segments of equal length. */
static void shape_init(struct shape *shape, size_t segments, double length_ns)
{
	shape->segments = segments;
	for (size_t k = 0; k <= segments; k++)
		shape->breakpoint[k] = length_ns * (double)k / (double)segments;
}

/* Return the time of a bound since the first bound of the band, ns. */
static double band_time(const struct band *band, size_t bound)
{
	return (double)(band->bound[bound].x - band->bound[0].x);
}

/* Return the first bound after a segment of the shape. */
static size_t band_end(const struct band *band, const struct shape *shape, size_t segment)
{
	if (segment + 1 == shape->segments)
		return band->n;
	return PARTITION_POINT(band->n, i,
			       band_time(band, i) < shape->breakpoint[segment + 1]);
}

/*
 * Require a segment to pass a corner of a hull with its slack. The columns of `lp` are
 * the values at the breakpoints, the slack of each segment, and the rate change at each
 * breakpoint.
 */
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

/*
 * Find the least and the largest rate of a segment: the drift limit and, if the segment
 * may be part of a slew, also the rates of the slew.
 */
static void find_rates(const struct band *band, double begin, double end, double rate[2])
{
	const nsec_t zero = band->bound[0].x;

	rate[0] = -band->limit;
	rate[1] = band->limit;
	for (size_t k = 0; k < band->slews; k++) {
		const struct clock_event *slew = &band->slew[k];

		if (end <= (double)(slew->from_ns - zero) ||
		    begin >= (double)(slew->to_ns - zero))
			continue;
		rate[0] = fmin(rate[0], slew->rate[0]);
		rate[1] = fmax(rate[1], slew->rate[1]);
	}
}

static void add_rate(const struct band *band, const struct shape *shape, struct lp *lp,
		     size_t segment)
{
	double begin = shape->breakpoint[segment], end = shape->breakpoint[segment + 1];
	double scale = (end - begin) / band->unit_ns, rate[2];

	find_rates(band, begin, end, rate);
	for (int side = 0; side < 2; side++) {
		int sign = side ? 1 : -1;
		struct lp_term term[2] = {{segment, sign}, {segment + 1, -sign}};

		lp_row(lp, term, 2, sign * (band->base.rate - rate[side]) * scale);
	}
}

/*
 * Return the slack, in units, that the bounds in band->cell leave to a line of their own.
 * It is negative if they contradict every line, and 0 without bounds on both sides.
 */
static double band_best_slack(struct band *band, double begin, double end)
{
	struct hulls *cell = &band->cell;
	double rate[2];

	if (!cell->lower.count || !cell->upper.count)
		return 0;
	find_rates(band, begin, end, rate);
	band->fit = pair_line_fit(cell, fmax(-rate[0], rate[1]));
	return band->fit.margin_ns / band->unit_ns;
}

static void add_segment(struct band *band, const struct shape *shape, struct lp *lp,
			size_t segment, size_t range[2])
{
	struct hulls *cell = &band->cell;
	size_t slack = shape->segments + 1 + segment;
	double best;

	band_hulls(cell, band->bound + range[0], range[1] - range[0]);
	for (size_t i = 0; i < cell->lower.count; i++)
		add_corner(band, shape, lp, segment, &cell->lower.point[i], true);
	for (size_t i = 0; i < cell->upper.count; i++)
		add_corner(band, shape, lp, segment, &cell->upper.point[i], false);
	best = fmax(0, band_best_slack(band, shape->breakpoint[segment],
				       shape->breakpoint[segment + 1]));
	lp_bound(lp, slack, 0, best);
	if (best > 0)
		lp_objective(lp, slack, 1 / fmax(best, 1e-3));
}

/*
 * Add the rate change at a breakpoint, over the shorter of the two adjacent segments, as
 * a cost. The cost is small, but keeps the clock straight where messages leave it free.
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

/*
 * Find the values at the breakpoints of a shape that leave the most slack. Return false
 * if no values satisfy the bounds.
 */
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

static void append_shape(const struct band *band, const struct shape *shape,
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
	LEAST_BOUNDS = 8,     /* in a piece; with fewer it is not examined */
	BOUNDS_TO_HALVE = 32, /* in a segment on average; with fewer it is not halved */
	SURELY_CURVED = 8,    /* segments; chance alone makes fewer */
};

/*
 * Return true if the rate changes in a span of time: no line satisfies its bounds, or the
 * slacks of its pieces prove it.
 */
static bool is_curved(struct band *band, const double time[2], const size_t range[2])
{
	struct piece piece[PIECES_MOST];
	size_t pieces = PIECES_MOST, n = range[1] - range[0];
	double slack;

	band_hulls(&band->cell, band->bound + range[0], n);
	slack = band_best_slack(band, time[0], time[1]) * band->unit_ns;
	while (pieces >= PIECES_LEAST && n < pieces * LEAST_BOUNDS)
		pieces /= 2;
	if (slack < 0 || pieces < PIECES_LEAST)
		return slack < 0;
	pieces_init(piece, pieces);
	for (size_t i = range[0]; i < range[1]; i++) {
		const struct piecewise_bound *bound = &band->bound[i];

		piece_note(
		    piece, pieces, (band_time(band, i) - time[0]) / (time[1] - time[0]),
		    bound->above, line_distance(&band->fit.line, bound->x, bound->y));
	}
	return curvature_is_proved(piece, pieces, slack, false);
}

/*
 * Halve a segment again and again wherever it is curved. Add the breakpoints within it to
 * the shape, as ends of segments.
 */
static void split_curved(struct band *band, const double time[2], const size_t range[2],
			 struct shape *shape)
{
	double middle = (time[0] + time[1]) / 2;
	size_t half;

	if (range[1] - range[0] < 4 * LEAST_BOUNDS || !is_curved(band, time, range))
		return;
	half = range[0] + PARTITION_POINT(range[1] - range[0], i,
					  band_time(band, range[0] + i) < middle);
	split_curved(band, (double[2]){time[0], middle}, (size_t[2]){range[0], half},
		     shape);
	if (shape->segments < BAND_SEGMENTS_MOST / 2)
		shape->breakpoint[++shape->segments] = middle;
	split_curved(band, (double[2]){middle, time[1]}, (size_t[2]){half, range[1]},
		     shape);
}

/*
 * Return true if all breakpoints are within `tolerance` of a line. By chance, parts of a
 * line can look curved.
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

/* Halve each segment. Does not set the values. */
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
 * Set breakpoints at the estimated start and end of each slew, and wherever else the rate
 * changes. With `all`, set them also at the earliest and the latest start and end of each
 * slew.
 */
static void split_at_slews(struct band *band, struct shape *shape, bool all)
{
	double from = 0;
	size_t first = 0;

	shape->segments = 0;
	shape->breakpoint[0] = 0;
	for (size_t k = 0; k <= 6 * band->slews; k++) {
		const struct clock_event *slew = &band->slew[k / 6];
		double to = band->length_ns;
		size_t last = band->n;

		if (k < 6 * band->slews) {
			const nsec_t time[6] = {slew->from_ns,      slew->begin_ns,
						slew->full_from_ns, slew->full_to_ns,
						slew->end_ns,       slew->to_ns};

			if (!all && k % 6 != 1 && k % 6 != 4)
				continue;
			to = (double)(time[k % 6] - band->bound[0].x);
			last = PARTITION_POINT(band->n, i, band_time(band, i) < to);
		}
		if (to - from < 1 || (k < 6 * band->slews && to > band->length_ns - 1))
			continue;
		split_curved(band, (double[2]){from, to}, (size_t[2]){first, last},
			     shape);
		shape->breakpoint[++shape->segments] = to;
		from = to;
		first = last;
	}
}

/*
 * Find and solve a shape whose segments are so short that changes of the rate within them
 * cannot be distinguished from chance. If there are enough bounds, halve the segments.
 * Return false if no segments satisfy the bounds.
 */
static bool band_find_breakpoints(struct band *band, struct shape *shape,
				  double tolerance)
{
	struct shape halves;
	bool solved;

	split_at_slews(band, shape, false);
	solved = band_solve(band, shape);
	if (!solved && band->slews) {
		split_at_slews(band, shape, true);
		solved = band_solve(band, shape);
	}
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

int band_fit(struct band *band, struct piecewise_options options,
	     struct piecewise_fit *fit, struct error *error)
{
	const struct piecewise_bound *bound = band->bound;
	struct shape shape;
	size_t segments = options.segments;
	double slack_ns;
	bool found;

	if (lp_missing())
		return error_set(error, "%s", lp_missing());
	band->length_ns = fmax(1, (double)(bound[band->n - 1].x - bound[0].x));
	band_hulls(&band->cell, bound, band->n);
	if (band->cell.lower.count || band->cell.upper.count)
		band->fit = pair_line_fit(&band->cell, band->limit);
	slack_ns = band->fit.margin_ns;
	band->base = band->fit.line;
	band->unit_ns = fmax(1000, fabs(slack_ns));
	if (options.length_ns)
		segments = (size_t)fmax(
		    1, fmin(BAND_SEGMENTS_MOST,
			    round(band->length_ns / (double)options.length_ns)));
	if (segments) {
		shape_init(&shape, segments, band->length_ns);
		found = band_solve(band, &shape);
	} else {
		found = band_find_breakpoints(band, &shape, STRAIGHT * slack_ns);
	}
	if (found)
		append_shape(band, &shape, fit);
	else
		error_set(error, "no %zu segments satisfy its messages", shape.segments);
	hull_clear(&band->cell.lower);
	hull_clear(&band->cell.upper);
	return found ? 0 : -1;
}
