/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "points.h"

TEST(turn_is_exact_where_doubles_are_not)
{
	nsec_t f[90] = {0, 1};

	for (size_t n = 2; n < 90; n++)
		f[n] = f[n - 1] + f[n - 2];
	/* Cassini: F(n)^2 - F(n - 1) F(n + 1) is 1 or -1, whatever their size. */
	for (size_t n = 2; n < 89; n++) {
		struct hull_point a = {NOW, -NOW};
		struct hull_point b = {NOW + f[n], -NOW + f[n - 1]};
		struct hull_point c = {NOW + f[n + 1], -NOW + f[n]};

		assert_int_equal(hull_turn(a, b, c), n % 2 ? 1 : -1);
		assert_int_equal(hull_turn(a, c, b), n % 2 ? -1 : 1);
		assert_int_equal(hull_turn(b, c, a), n % 2 ? 1 : -1);
	}
}

TEST(turn_knows_a_line)
{
	for (int i = 0; i < 1000; i++) {
		nsec_t dx = draw_between(1, 10 * DAY), dy = draw_between(-DAY, DAY);
		nsec_t k = draw_between(2, 300);
		struct hull_point a = {NOW, NOW / 2}, b = {a.x + dx, a.y + dy};
		struct hull_point c = {a.x + k * dx, a.y + k * dy};

		assert_int_equal(hull_turn(a, b, c), 0);
		c.y++;
		assert_int_equal(hull_turn(a, b, c), 1);
		c.y -= 2;
		assert_int_equal(hull_turn(a, b, c), -1);
	}
}

/* Less on the lower hull is more on the upper one. */
static struct hull_point turned(struct hull_point point, bool upper)
{
	return (struct hull_point){point.x, upper ? -point.y : point.y};
}

/*
 * Return true if a point is a corner of the lower hull: nothing stands below it at
 * its x, and every way to it from the left falls more than every way on.
 */
static bool is_corner(const struct points *points, size_t at, bool upper)
{
	struct hull_point p = turned(points->item[at], upper);
	struct slope left = {0, 0}, right = {0, 0};

	for (size_t i = 0; i < points->count; i++) {
		struct hull_point q = turned(points->item[i], upper);

		if (q.x == p.x && q.y < p.y)
			return false;
		if (q.x < p.x && (!left.dx || slope_less(left, slope_of(q, p))))
			left = slope_of(q, p);
		if (q.x > p.x && (!right.dx || slope_less(slope_of(p, q), right)))
			right = slope_of(p, q);
	}
	return !left.dx || !right.dx || slope_less(left, right);
}

/* By definition, for points in order; a corner that came twice counts once. */
static struct points plain_hull(const struct points *points, bool upper)
{
	struct points hull = {mem_alloc(points->count * sizeof(*hull.item)), 0};

	for (size_t i = 0; i < points->count; i++)
		if (is_corner(points, i, upper) &&
		    (!i || points_compare(&points->item[i - 1], &points->item[i])))
			hull.item[hull.count++] = points->item[i];
	return hull;
}

static void assert_corners(const struct hull *hull, const struct points *wanted)
{
	assert_int_equal(hull->count, wanted->count);
	assert_memory_equal(hull->point, wanted->item,
			    wanted->count * sizeof(*wanted->item));
}

/* In any order, settled now and then, and all at once. */
static void check_hull(bool grid, bool upper)
{
	struct points points = draw_points((size_t)draw_between(1, 400), grid, !upper),
		      wanted;
	struct hull hull = {.upper = upper};

	for (size_t i = 0; i < points.count; i++) {
		hull_add(&hull, points.item[i].x, points.item[i].y);
		if (draw_between(0, 99) == 0)
			hull_settle(&hull);
	}
	hull_settle(&hull);
	points_sort(&points);
	wanted = plain_hull(&points, upper);
	assert_corners(&hull, &wanted);
	points.count = hull_reduce(points.item, points.count, upper);
	assert_int_equal(points.count, wanted.count);
	assert_memory_equal(points.item, wanted.item,
			    wanted.count * sizeof(*wanted.item));
	free(points.item);
	free(wanted.item);
	hull_clear(&hull);
}

TEST(corners_are_those_of_the_definition)
{
	for (int i = 0; i < 60; i++)
		check_hull(i % 2, i / 2 % 2);
}

TEST(any_order_gives_the_same)
{
	struct points points = draw_points(20000, false, true);
	struct hull first = {.upper = false}, again = {.upper = false};

	for (size_t i = 0; i < points.count; i++)
		hull_add(&first, points.item[i].x, points.item[i].y);
	hull_settle(&first);
	for (int k = 0; k < 3; k++) {
		points_shuffle(&points);
		hull_reset(&again);
		for (size_t i = 0; i < points.count; i++)
			hull_add(&again, points.item[i].x, points.item[i].y);
		hull_settle(&again);
		hull_settle(&again);
		assert_int_equal(again.count, first.count);
		assert_memory_equal(again.point, first.point,
				    first.count * sizeof(*first.point));
	}
	/* Memory is that of the hull, not of the points. */
	assert_true(again.capacity < 2000);
	free(points.item);
	hull_clear(&first);
	hull_clear(&again);
}

TEST(no_point_lies_outside)
{
	struct points points = draw_points(3000, false, false);
	struct hull hull = {.upper = true};
	size_t k = 0;

	for (size_t i = 0; i < points.count; i++)
		hull_add(&hull, points.item[i].x, points.item[i].y);
	hull_settle(&hull);
	points_sort(&points);
	for (size_t i = 0; i < points.count; i++) {
		while (k + 2 < hull.count && hull.point[k + 1].x <= points.item[i].x)
			k++;
		assert_true(hull_turn(hull.point[k], hull.point[k + 1], points.item[i]) <=
			    0);
	}
	free(points.item);
	hull_clear(&hull);
}

TEST(a_reset_hull_keeps_its_side)
{
	struct hull hull = {.upper = true};

	hull_settle(&hull);
	assert_int_equal(hull.count, 0);
	hull_add(&hull, 1, 1);
	hull_add(&hull, 2, 9);
	hull_reset(&hull);
	hull_settle(&hull);
	assert_int_equal(hull.count, 0);
	hull_add(&hull, 5, 1);
	hull_add(&hull, 5, 2);
	hull_settle(&hull);
	assert_int_equal(hull.count, 1);
	assert_int_equal(hull.point[0].y, 2);
	hull_clear(&hull);
}
