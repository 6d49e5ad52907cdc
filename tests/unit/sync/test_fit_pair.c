/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "points.h"
#include "sync/fit/fit.h"

#define LIMIT 400e-6

/* A pair of two clocks, its messages drawn; some contradict each other. */
static struct pair draw_pair(bool grid)
{
	struct pair pair = {.a = 0, .b = 1, .hulls.upper.upper = true};
	struct points late = draw_points((size_t)draw_between(1, 60), grid, true);
	struct points early = draw_points((size_t)draw_between(1, 60), grid, false);

	for (size_t i = 0; i < late.count; i++)
		hull_add(&pair.hulls.lower, late.item[i].x, late.item[i].y);
	for (size_t i = 0; i < early.count; i++)
		hull_add(&pair.hulls.upper, early.item[i].x, early.item[i].y);
	hull_settle(&pair.hulls.lower);
	hull_settle(&pair.hulls.upper);
	pair.hulls.origin = pair.hulls.lower.point[0];
	free(late.item);
	free(early.item);
	return pair;
}

static void pair_clear(struct pair *pair)
{
	hull_clear(&pair->hulls.lower);
	hull_clear(&pair->hulls.upper);
}

static double slack(const struct pair *pair, const struct line *line)
{
	return fmin(hull_slack(&pair->hulls.lower, line),
		    hull_slack(&pair->hulls.upper, line));
}

/* Another line: anywhere, or near the one that was found. */
static struct line draw_line(const struct pair *pair, double limit)
{
	struct line line = pair->fit.line;
	double scale = pow(10, draw_real(-9, 0));

	line.rate += draw_real(-1, 1) * limit * scale;
	line.rate = fmax(-limit, fmin(limit, line.rate));
	line.offset += draw_real(-1, 1) * 1e6 * scale;
	return line;
}

static void check_margin(const struct pair *pair, double limit)
{
	const struct line *line = &pair->fit.line;

	/* Slacks are exact to what a double holds of them over days. */
	assert_true(fabs(slack(pair, line) - pair->fit.margin_ns) < 0.01);
	assert_true(pair->fit.too_fast || fabs(line->rate) <= limit);
	for (int k = 0; k < 200; k++) {
		struct line other = draw_line(pair, limit);

		assert_true(slack(pair, &other) <= pair->fit.margin_ns + 0.01);
	}
}

TEST(no_line_has_more_slack)
{
	for (int i = 0; i < 200; i++) {
		struct pair pair = draw_pair(false);

		pair.fit = pair_line_or_too_fast(&pair.hulls, LIMIT);
		if (!pair.fit.too_fast)
			check_margin(&pair, LIMIT);
		pair_clear(&pair);
	}
}

TEST(no_line_has_more_slack_on_a_grid)
{
	for (int i = 0; i < 500; i++) {
		struct pair pair = draw_pair(true);

		pair.fit = pair_line_or_too_fast(&pair.hulls, LIMIT);
		if (!pair.fit.too_fast)
			check_margin(&pair, LIMIT);
		pair_clear(&pair);
	}
}

/* Not negative exactly where some line within the limit separates the hulls. */
TEST(the_margin_tells_contradictions)
{
	int contradicted = 0;

	for (int i = 0; i < 500; i++) {
		struct pair pair = draw_pair(false);

		if (i % 2) {
			/* One message that came before it was sent. */
			struct hull_point p =
			    pair.hulls.upper.point[pair.hulls.upper.count / 2];

			hull_add(&pair.hulls.lower, p.x, p.y - draw_between(1, 1000000));
			hull_settle(&pair.hulls.lower);
		}
		pair.fit = pair_line_or_too_fast(&pair.hulls, LIMIT);
		contradicted += pair.fit.margin_ns < 0;
		assert_int_equal(pair.fit.margin_ns < 0, i % 2);
		pair_clear(&pair);
	}
	assert_int_equal(contradicted, 250);
}

TEST(one_direction_is_touched)
{
	for (int i = 0; i < 100; i++) {
		struct pair pair = draw_pair(false);
		struct hull *gone = i % 2 ? &pair.hulls.lower : &pair.hulls.upper;
		const struct hull *left = i % 2 ? &pair.hulls.upper : &pair.hulls.lower;

		hull_reset(gone);
		pair.hulls.origin = left->point[0];
		pair.fit = pair_line_or_too_fast(&pair.hulls, LIMIT);
		assert_true(pair.fit.margin_ns == 0);
		assert_true(fabs(pair.fit.line.rate) <= LIMIT);
		assert_true(fabs(hull_slack(left, &pair.fit.line)) < 0.01);
		pair_clear(&pair);
	}
}

/* A clock that no limit allows is told from messages that contradict. */
TEST(a_clock_too_fast_is_told)
{
	struct pair pair = {.hulls.upper.upper = true};

	for (nsec_t x = 0; x < 100; x++) {
		hull_add(&pair.hulls.lower, x * NSEC_PER_SEC,
			 x * NSEC_PER_SEC + x * NSEC_PER_MSEC + 1000);
		hull_add(&pair.hulls.upper, x * NSEC_PER_SEC,
			 x * NSEC_PER_SEC + x * NSEC_PER_MSEC - 1000);
	}
	hull_settle(&pair.hulls.lower);
	hull_settle(&pair.hulls.upper);
	pair.fit = pair_line_or_too_fast(&pair.hulls, LIMIT);
	assert_true(pair.fit.too_fast);
	assert_true(pair.fit.margin_ns > 0);
	assert_true(fabs(pair.fit.line.rate - 1e-3) < 1e-6);
	pair_clear(&pair);
}

TEST(methods_are_found_by_name)
{
	assert_non_null(fit_method_find("joint"));
	assert_null(fit_method_find("Joint"));
	assert_null(fit_method_find(""));
}
