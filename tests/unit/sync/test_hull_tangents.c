/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "points.h"

/* The two sides of a pair. */
struct sides {
	struct points late, early; /* above and below the relation */
	struct hull lower, upper;
};

static void fill(struct hull *hull, const struct points *points)
{
	for (size_t i = 0; i < points->count; i++)
		hull_add(hull, points->item[i].x, points->item[i].y);
	hull_settle(hull);
}

static void sides_draw(struct sides *sides, bool grid, size_t most)
{
	memset(sides, 0, sizeof(*sides));
	sides->upper.upper = true;
	sides->late = draw_points((size_t)draw_between(0, (int64_t)most), grid, true);
	sides->early = draw_points((size_t)draw_between(0, (int64_t)most), grid, false);
	/* On a grid they overlap less often when one is moved away. */
	for (size_t i = 0; grid && i < sides->late.count; i++)
		sides->late.item[i].y += 8;
	fill(&sides->lower, &sides->late);
	fill(&sides->upper, &sides->early);
}

static void sides_clear(struct sides *sides)
{
	free(sides->late.item);
	free(sides->early.item);
	hull_clear(&sides->lower);
	hull_clear(&sides->upper);
}

/* What all pairs of messages, not only corners, say of the relation's slope. */
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

static enum tangents plain_answer(const struct limits *limits)
{
	bool steep = limits->steep.dx, flat = limits->flat.dx;

	if (limits->overlap || (steep && flat && slope_less(limits->steep, limits->flat)))
		return TANGENTS_CONTRADICTED;
	if (steep)
		return flat ? TANGENTS_BOTH : TANGENTS_STEEP;
	return flat ? TANGENTS_FLAT : TANGENTS_NONE;
}

static void assert_tangent(const struct sides *sides, const struct line *line,
			   const struct slope *slope)
{
	long double wanted =
	    (long double)(slope->dy - slope->dx) / (long double)slope->dx;

	assert_true(fabsl(line->rate - wanted) <= 1e-15L * fabsl(wanted));
	/* It touches both sides; a hull's slack is that of its closest message. */
	assert_true(fabs(hull_slack(&sides->lower, line)) < 1e-3);
	assert_true(fabs(hull_slack(&sides->upper, line)) < 1e-3);
}

static void check_tangents(bool grid, size_t most)
{
	struct hull_point origin;
	struct line steep, flat;
	struct limits limits;
	struct sides sides;
	enum tangents answer;

	sides_draw(&sides, grid, most);
	origin = sides.lower.count ? sides.lower.point[0] : (struct hull_point){0, 0};
	limits = plain_limits(&sides);
	answer = hull_tangents(&sides.lower, &sides.upper, origin, &steep, &flat);
	assert_int_equal(answer, plain_answer(&limits));
	if (answer == TANGENTS_BOTH) {
		assert_tangent(&sides, &steep, &limits.steep);
		assert_tangent(&sides, &flat, &limits.flat);
		assert_true(steep.rate >= flat.rate);
		assert_true(steep.x0 == origin.x && flat.y0 == origin.y);
	}
	sides_clear(&sides);
}

static void tangents_are_those_of_all_messages(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++)
		check_tangents(false, 60);
}

static void tangents_hold_on_a_grid(void **state)
{
	(void)state;
	for (int i = 0; i < 4000; i++)
		check_tangents(true, 7);
}

static void slack_is_the_least_distance(void **state)
{
	struct line line = {NOW, NOW / 3, 5, -1e-6};
	struct hull lower = {.upper = false}, upper = {.upper = true};

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAW_TEST(tangents_are_those_of_all_messages),
	    DRAW_TEST(tangents_hold_on_a_grid),
	    cmocka_unit_test(slack_is_the_least_distance),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
