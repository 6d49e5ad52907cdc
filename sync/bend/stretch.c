/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/stretch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/bend/curvature.h"
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

static void shape_init(struct shape *shape, size_t segments)
{
	shape->segments = segments;
	shape->joint = mem_zalloc((segments + 1) * sizeof(double));
	shape->value = mem_zalloc((segments + 1) * sizeof(double));
}

static void shape_clear(struct shape *shape)
{
	free(shape->joint);
	free(shape->value);
	memset(shape, 0, sizeof(*shape));
}

/* When a bound is, since the stretch began. */
static double stretch_time(const struct stretch *stretch, size_t bound)
{
	return (double)(stretch->bound[bound].x - stretch->bound[0].x);
}

/* The first bound from `from` on that is not of a segment of the shape. */
static size_t stretch_end(const struct stretch *stretch, const struct shape *shape,
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

/*
 * The room that the bounds in stretch->cell could leave a line of their own, in
 * units. Negative where they contradict every line, 0 without bounds on both
 * sides.
 */
static double stretch_best_room(struct stretch *stretch)
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
static void add_joint_row(const struct shape *shape, struct lp *lp, size_t joint)
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

/* The values at the joints of a shape that leave the most room; false: none do. */
static bool stretch_solve(struct stretch *stretch, struct shape *shape)
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
			add_joint_row(shape, lp, k);
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

enum {
	LEAST_BOUNDS = 8, /* of a piece that is looked at, or a quarter of a segment */
	QUARTERS = 4,
};

/*
 * Two variances of n normal numbers each, estimated by medians or sums, differ by
 * more than exp(this / sqrt(n)) once in a hundred times or less.
 */
#define BEYOND_CHANCE 4.66

/* A joint that moves the line by less than this share of the room is not needed. */
#define STRAIGHT 0.005

/* Each segment in two. */
static void make_halves(const struct shape *shape, struct shape *halves)
{
	shape_init(halves, 2 * shape->segments);
	for (size_t k = 0; k <= shape->segments; k++)
		halves->joint[2 * k] = shape->joint[k];
	for (size_t k = 0; k < shape->segments; k++)
		halves->joint[2 * k + 1] = (shape->joint[k] + shape->joint[k + 1]) / 2;
}

static void note_slack(struct piece *piece, size_t pieces, double share, bool above,
		       double slack)
{
	struct piece *of =
	    &piece[(size_t)fmin((double)pieces - 1, fmax(0, share * (double)pieces))];

	if (above)
		of->above = fmin(of->above, slack);
	else
		of->below = fmin(of->below, -slack);
}

/* The slacks of a segment's quarters to the shape. Returns where its bounds end. */
static size_t find_quarters(const struct stretch *stretch, const struct shape *shape,
			    size_t segment, size_t from, struct piece quarter[QUARTERS])
{
	double begin = shape->joint[segment], end = shape->joint[segment + 1];
	size_t to = stretch_end(stretch, shape, segment, from);

	pieces_init(quarter, QUARTERS);
	for (size_t i = from; i < to; i++) {
		const struct corridor_bound *bound = &stretch->bound[i];
		double share = (stretch_time(stretch, i) - begin) / (end - begin);
		double value = shape->value[segment] * (1 - share) +
			       shape->value[segment + 1] * share;

		note_slack(quarter, QUARTERS, share, bound->above,
			   line_distance(&stretch->base, bound->x, bound->y) - value);
	}
	return to;
}

static int by_size(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return (p > q) - (p < q);
}

/*
 * Whether the clock bends within the segments: how far the middle quarters are off
 * the outer ones shows a bend in the difference of the two directions, and what
 * latencies do by themselves in their sum. The medians of all segments, so that load
 * in some of them has no say.
 */
static bool are_bent(const struct stretch *stretch, const struct shape *shape)
{
	double *bend = mem_alloc(2 * shape->segments * sizeof(*bend));
	double *latency = bend + shape->segments;
	size_t from = 0, n = 0;
	bool are = false;

	for (size_t k = 0; k < shape->segments; k++) {
		struct piece q[QUARTERS];
		double above, below;

		from = find_quarters(stretch, shape, k, from, q);
		above = q[0].above - q[1].above - q[2].above + q[3].above;
		below = q[0].below - q[1].below - q[2].below + q[3].below;
		if (!isfinite(above) || !isfinite(below))
			continue;
		bend[n] = fabs(above - below);
		latency[n++] = fabs(above + below);
	}
	if (n >= 2 && 2 * n >= shape->segments) {
		qsort(bend, n, sizeof(*bend), by_size);
		qsort(latency, n, sizeof(*latency), by_size);
		are = pow(bend[n / 2], 2) >
		      exp(BEYOND_CHANCE / sqrt((double)n)) * pow(latency[n / 2], 2);
	}
	free(bend);
	return are;
}

/* Halve the segments while the clock bends within them. */
static void refine(struct stretch *stretch, struct shape *shape)
{
	while (2 * shape->segments <= STRETCH_SEGMENTS_MOST &&
	       shape->segments * QUARTERS * LEAST_BOUNDS <= stretch->n &&
	       are_bent(stretch, shape)) {
		struct shape finer;

		make_halves(shape, &finer);
		if (!stretch_solve(stretch, &finer)) {
			shape_clear(&finer);
			return;
		}
		shape_clear(shape);
		*shape = finer;
	}
}

/* A list of joints that grows. */
struct joints {
	double *at;
	size_t count, room;
};

static void add_joint(struct joints *joints, double at)
{
	joints->at = mem_grow(joints->at, joints->count, &joints->room, sizeof(double));
	joints->at[joints->count++] = at;
}

/* The first bound of a range that is not before a time. */
static size_t bound_at(const struct stretch *stretch, const size_t range[2], double time)
{
	size_t low = range[0], high = range[1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stretch_time(stretch, middle) < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Whether a clock bends in some time: no line satisfies its bounds, or the slacks of
 * its pieces prove it.
 */
static bool is_bent(struct stretch *stretch, const double time[2], const size_t range[2])
{
	struct piece piece[PIECES_MOST];
	size_t pieces = PIECES_MOST, n = range[1] - range[0];
	double room;

	stretch_hulls(&stretch->cell, stretch->bound + range[0], n);
	room = stretch_best_room(stretch) * stretch->unit_ns;
	while (pieces >= PIECES_LEAST && n < pieces * LEAST_BOUNDS)
		pieces /= 2;
	if (room < 0 || pieces < PIECES_LEAST)
		return room < 0;
	pieces_init(piece, pieces);
	for (size_t i = range[0]; i < range[1]; i++) {
		const struct corridor_bound *bound = &stretch->bound[i];

		note_slack(piece, pieces,
			   (stretch_time(stretch, i) - time[0]) / (time[1] - time[0]),
			   bound->above,
			   line_distance(&stretch->cell.line, bound->x, bound->y));
	}
	return curvature_is_proved(piece, pieces, room);
}

/* Halve a segment wherever the clock bends so much that lines show it. */
static void split_bends(struct stretch *stretch, const double time[2],
			const size_t range[2], struct joints *joints)
{
	double middle = (time[0] + time[1]) / 2;
	size_t half;

	if (range[1] - range[0] < 4 * LEAST_BOUNDS ||
	    joints->count >= STRETCH_SEGMENTS_MOST / 2 || !is_bent(stretch, time, range))
		return;
	half = bound_at(stretch, range, middle);
	split_bends(stretch, (double[2]){time[0], middle}, (size_t[2]){range[0], half},
		    joints);
	add_joint(joints, middle);
	split_bends(stretch, (double[2]){middle, time[1]}, (size_t[2]){half, range[1]},
		    joints);
}

/* Short segments where the clock bends sharply, long ones where it does not. */
static void make_bends(struct stretch *stretch, struct shape *shape)
{
	const double time[2] = {0, stretch->length_ns};
	const size_t range[2] = {0, stretch->n};
	struct joints joints = {NULL, 0, 0};

	add_joint(&joints, time[0]);
	split_bends(stretch, time, range, &joints);
	add_joint(&joints, time[1]);
	shape_init(shape, joints.count - 1);
	memcpy(shape->joint, joints.at, joints.count * sizeof(double));
	free(joints.at);
}

/* Solve, with more and more segments until some satisfy the bounds. */
static bool solve_any(struct stretch *stretch, struct shape *shape)
{
	while (!stretch_solve(stretch, shape)) {
		struct shape halves;

		if (2 * shape->segments > STRETCH_SEGMENTS_MOST ||
		    shape->segments > stretch->n)
			return false;
		make_halves(shape, &halves);
		shape_clear(shape);
		*shape = halves;
	}
	return true;
}

/* Keep the joints between two that are kept by which the way is not straight. */
static void keep_bends(const struct shape *shape, size_t from, size_t to,
		       double tolerance, bool *keep)
{
	double rate = (shape->value[to] - shape->value[from]) /
		      (shape->joint[to] - shape->joint[from]);
	double most = tolerance;
	size_t bend = 0;

	for (size_t k = from + 1; k < to; k++) {
		double off = fabs(shape->value[k] - shape->value[from] -
				  rate * (shape->joint[k] - shape->joint[from]));

		if (off > most) {
			most = off;
			bend = k;
		}
	}
	if (!bend)
		return;
	keep[bend] = true;
	keep_bends(shape, from, bend, tolerance, keep);
	keep_bends(shape, bend, to, tolerance, keep);
}

/*
 * Leave out joints that the clock does not need (Douglas and Peucker 1973),
 * if the rest still satisfy the bounds and leave the same room.
 */
static void simplify(struct stretch *stretch, struct shape *shape)
{
	double tolerance = STRAIGHT * shape->room_ns;
	bool *keep = mem_zalloc((shape->segments + 1) * sizeof(*keep));
	struct shape simple = {0};
	size_t count = 0;

	keep[0] = keep[shape->segments] = true;
	keep_bends(shape, 0, shape->segments, tolerance, keep);
	for (size_t k = 0; k <= shape->segments; k++)
		count += keep[k];
	shape_init(&simple, count - 1);
	count = 0;
	for (size_t k = 0; k <= shape->segments; k++)
		if (keep[k])
			simple.joint[count++] = shape->joint[k];
	free(keep);
	if (simple.segments < shape->segments && stretch_solve(stretch, &simple) &&
	    simple.room_ns >= shape->room_ns - tolerance) {
		shape_clear(shape);
		*shape = simple;
	} else {
		shape_clear(&simple);
	}
}

/*
 * A shape with as many segments as tell of every bend that latencies do not explain,
 * solved. False where no segments satisfy the bounds.
 */
static bool stretch_find_joints(struct stretch *stretch, struct shape *shape)
{
	make_bends(stretch, shape);
	if (!solve_any(stretch, shape))
		return false;
	refine(stretch, shape);
	simplify(stretch, shape);
	return true;
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
