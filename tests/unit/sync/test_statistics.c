/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/regression.h"

#include "base/mem.h"

#include "../draw.h"

enum { MANY = 2000 };

/* y = 3 + 5 x with some scatter, and every tenth far off. */
TEST(outliers_do_not_move_the_line)
{
	double *x = mem_alloc(2 * MANY * sizeof(double));
	double *y = mem_alloc(MANY * sizeof(double)), c[2];

	for (size_t i = 0; i < MANY; i++) {
		double at = draw_real(-1, 1);

		x[2 * i] = 1;
		x[2 * i + 1] = at;
		y[i] = 3 + 5 * at + draw_real(-0.1, 0.1);
		if (i % 10 == 0)
			y[i] += draw_exponential(1000);
	}
	assert_true(statistics_robust(x, y, MANY, 2, c));
	assert_true(fabs(c[0] - 3) < 0.05);
	assert_true(fabs(c[1] - 5) < 0.05);
	free(x);
	free(y);
}

TEST(an_exact_line_is_found)
{
	double x[] = {1, 0, 1, 1, 1, 2, 1, 3}, y[] = {1, 3, 5, 7}, c[2];

	assert_true(statistics_robust(x, y, 4, 2, c));
	assert_true(fabs(c[0] - 1) < 1e-9 && fabs(c[1] - 2) < 1e-9);
}

TEST(columns_that_are_one_give_no_line)
{
	double x[] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, y[] = {1, 2, 3, 4, 5};
	double c[2] = {NAN, NAN};

	/* Either is fine, as long as nobody is given what is no number. */
	if (statistics_robust(x, y, 5, 2, c))
		assert_true(isfinite(c[0]) && isfinite(c[1]));
}

/* A chain of unknowns, each difference known, the first one stated. */
TEST(sparse_rows_are_solved)
{
	enum { N = 50 };
	struct least_squares *squares = least_squares_new(N);
	double unknown[N];

	least_squares_add(squares, (struct lp_term[]){{0, 2}}, 1, 14, 3);
	for (size_t i = 1; i < N; i++)
		least_squares_add(squares, (struct lp_term[]){{i - 1, -1}, {i, 1}}, 2,
				  (double)i, 1);
	assert_true(least_squares_solve(squares, unknown));
	for (size_t i = 0; i < N; i++)
		assert_true(fabs(unknown[i] - 7 - (double)(i * (i + 1) / 2)) < 1e-6);
	least_squares_free(squares);
}

/* The mean of two words goes by the squares of their weights. */
TEST(weights_count)
{
	struct least_squares *squares = least_squares_new(1);
	double unknown;

	least_squares_add(squares, (struct lp_term[]){{0, 1}}, 1, 10, 1);
	least_squares_add(squares, (struct lp_term[]){{0, 1}}, 1, 20, 3);
	assert_true(least_squares_solve(squares, &unknown));
	assert_true(fabs(unknown - 19) < 1e-12);
	least_squares_free(squares);
}

TEST(what_nobody_states_is_not_found)
{
	struct least_squares *squares = least_squares_new(2);
	double unknown[2];

	least_squares_add(squares, (struct lp_term[]){{0, -1}, {1, 1}}, 2, 5, 1);
	assert_false(least_squares_solve(squares, unknown));
	least_squares_free(squares);
}
