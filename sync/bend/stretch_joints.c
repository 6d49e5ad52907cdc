/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/stretch_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/bend/curvature.h"

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

bool stretch_find_joints(struct stretch *stretch, struct shape *shape)
{
	make_bends(stretch, shape);
	if (!solve_any(stretch, shape))
		return false;
	refine(stretch, shape);
	simplify(stretch, shape);
	return true;
}
