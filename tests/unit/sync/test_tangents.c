/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "points.h"
#include "sync/pair/pair.h"

#define LIMIT 0.01

/* The two sides of a pair. */
struct sides {
	struct points late, early; /* above and below the relation */
	struct pair pair;
};

static void fill(struct hull *hull, const struct points *points)
{
	for (size_t i = 0; i < points->count; i++)
		hull_add(hull, points->item[i].x, points->item[i].y);
	hull_settle(hull);
}

static void sides_draw(struct sides *sides, size_t most)
{
	memset(sides, 0, sizeof(*sides));
	sides->pair.hulls.upper.upper = true;
	sides->late = draw_points((size_t)draw_between(1, (int64_t)most), false, true);
	sides->early = draw_points((size_t)draw_between(1, (int64_t)most), false, false);
	/* One message that came before it was sent. */
	if (draw() % 4 == 0)
		sides->early.item[0].y += draw_between(1, NSEC_PER_SEC);
	fill(&sides->pair.hulls.lower, &sides->late);
	fill(&sides->pair.hulls.upper, &sides->early);
	sides->pair.hulls.origin = sides->pair.hulls.lower.point[0];
	sides->pair.fit = pair_line_fit(&sides->pair.hulls, LIMIT);
}

static void sides_clear(struct sides *sides)
{
	free(sides->late.item);
	free(sides->early.item);
	hull_clear(&sides->pair.hulls.lower);
	hull_clear(&sides->pair.hulls.upper);
}

/* Limits of the relation's slope by all pairs of messages, not only corners. */
struct limits {
	struct slope steep, flat; /* dx 0: there is none */
	bool overlap;             /* two messages of one x leave no room */
};

static struct limits plain_limits(const struct sides *sides)
{
	struct limits limits = {{0, 0}, {0, 0}, false};

	for (size_t i = 0; i < sides->late.count; i++)
		for (size_t k = 0; k < sides->early.count; k++) {
			struct hull_point l = sides->late.item[i];
			struct hull_point e = sides->early.item[k];

			if (e.x < l.x && (!limits.steep.dx ||
					  slope_less(slope_of(e, l), limits.steep)))
				limits.steep = slope_of(e, l);
			if (l.x < e.x &&
			    (!limits.flat.dx || slope_less(limits.flat, slope_of(l, e))))
				limits.flat = slope_of(l, e);
			limits.overlap |= l.x == e.x && l.y < e.y;
		}
	return limits;
}

static double rate_of(const struct slope *slope, double limit)
{
	double rate = limit;

	if (slope->dx)
		rate = (double)((long double)(slope->dy - slope->dx) /
				(long double)slope->dx);
	return limit > 0 ? fmin(rate, limit) : fmax(rate, limit);
}

/* The bisector's rate is between those of the two tangents, or of the limits. */
TEST(tangents_are_those_of_all_messages)
{
	int contradicted = 0, tangents = 0;

	for (int i = 0; i < 400; i++) {
		struct limits limits;
		struct sides sides;
		struct line line;
		double steep, flat, half;

		sides_draw(&sides, 60);
		limits = plain_limits(&sides);
		steep = rate_of(&limits.steep, LIMIT);
		flat = rate_of(&limits.flat, -LIMIT);
		half = pair_line_bisector(&sides.pair.hulls, &sides.pair.fit, LIMIT, 0,
					  &line);
		assert_int_equal(
		    hulls_face(&sides.pair.hulls.lower, &sides.pair.hulls.upper),
		    limits.steep.dx && limits.flat.dx);
		assert_int_equal(isinf(half) != 0, limits.overlap || steep < flat);
		contradicted += isinf(half) != 0;
		if (!isinf(half)) {
			tangents += limits.steep.dx && limits.flat.dx;
			assert_true(fabs(line.rate - (steep + flat) / 2) < 1e-14);
			assert_true(hull_slack(&sides.pair.hulls.lower, &line) > -0.01);
			assert_true(hull_slack(&sides.pair.hulls.upper, &line) > -0.01);
		}
		sides_clear(&sides);
	}
	assert_true(contradicted > 0 && tangents > 0);
}

TEST(slack_is_the_least_distance)
{
	struct line line = {NOW, NOW / 3, 5, -1e-6};
	struct hull lower = {.upper = false}, upper = {.upper = true};

	assert_true(isinf(hull_slack(&lower, &line)));
	assert_true(isinf(hull_slack(&upper, &line)));
	/* The line is 5 ns over the diagonal, and 4 a millisecond later. */
	hull_add(&lower, NOW, NOW / 3 + 15);
	hull_add(&lower, NOW + NSEC_PER_MSEC, NOW / 3 + NSEC_PER_MSEC + 7);
	hull_add(&upper, NOW, NOW / 3 + 1);
	hull_add(&upper, NOW + NSEC_PER_MSEC, NOW / 3 + NSEC_PER_MSEC + 6);
	hull_settle(&lower);
	hull_settle(&upper);
	assert_true(fabs(line_distance(&line, NOW, NOW / 3 + 15) - 10) < 1e-6);
	assert_true(fabs(hull_slack(&lower, &line) - 3) < 1e-6);
	assert_true(fabs(hull_slack(&upper, &line) + 2) < 1e-6);
	hull_clear(&lower);
	hull_clear(&upper);
}
