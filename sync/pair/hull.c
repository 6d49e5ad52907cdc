/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/hull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "base/sort.h"

__extension__ typedef __int128 wide;

enum { FRESH_LEAST = 64 };

int hull_turn(struct hull_point a, struct hull_point b, struct hull_point c)
{
	wide turn = (wide)(b.x - a.x) * (c.y - a.y) - (wide)(b.y - a.y) * (c.x - a.x);

	return (turn > 0) - (turn < 0);
}

/* Keep the outermost of the points with equal x, then build the chain of Andrew (1979).
 */
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

/* Return true if (x, y) is inside the corners found so far. */
static bool is_inside(const struct hull *hull, struct hull_point p)
{
	size_t low;
	int turn;

	if (!hull->count || p.x < hull->point[0].x ||
	    p.x > hull->point[hull->count - 1].x)
		return false;
	low = PARTITION_POINT(hull->count, i, hull->point[i].x <= p.x) - 1;
	if (hull->point[low].x == p.x)
		return hull->upper ? p.y <= hull->point[low].y
				   : p.y >= hull->point[low].y;
	turn = hull_turn(hull->point[low], hull->point[low + 1], p);
	return hull->upper ? turn <= 0 : turn >= 0;
}

int hull_point_compare(const void *a, const void *b)
{
	const struct hull_point *p = a, *q = b;

	return COMPARE(p->x, q->x) ?: COMPARE(p->y, q->y);
}

size_t hull_corners(struct hull_point *point, size_t n, bool upper)
{
	sort_almost_sorted(point, n, sizeof(*point), hull_point_compare);
	return hull_reduce(point, n, upper);
}

void hull_settle(struct hull *hull)
{
	if (hull->total > hull->count)
		hull->total = hull->count =
		    hull_corners(hull->point, hull->total, hull->upper);
}

void hull_add(struct hull *hull, nsec_t x, nsec_t y)
{
	struct hull_point p = {x, y};

	if (is_inside(hull, p))
		return;
	*MEM_NEXT(hull->point, hull->total, hull->capacity) = p;
	if (hull->total >= FRESH_LEAST + 2 * hull->count)
		hull_settle(hull);
}

void hull_reset(struct hull *hull)
{
	hull->count = hull->total = 0;
}

void hull_clear(struct hull *hull)
{
	free(hull->point);
	memset(hull, 0, sizeof(*hull));
}

double line_distance(const struct line *line, nsec_t x, nsec_t y)
{
	double dx = (double)(x - line->x0);

	return (double)((y - line->y0) - (x - line->x0)) - line->offset - line->rate * dx;
}

double hull_edge_rate(const struct hull *hull, size_t k)
{
	const struct hull_point *p = &hull->point[k - 1], *q = &hull->point[k];

	return (double)((q->y - p->y) - (q->x - p->x)) / (double)(q->x - p->x);
}

struct hull_inner hull_innermost(const struct hull *hull, const struct line *line)
{
	struct hull_inner best = {hull->upper ? -INFINITY : INFINITY, 0};

	for (size_t i = 0; i < hull->count; i++) {
		double distance = line_distance(line, hull->point[i].x, hull->point[i].y);

		if (hull->upper ? distance > best.distance : distance < best.distance) {
			best.distance = distance;
			best.x = (double)(hull->point[i].x - line->x0);
		}
	}
	return best;
}

double hull_slack(const struct hull *hull, const struct line *line)
{
	double distance = hull_innermost(hull, line).distance;

	return hull->upper ? -distance : distance;
}

static int by_size(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return COMPARE(p, q);
}

double ranked(double *value, size_t n, size_t rank)
{
	SORT(value, n, by_size);
	return value[rank];
}

bool hulls_face(const struct hull *lower, const struct hull *upper)
{
	return lower->count && upper->count &&
	       lower->point[0].x < upper->point[upper->count - 1].x &&
	       upper->point[0].x < lower->point[lower->count - 1].x;
}
