/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/lp.h"

#include <stdbool.h>
#include <string.h>

#include "../draw.h"

TEST(maximum_of_a_small_program)
{
	/* 3 x + 5 y with x <= 4, 2 y <= 12, 3 x + 2 y <= 18: 36 at (2, 6). */
	struct lp *lp = lp_new(2);

	lp_bound(lp, 0, 0, 4);
	lp_bound(lp, 1, 0, LP_INFINITY);
	lp_row(lp, (struct lp_term[]){{1, -2}}, 1, -12);
	lp_row(lp, (struct lp_term[]){{0, -3}, {1, -2}}, 2, -18);
	lp_objective(lp, 0, 3);
	lp_objective(lp, 1, 5);
	assert_true(lp_maximize(lp));
	assert_true(fabs(lp_value(lp, 0) - 2) < 1e-9);
	assert_true(fabs(lp_value(lp, 1) - 6) < 1e-9);
	lp_free(lp);
}

/* Maximize x or y - x, with y - x <= 1; returns whether that can be. */
static bool maximize_between(const double goal[2], double value[2])
{
	struct lp *lp = lp_new(2);
	bool found;

	lp_row(lp, (struct lp_term[]){{0, 1}, {1, -1}}, 2, -1);
	for (size_t k = 0; k < 2; k++)
		lp_objective(lp, k, goal[k]);
	found = lp_maximize(lp);
	for (size_t k = 0; found && k < 2; k++)
		value[k] = lp_value(lp, k);
	lp_free(lp);
	return found;
}

TEST(nothing_bounds_a_free_column)
{
	double value[2];

	assert_true(maximize_between((double[]){0, 0}, value));
	assert_false(maximize_between((double[]){0, 1}, value));
	assert_true(maximize_between((double[]){-1, 1}, value));
	assert_true(fabs(value[1] - value[0] - 1) < 1e-9);
}

TEST(rows_may_contradict_each_other)
{
	struct lp *lp = lp_new(1);

	lp_row(lp, (struct lp_term[]){{0, 1}}, 1, 1);
	lp_row(lp, (struct lp_term[]){{0, -1}}, 1, -0.5);
	assert_false(lp_maximize(lp));
	lp_free(lp);
	lp_free(NULL);
}

/* A program in the plane: normal * point >= low, one for each row and bound. */
enum { ROWS = 9, POINTS = 100 };

struct plane {
	double normal[ROWS][2], low[ROWS], goal[2];
	size_t rows, bounds; /* bounds are the last ones */
};

static double times(const double a[2], const double b[2])
{
	return a[0] * b[0] + a[1] * b[1];
}

static void plane_draw(struct plane *plane)
{
	memset(plane, 0, sizeof(*plane));
	plane->rows = (size_t)draw_between(1, 7);
	for (size_t i = 0; i < plane->rows; i++) {
		do
			for (int k = 0; k < 2; k++)
				plane->normal[i][k] = (double)draw_between(-4, 4);
		while (plane->normal[i][0] == 0 && plane->normal[i][1] == 0);
		plane->low[i] = (double)draw_between(-9, 4);
	}
	/* Columns of which one has a bound below, the other one above. */
	plane->bounds = (size_t)draw_between(0, 2);
	for (size_t i = 0; i < plane->bounds; i++) {
		plane->normal[plane->rows + i][i] = i ? -1 : 1;
		plane->low[plane->rows + i] = (double)draw_between(-5, 0);
	}
}

static struct lp *plane_program(const struct plane *plane)
{
	struct lp *lp = lp_new(2);

	for (size_t i = 0; i < plane->rows; i++)
		lp_row(lp,
		       (struct lp_term[]){{0, plane->normal[i][0]},
					  {1, plane->normal[i][1]}},
		       2, plane->low[i]);
	if (plane->bounds > 0)
		lp_bound(lp, 0, plane->low[plane->rows], LP_INFINITY);
	if (plane->bounds > 1)
		lp_bound(lp, 1, -LP_INFINITY, -plane->low[plane->rows + 1]);
	return lp;
}

static bool holds(const struct plane *plane, const double point[2])
{
	for (size_t i = 0; i < plane->rows + plane->bounds; i++)
		if (times(plane->normal[i], point) < plane->low[i] - 1e-9)
			return false;
	return true;
}

/* The place in which two lines cross, or that of one that is nearest to the origin. */
static bool meet(const struct plane *plane, size_t i, size_t k, double point[2])
{
	const double *a = plane->normal[i], *b = plane->normal[k];
	double area = a[0] * b[1] - a[1] * b[0];

	if (i == k) {
		for (int n = 0; n < 2; n++)
			point[n] = a[n] * plane->low[i] / times(a, a);
		return true;
	}
	if (area == 0)
		return false;
	point[0] = (plane->low[i] * b[1] - plane->low[k] * a[1]) / area;
	point[1] = (a[0] * plane->low[k] - b[0] * plane->low[i]) / area;
	return true;
}

/* The goal's maximum over all corners; false where there is no point at all. */
static bool plain_maximum(const struct plane *plane, double *most)
{
	size_t n = plane->rows + plane->bounds;
	double point[2];
	bool found = false;

	*most = -INFINITY;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k <= i; k++)
			if (meet(plane, i, k, point) && holds(plane, point)) {
				found = true;
				*most = fmax(*most, times(plane->goal, point));
			}
	return found;
}

/* Return true if the objective improves without end in that direction. */
static bool is_way_out(const struct plane *plane, double x, double y)
{
	const double way[2] = {x, y};

	for (size_t i = 0; i < plane->rows + plane->bounds; i++)
		if (times(plane->normal[i], way) < 0)
			return false;
	return times(plane->goal, way) > 0;
}

static bool is_unbounded(const struct plane *plane)
{
	if (is_way_out(plane, plane->goal[0], plane->goal[1]))
		return true;
	for (size_t i = 0; i < plane->rows + plane->bounds; i++) {
		const double *a = plane->normal[i];

		if (is_way_out(plane, a[0], a[1]) || is_way_out(plane, a[1], -a[0]) ||
		    is_way_out(plane, -a[1], a[0]))
			return true;
	}
	return false;
}

static void check_goal(struct plane *plane)
{
	struct lp *lp = plane_program(plane);
	double most, point[2];

	for (size_t k = 0; k < 2; k++) {
		plane->goal[k] = (double)draw_between(-4, 4);
		lp_objective(lp, k, plane->goal[k]);
	}
	if (!plain_maximum(plane, &most) || is_unbounded(plane)) {
		assert_false(lp_maximize(lp));
		lp_free(lp);
		return;
	}
	assert_true(lp_maximize(lp));
	for (size_t k = 0; k < 2; k++)
		point[k] = lp_value(lp, k);
	assert_true(fabs(times(plane->goal, point) - most) < 1e-7);
	for (size_t i = 0; i < plane->rows + plane->bounds; i++)
		assert_true(times(plane->normal[i], point) > plane->low[i] - 1e-7);
	lp_free(lp);
}

/* Each set of rows with several objectives. */
TEST(maxima_are_those_of_the_corners)
{
	struct plane plane;

	for (int i = 0; i < 500; i++) {
		plane_draw(&plane);
		for (int k = 0; k < 8; k++)
			check_goal(&plane);
	}
}

TEST(the_library_has_a_version)
{
	char *version = lp_library_version();

	assert_memory_equal(version, "GLPK ", 5);
	free(version);
}
