/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_POINTS_H
#define CT_TEST_POINTS_H

/* Random points for the tests of the hulls, and plain sums in 128 bits. */
#include <string.h>

#include "base/mem.h"
#include "sync/pair/pair.h"

#include "../draw.h"

__extension__ typedef __int128 wide;

#define NOW ((nsec_t)1795228732943977331)
#define DAY (86400 * NSEC_PER_SEC)

struct points {
	struct hull_point *item;
	size_t count;
};

/* On a small grid: many share an x, many are in line. */
static inline struct hull_point draw_grid_point(void)
{
	return (struct hull_point){draw_between(0, 12), draw_between(0, 12)};
}

/*
 * A message between two clocks of epoch size that drift by some ppm, over
 * days: above their relation where it is `late`, else below.
 */
static inline struct hull_point draw_message_point(bool late)
{
	nsec_t x = draw_between(0, 5 * DAY);
	nsec_t delay = (nsec_t)draw_exponential(80);

	return (struct hull_point){NOW + x, NOW / 3 + x - x / 17389 +
						(late ? 1 + delay : -1 - delay)};
}

static inline struct points draw_points(size_t count, bool grid, bool late)
{
	struct points points = {mem_alloc(count * sizeof(struct hull_point)), count};

	for (size_t i = 0; i < count; i++)
		points.item[i] = grid ? draw_grid_point() : draw_message_point(late);
	return points;
}

static inline int points_compare(const void *a, const void *b)
{
	const struct hull_point *p = a, *q = b;

	if (p->x != q->x)
		return p->x < q->x ? -1 : 1;
	return (p->y > q->y) - (p->y < q->y);
}

static inline void points_sort(struct points *points)
{
	qsort(points->item, points->count, sizeof(*points->item), points_compare);
}

static inline void points_shuffle(struct points *points)
{
	for (size_t i = points->count; i > 1; i--) {
		size_t k = (size_t)draw_between(0, (int64_t)i - 1);
		struct hull_point other = points->item[k];

		points->item[k] = points->item[i - 1];
		points->item[i - 1] = other;
	}
}

/* A slope as a fraction; dx > 0. */
struct slope {
	wide dy, dx;
};

static inline struct slope slope_of(struct hull_point a, struct hull_point b)
{
	return (struct slope){(wide)b.y - a.y, (wide)b.x - a.x};
}

static inline bool slope_less(struct slope a, struct slope b)
{
	return a.dy * b.dx < b.dy * a.dx;
}

#endif
