/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_HULL_H
#define CT_SYNC_PAIR_HULL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/nsec.h"

/*
 * Half convex hulls of messages (Duda et al. 1987; Poirier, Roy and Dagenais
 * 2010).
 *
 * One point is one message between two clocks: x by the first, y by the second. A message
 * from the first to the second was received after it was sent, so it is on or above the
 * clocks' true relation, and only the lower hull of such messages can bound that
 * relation; a message in the other direction is on or below it, and only their upper hull
 * counts. Orientation is computed in 128 bits and is exact for timestamps less than 146
 * years apart.
 */
struct hull_point {
	nsec_t x, y;
};

/* For qsort, by x and then y. */
int hull_point_compare(const void *a, const void *b);

/*
 * Orientation of three points: positive where the way from a over b to c
 * turns left, 0 where they are in line. Only the sign means something.
 */
int hull_turn(struct hull_point a, struct hull_point b, struct hull_point c);

/*
 * Reduce point[0..n), sorted by x and then y, to its lower (or upper) hull,
 * in place; returns how many points are left.
 */
size_t hull_reduce(struct hull_point *point, size_t n, bool upper);

/* A lower or upper hull that points are added to in any order. Zeroed is an empty lower
 * one. */
struct hull {
	bool upper;
	struct hull_point *point; /* corners by ascending x, then what was added since */
	size_t count, total, capacity;
};

/* Add a message. Amortized logarithmic in the corners. */
void hull_add(struct hull *hull, nsec_t x, nsec_t y);

/* Bring the corners up to date; to be called before they are read. */
void hull_settle(struct hull *hull);

/* Forget all points, keep the side. */
void hull_reset(struct hull *hull);

void hull_clear(struct hull *hull);

/*
 * A line between two clocks: y = y0 + (x - x0) + offset + rate * (x - x0),
 * with offset in nanoseconds and rate without unit. x0 and y0 are the pair's
 * own origin, so that no double ever holds an epoch time.
 */
struct line {
	nsec_t x0, y0;
	double offset, rate;
};

/* Return how far y is above the line at x, in nanoseconds. */
double line_distance(const struct line *line, nsec_t x, nsec_t y);

/* The rate of a line along the edge that ends at the k-th corner. */
double hull_edge_rate(const struct hull *hull, size_t k);

/* The corner of a hull that is farthest beyond a line. */
struct hull_inner {
	double distance; /* as line_distance; infinite for an empty hull */
	double x;        /* since the line's origin */
};

struct hull_inner hull_innermost(const struct hull *hull, const struct line *line);

/*
 * Return the smallest distance of the points from the line: negative if a point is on the
 * wrong side, infinite for an empty hull.
 */
double hull_slack(const struct hull *hull, const struct line *line);

/*
 * Reduce points in any order to the corners of their lower (upper) hull, sorted by x, and
 * return how many are left. A line is below (above) all points if it is so for these.
 */
size_t hull_corners(struct hull_point *point, size_t n, bool upper);

/* Return the value of a rank, counted from the least. Reorders the values. */
double ranked(double *value, size_t n, size_t rank);

/*
 * Return true if the hulls overlap in x. Otherwise the slope of the lines that separate
 * them has no limit on one side.
 */
bool hulls_face(const struct hull *lower, const struct hull *upper);

#endif
