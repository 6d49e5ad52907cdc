/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/bend/stretch_private.h"
#include "sync/fit/fit.h"
#include "sync/fit/lp.h"

/* What a unit of bending costs, in shares of a segment's room. */
#define BENDING 1e-2

void stretch_hulls(struct pair *pair, const struct corridor_bound *bound, size_t n)
{
	hull_reset(&pair->lower);
	hull_reset(&pair->upper);
	for (size_t i = 0; i < n; i++)
		hull_add(bound[i].above ? &pair->lower : &pair->upper, bound[i].x,
			 bound[i].y);
	hull_settle(&pair->lower);
	hull_settle(&pair->upper);
	pair->origin = (struct hull_point){bound[0].x, bound[0].y};
}

void shape_init(struct shape *shape, size_t segments)
{
	shape->segments = segments;
	shape->joint = mem_zalloc((segments + 1) * sizeof(double));
	shape->value = mem_zalloc((segments + 1) * sizeof(double));
}

void shape_clear(struct shape *shape)
{
	free(shape->joint);
	free(shape->value);
	memset(shape, 0, sizeof(*shape));
}

double stretch_time(const struct stretch *stretch, size_t bound)
{
	return (double)(stretch->bound[bound].x - stretch->bound[0].x);
}

size_t stretch_end(const struct stretch *stretch, const struct shape *shape,
		   size_t segment, size_t from)
{
	while (from < stretch->n &&
	       (segment + 1 == shape->segments ||
		stretch_time(stretch, from) < shape->joint[segment + 1]))
		from++;
	return from;
}

/* Columns: the values at the joints, the room of each segment, the bend of each joint. */
static void add_corner(const struct stretch *stretch, const struct shape *shape,
		       struct lp *lp, size_t segment, const struct hull_point *corner,
		       bool above)
{
	double at = (double)(corner->x - stretch->bound[0].x);
	double begin = shape->joint[segment], end = shape->joint[segment + 1];
	double share = (at - begin) / (end - begin), sign = above ? -1 : 1;
	double have = line_distance(&stretch->base, corner->x, corner->y);
	struct lp_term term[3] = {
	    {segment, sign * (1 - share)},
	    {segment + 1, sign * share},
	    {shape->segments + 1 + segment, -1},
	};

	lp_row(lp, term, 3, sign * have / stretch->unit_ns);
}

/* |rate| <= limit within a segment. */
static void add_rate(const struct stretch *stretch, const struct shape *shape,
		     struct lp *lp, size_t segment)
{
	double length = shape->joint[segment + 1] - shape->joint[segment];
	double scale = length / stretch->unit_ns;
	struct lp_term term[2] = {{segment, -1}, {segment + 1, 1}};

	lp_row(lp, term, 2, (-stretch->limit - stretch->base.rate) * scale);
	term[0].factor = 1;
	term[1].factor = -1;
	lp_row(lp, term, 2, (stretch->base.rate - stretch->limit) * scale);
}

double stretch_best_room(struct stretch *stretch)
{
	struct pair *cell = &stretch->cell;

	if (!cell->lower.count || !cell->upper.count)
		return 0;
	fit_pair_margin(cell, stretch->limit);
	return cell->margin_ns / stretch->unit_ns;
}

/* Returns the most that the segment's room can be, in units. */
static double add_segment(struct stretch *stretch, const struct shape *shape,
			  struct lp *lp, size_t segment, size_t range[2])
{
	struct pair *cell = &stretch->cell;
	size_t room = shape->segments + 1 + segment;
	double best;

	hull_reset(&cell->lower);
	hull_reset(&cell->upper);
	if (range[1] > range[0])
		stretch_hulls(cell, stretch->bound + range[0], range[1] - range[0]);
	for (size_t i = 0; i < cell->lower.count; i++)
		add_corner(stretch, shape, lp, segment, &cell->lower.point[i], true);
	for (size_t i = 0; i < cell->upper.count; i++)
		add_corner(stretch, shape, lp, segment, &cell->upper.point[i], false);
	best = fmax(0, stretch_best_room(stretch));
	lp_bound(lp, room, 0, best);
	if (best > 0)
		lp_objective(lp, room, 1 / fmax(best, 1e-3));
	return best;
}

/*
 * By how much the way bends at a joint, at the nearer of the two next to it. It
 * costs little, but where messages leave a clock free it keeps to a line.
 */
static void add_joint(const struct shape *shape, struct lp *lp, size_t joint)
{
	double before = shape->joint[joint] - shape->joint[joint - 1];
	double after = shape->joint[joint + 1] - shape->joint[joint];
	double length = fmin(before, after);
	size_t bend = 2 * shape->segments + joint;

	for (int sign = -1; sign <= 1; sign += 2) {
		struct lp_term term[4] = {
		    {joint - 1, sign * length / before},
		    {joint, -sign * (length / before + length / after)},
		    {joint + 1, sign * length / after},
		    {bend, 1},
		};

		lp_row(lp, term, 4, 0);
	}
	lp_objective(lp, bend, -BENDING);
}

/* The mean room where bounds are on both sides. */
static double mean_room(const struct stretch *stretch, const struct shape *shape,
			const struct lp *lp, const double *best)
{
	double sum = 0, time = 0;

	for (size_t k = 0; k < shape->segments; k++) {
		double length = shape->joint[k + 1] - shape->joint[k];

		if (best[k] <= 0)
			continue;
		sum += length * lp_value(lp, shape->segments + 1 + k);
		time += length;
	}
	return time > 0 ? sum / time * stretch->unit_ns : 0;
}

bool stretch_solve(struct stretch *stretch, struct shape *shape)
{
	struct lp *lp = lp_new(3 * shape->segments);
	double *best = mem_zalloc(shape->segments * sizeof(*best));
	size_t range[2] = {0, 0};
	bool found;

	for (size_t k = 0; k < shape->segments; k++) {
		range[1] = stretch_end(stretch, shape, k, range[0]);
		best[k] = add_segment(stretch, shape, lp, k, range);
		add_rate(stretch, shape, lp, k);
		range[0] = range[1];
		if (k)
			add_joint(shape, lp, k);
	}
	found = lp_maximize(lp) == LP_OPTIMAL;
	for (size_t k = 0; found && k <= shape->segments; k++)
		shape->value[k] = lp_value(lp, k) * stretch->unit_ns;
	if (found)
		shape->room_ns = mean_room(stretch, shape, lp, best);
	free(best);
	lp_free(lp);
	return found;
}

static void make_even(const struct stretch *stretch, size_t segments, struct shape *shape)
{
	shape_init(shape, segments);
	for (size_t k = 0; k <= segments; k++)
		shape->joint[k] = stretch->length_ns * (double)k / (double)segments;
}

static void append(const struct stretch *stretch, const struct shape *shape,
		   struct corridor_fit *fit)
{
	size_t room = fit->segments + shape->segments;

	fit->segment = mem_realloc(fit->segment, room, sizeof(*fit->segment));
	for (size_t k = 0; k < shape->segments; k++) {
		struct clock_segment *segment = &fit->segment[fit->segments++];
		double begin = shape->joint[k], end = shape->joint[k + 1];
		double here = shape->value[k], there = shape->value[k + 1];
		nsec_t local = stretch->bound[0].x + nsec_round(begin);

		segment->local_ns = local;
		segment->rate_ppb =
		    (stretch->base.rate + (there - here) / (end - begin)) * 1e9;
		segment->ref_ns =
		    stretch->base.y0 + (local - stretch->base.x0) +
		    nsec_round(here + stretch->base.offset +
			       stretch->base.rate * (double)(local - stretch->base.x0));
	}
}

static void stretch_init(struct stretch *stretch, const struct corridor_bound *bound,
			 size_t n, double limit)
{
	memset(stretch, 0, sizeof(*stretch));
	stretch->bound = bound;
	stretch->n = n;
	stretch->limit = limit;
	stretch->cell.upper.upper = true;
	stretch->length_ns = fmax(1, (double)(bound[n - 1].x - bound[0].x));
	stretch_hulls(&stretch->cell, bound, n);
	if (stretch->cell.lower.count || stretch->cell.upper.count)
		fit_pair_margin(&stretch->cell, limit);
	stretch->base = stretch->cell.line;
	stretch->unit_ns = fmax(1000, fabs(stretch->cell.margin_ns));
}

/* How many segments a stretch is wished to have; 0: as many as it needs. */
static size_t wished(const struct stretch *stretch, struct corridor_wish wish)
{
	double segments = (double)wish.segments;

	if (!wish.segments && !wish.length_ns)
		return 0;
	if (wish.length_ns)
		segments = round(stretch->length_ns / (double)wish.length_ns);
	return (size_t)fmax(1, fmin(STRETCH_SEGMENTS_MOST, segments));
}

int stretch_fit(const struct corridor_bound *bound, size_t n, double limit,
		struct corridor_wish wish, struct corridor_fit *fit, struct error *error)
{
	struct shape shape = {0};
	struct stretch stretch;
	size_t segments;
	bool found;

	stretch_init(&stretch, bound, n, limit);
	segments = wished(&stretch, wish);
	if (segments) {
		make_even(&stretch, segments, &shape);
		found = stretch_solve(&stretch, &shape);
	} else {
		found = stretch_find_joints(&stretch, &shape);
	}
	if (found)
		append(&stretch, &shape, fit);
	else
		error_set(error, "no %zu segments satisfy its messages", shape.segments);
	shape_clear(&shape);
	hull_clear(&stretch.cell.lower);
	hull_clear(&stretch.cell.upper);
	return found ? 0 : -1;
}
