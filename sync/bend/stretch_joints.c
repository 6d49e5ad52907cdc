/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/bend/stretch_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Bounds of a segment each way, when it is to be halved. */
enum { LEAST_BOUNDS = 8 };

/* More segments must gain this many times what fewer bounds would, and besides. */
#define BEYOND_CHANCE 2.0

#define WORTH 0.002 /* of the room, by halving all segments */
#define SHARP 0.01  /* by halving one */
#define FEW   6.0   /* and so many times the room over the bounds of a piece */

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

/*
 * The room that some bounds leave a line of their own, in ns: all of them, or
 * with part 0 and 1 every other one each way.
 */
static double line_room(struct stretch *stretch, size_t from, size_t to, int part)
{
	size_t n = 0, seen[2] = {0, 0};

	for (size_t i = from; i < to; i++) {
		const struct corridor_bound *bound = &stretch->bound[i];

		if (part < 0 || (int)(seen[bound->above]++ % 2) == part)
			stretch->some[n++] = *bound;
	}
	if (!n)
		return 0;
	stretch_hulls(&stretch->cell, stretch->some, n);
	return stretch_best_room(stretch) * stretch->unit_ns;
}

/* How much more room half of the bounds leave: what splitting gains by chance. */
static double chance_of(struct stretch *stretch, size_t from, size_t to, double room)
{
	double halves =
	    (line_room(stretch, from, to, 0) + line_room(stretch, from, to, 1)) / 2;

	return fmax(0, halves - room);
}

static double mean_chance(struct stretch *stretch, const struct shape *shape)
{
	size_t from = 0;
	double sum = 0;

	for (size_t k = 0; k < shape->segments; k++) {
		size_t to = stretch_end(stretch, shape, k, from);

		sum += chance_of(stretch, from, to, line_room(stretch, from, to, -1));
		from = to;
	}
	return sum / (double)shape->segments;
}

/* Halve the segments while that explains more than chance would. */
static void refine(struct stretch *stretch, struct shape *shape)
{
	while (2 * shape->segments <= STRETCH_SEGMENTS_MOST &&
	       shape->segments * 4 * LEAST_BOUNDS <= stretch->n) {
		double chance = mean_chance(stretch, shape);
		double few = FEW * (double)shape->segments / (double)stretch->n;
		double wanted = BEYOND_CHANCE * chance + (WORTH + few) * shape->room_ns;
		struct shape finer;

		shape->chance_ns = chance;
		make_halves(shape, &finer);
		if (!stretch_solve(stretch, &finer) ||
		    finer.room_ns - shape->room_ns <= wanted) {
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
 * Whether pieces of some time, each with a line of its own, have more room than
 * one line, by more than halving the bounds gains for every halving that they
 * took. Many pieces, as halves of a wave are as bent as the whole.
 */
static bool is_bent(struct stretch *stretch, const double time[2], const size_t range[2])
{
	double room = line_room(stretch, range[0], range[1], -1);
	double rooms = 0, chance = 0, piece, share, halvings = 4;
	size_t pieces = 16, from = range[0];

	while (pieces > 2 && range[1] - range[0] < pieces * 2 * LEAST_BOUNDS) {
		pieces /= 2;
		halvings--;
	}
	for (size_t k = 1; k <= pieces; k++) {
		double end = time[0] + (time[1] - time[0]) * (double)k / (double)pieces;
		size_t to = k == pieces ? range[1] : bound_at(stretch, range, end);

		piece = line_room(stretch, from, to, -1);
		rooms += piece / (double)pieces;
		chance += chance_of(stretch, from, to, piece) / (double)pieces;
		from = to;
	}
	share = SHARP + FEW * (double)pieces / (double)(range[1] - range[0]);
	return room < 0 ||
	       rooms - room > BEYOND_CHANCE * halvings * chance + share * rooms;
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
	double tolerance = fmax(shape->chance_ns, STRAIGHT * shape->room_ns);
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
