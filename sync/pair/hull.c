/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

__extension__ typedef __int128 wide;

enum { FRESH_LEAST = 64 };

static wide cross(struct hull_point a, struct hull_point b, struct hull_point c)
{
	return (wide)(b.x - a.x) * (c.y - a.y) - (wide)(b.y - a.y) * (c.x - a.x);
}

int hull_turn(struct hull_point a, struct hull_point b, struct hull_point c)
{
	wide turn = cross(a, b, c);

	return (turn > 0) - (turn < 0);
}

/* Of points with one x only the outermost counts; then Andrew's chain (1979). */
size_t hull_reduce(struct hull_point *point, size_t n, bool upper)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct hull_point next = point[i];

		if (kept && point[kept - 1].x == next.x) {
			if (upper ? next.y <= point[kept - 1].y
				  : next.y >= point[kept - 1].y)
				continue;
			kept--;
		}
		while (kept >= 2) {
			int turn = hull_turn(point[kept - 2], point[kept - 1], next);

			if (upper ? turn < 0 : turn > 0)
				break;
			kept--;
		}
		point[kept++] = next;
	}
	return kept;
}

/* Whether (x, y) lies inside, by the corners found so far. */
static bool is_inside(const struct hull *hull, struct hull_point p)
{
	size_t low;
	int turn;

	if (!hull->count || p.x < hull->point[0].x ||
	    p.x > hull->point[hull->count - 1].x)
		return false;
	low = FIRST_NOT(hull->count, i, hull->point[i].x <= p.x) - 1;
	if (hull->point[low].x == p.x)
		return hull->upper ? p.y <= hull->point[low].y
				   : p.y >= hull->point[low].y;
	turn = hull_turn(hull->point[low], hull->point[low + 1], p);
	return hull->upper ? turn <= 0 : turn >= 0;
}

static int compare_points(const void *a, const void *b)
{
	const struct hull_point *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

size_t hull_corners(struct hull_point *point, size_t n, bool upper)
{
	qsort(point, n, sizeof(*point), compare_points);
	return hull_reduce(point, n, upper);
}

void hull_settle(struct hull *hull)
{
	size_t total = hull->count + hull->fresh_count;

	if (!hull->fresh_count)
		return;
	if (total > hull->room) {
		hull->room = total + total / 2;
		hull->point = mem_realloc(hull->point, hull->room, sizeof(*hull->point));
	}
	memcpy(hull->point + hull->count, hull->fresh,
	       hull->fresh_count * sizeof(*hull->point));
	hull->count = hull_corners(hull->point, total, hull->upper);
	hull->fresh_count = 0;
}

void hull_add(struct hull *hull, nsec_t x, nsec_t y)
{
	struct hull_point p = {x, y};

	if (is_inside(hull, p))
		return;
	hull->fresh = mem_grow(hull->fresh, hull->fresh_count, &hull->fresh_room,
			       sizeof(*hull->fresh));
	hull->fresh[hull->fresh_count++] = p;
	if (hull->fresh_count >= FRESH_LEAST + hull->count)
		hull_settle(hull);
}

void hull_reset(struct hull *hull)
{
	hull->count = hull->fresh_count = 0;
}

void hull_clear(struct hull *hull)
{
	free(hull->point);
	free(hull->fresh);
	memset(hull, 0, sizeof(*hull));
}

double line_distance(const struct line *line, nsec_t x, nsec_t y)
{
	double dx = (double)(x - line->x0);

	return (double)((y - line->y0) - (x - line->x0)) - line->offset - line->rate * dx;
}

double hull_slack(const struct hull *hull, const struct line *line)
{
	double slack = INFINITY;

	for (size_t i = 0; i < hull->count; i++) {
		double distance = line_distance(line, hull->point[i].x, hull->point[i].y);

		slack = fmin(slack, hull->upper ? -distance : distance);
	}
	return slack;
}

static int by_size(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return (p > q) - (p < q);
}

double ranked(double *value, size_t n, size_t rank)
{
	qsort(value, n, sizeof(*value), by_size);
	return value[rank];
}

/* Whether the line a-b is less steep than c-d; both go to the right. */
static bool is_flatter(const struct hull_point *a, const struct hull_point *b,
		       const struct hull_point *c, const struct hull_point *d)
{
	return (wide)(b->y - a->y) * (d->x - c->x) < (wide)(d->y - c->y) * (b->x - a->x);
}

static void line_through(struct line *line, struct hull_point origin,
			 const struct hull_point *a, const struct hull_point *b)
{
	double dx = (double)(b->x - a->x);

	line->x0 = origin.x;
	line->y0 = origin.y;
	line->rate = (double)((b->y - a->y) - (b->x - a->x)) / dx;
	line->offset = 0;
	line->offset = line_distance(line, a->x, a->y);
}

/*
 * The line from a corner of `from` on the left to one of `to` on the right
 * with the least slope (or the greatest): no separating line is steeper
 * (flatter) than that, as it would pass on the wrong side of one of the two.
 */
static bool extreme(const struct hull *from, const struct hull *to, bool least,
		    struct hull_point origin, struct line *line)
{
	const struct hull_point *a = NULL, *b = NULL;

	for (size_t i = 0; i < from->count; i++)
		for (size_t k = 0; k < to->count; k++) {
			const struct hull_point *p = &from->point[i], *q = &to->point[k];

			if (p->x >= q->x)
				continue;
			if (!a ||
			    (least ? is_flatter(p, q, a, b) : is_flatter(a, b, p, q))) {
				a = p;
				b = q;
			}
		}
	if (a)
		line_through(line, origin, a, b);
	return a != NULL;
}

/* Whether the two half hulls leave no room between them at one x. */
static bool overlaps_at_corner(const struct hull *lower, const struct hull *upper)
{
	for (size_t i = 0; i < lower->count; i++)
		for (size_t k = 0; k < upper->count; k++)
			if (lower->point[i].x == upper->point[k].x &&
			    lower->point[i].y < upper->point[k].y)
				return true;
	return false;
}

enum tangents hull_tangents(const struct hull *lower, const struct hull *upper,
			    struct hull_point origin, struct line *steep,
			    struct line *flat)
{
	bool has_steep = extreme(upper, lower, true, origin, steep);
	bool has_flat = extreme(lower, upper, false, origin, flat);

	if ((has_steep && has_flat && steep->rate < flat->rate) ||
	    overlaps_at_corner(lower, upper))
		return TANGENTS_CONTRADICTED;
	if (has_steep && has_flat)
		return TANGENTS_BOTH;
	if (has_steep || has_flat)
		return has_steep ? TANGENTS_STEEP : TANGENTS_FLAT;
	return TANGENTS_NONE;
}
