/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BEND_STRETCH_PRIVATE_H
#define CT_SYNC_BEND_STRETCH_PRIVATE_H

#include "sync/bend/stretch.h"

/* For the two files of a stretch: where its joints are, and its values there. */
enum { STRETCH_SEGMENTS_MOST = 4096 };

struct stretch {
	const struct corridor_bound *bound;
	size_t n;
	double limit;
	struct line base; /* values are differences from it */
	double unit_ns, length_ns;
	struct pair cell; /* the hulls of one segment */
};

/* Joined segments: differences from the base at the joints, both in ns. */
struct shape {
	size_t segments;
	double *joint, *value; /* segments + 1 */
	double room_ns;        /* what they leave to the bounds, mean over time */
};

void shape_init(struct shape *shape, size_t segments);
void shape_clear(struct shape *shape);

/* When a bound is, since the stretch began. */
double stretch_time(const struct stretch *stretch, size_t bound);

/* The first bound from `from` on that is not of a segment of the shape. */
size_t stretch_end(const struct stretch *stretch, const struct shape *shape,
		   size_t segment, size_t from);

/*
 * The room that the bounds in stretch->cell could leave a line of their own, in
 * units. Negative where they contradict every line, 0 without bounds on both
 * sides.
 */
double stretch_best_room(struct stretch *stretch);

/* The values at the joints of a shape that leave the most room; false: none do. */
bool stretch_solve(struct stretch *stretch, struct shape *shape);

/*
 * A shape with as many segments as tell of every bend that latencies do not explain,
 * solved. False where no segments satisfy the bounds.
 */
bool stretch_find_joints(struct stretch *stretch, struct shape *shape);

#endif
