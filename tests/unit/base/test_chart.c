/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../svg_check.h"

#include <math.h>

#include "base/chart.h"

static void assert_ticks(const struct chart_axis *axis, const double *expected,
			 size_t count)
{
	double tick[CHART_TICKS];

	assert_int_equal(chart_axis_ticks(axis, 6, tick), count);
	for (size_t i = 0; i < count; i++)
		assert_true(fabs(tick[i] - expected[i]) < 1e-9);
}

TEST(ticks_are_round)
{
	static const double tens[] = {-10, 0, 10, 20, 30, 40};
	struct chart chart = {.frame = {0, 0, 400, 200}};
	struct chart_axis axis;

	chart_axis_open(&axis, -12, 41);
	assert_ticks(&axis, tens, COUNT(tens));
	chart_axis_open(&chart.x, -1000, 1000);
	chart_axis_open(&chart.y, 0, 4);
	assert_true(fabs(chart_at(&chart, (struct chart_point){500, 3}).x - 300) < 1e-9);
	assert_true(fabs(chart_at(&chart, (struct chart_point){500, 3}).y - 50) < 1e-9);
}

TEST(axis_has_a_width)
{
	static const double at[] = {0, 1, -1e15, 1e15, 1e-300};
	struct chart_axis axis;
	double tick[CHART_TICKS];

	for (size_t i = 0; i < COUNT(at); i++) {
		chart_axis_open(&axis, at[i], at[i]);
		assert_true(axis.low < axis.high);
		assert_true(chart_axis_ticks(&axis, 6, tick) < CHART_TICKS);
	}
}

TEST(labels_have_units)
{
	char text[CHART_LABEL];

	assert_string_equal(chart_label_count(text, 0), "0");
	assert_string_equal(chart_label_count(text, 999), "999");
	assert_string_equal(chart_label_count(text, 1234567), "1,234,567");
	assert_string_equal(chart_label_number(text, -0.0, 0.5), "0.0");
	assert_string_equal(chart_label_number(text, 2.5, 0.5), "2.5");
	assert_string_equal(chart_label_tick(text, 1500, 2000, 500), "1.5 ms");
	assert_string_equal(chart_label_tick(text, 0, 2000, 500), "0");
	assert_string_equal(chart_label_bound(text, 0.0123), "\xc2\xb1"
							     "12.3 ns");
	assert_string_equal(chart_label_bound(text, 1251), "\xc2\xb1"
							   "1.26 ms");
	assert_string_equal(chart_label_bound(text, 258.1), "\xc2\xb1"
							    "259 \xc2\xb5s");
	assert_string_equal(chart_label_bound(text, 258), "\xc2\xb1"
							  "258 \xc2\xb5s");
	assert_string_equal(chart_label_bound(text, 0), "\xc2\xb1"
							"0 ns");
	assert_string_equal(chart_label_bound(text, -1), "no bound");
	assert_string_equal(chart_label_bound(text, NAN), "no bound");
}

/* Steps in a frame of 1000 by 100 pixels that shows 0 to 100 s and 0 to 10. */
static char *draw_steps(const struct chart_step *step, size_t count)
{
	struct chart chart = {.frame = {0, 0, 1000, 100}};
	char *text = NULL;
	size_t size;

	chart.file = open_memstream(&text, &size);
	chart_axis_open(&chart.x, 0, 100);
	chart_axis_open(&chart.y, 0, 10);
	chart_steps(&chart, step, count, "stroke=\"red\"");
	fclose(chart.file);
	return text;
}

/* A value is level over its interval, of which the first may begin before the axis. */
TEST(values_are_steps)
{
	static const struct chart_step step[] = {
	    {-1, 1, 10}, {1, 2, 0}, {2.2, 3, 10}, {3, 4, 0}};
	char *text = draw_steps(step, COUNT(step));

	assert_has(text, "M0 0L10 0L10 100L20 100L20 0L30 0L30 100L40 100");
	free(text);
}

TEST(gaps_break_lines)
{
	struct chart_step step[40];
	char *text;

	for (int i = 0; i < 40; i++)
		step[i] = (struct chart_step){i, i + 1, i == 5 ? (double)NAN : i % 10};
	text = draw_steps(step, 20);
	assert_int_equal(occurrences(text, "<path"), 2); /* what is no number */
	free(text);
	for (int i = 20; i < 40; i++)
		step[i] = (struct chart_step){i + 50, i + 51, 1};
	text = draw_steps(step, 40);
	assert_int_equal(occurrences(text, "<path"), 3);
	assert_null(strstr(text, "nan"));
	free(text);
	text = draw_steps(step, 0);
	assert_int_equal(occurrences(text, "<path"), 0);
	free(text);
}

/* More steps than pixels: the extremes stay. */
TEST(many_steps_are_reduced)
{
	enum { STEPS = 86400 };
	struct chart_step *step = mem_alloc(STEPS * sizeof(*step));
	char *text;

	for (int i = 0; i < STEPS; i++)
		step[i] = (struct chart_step){i * 100.0 / STEPS, (i + 1) * 100.0 / STEPS,
					      i == 43210 ? 10 : 1 + i % 2};
	text = draw_steps(step, STEPS);
	assert_true(strlen(text) < 40000);
	assert_has(text, " 0L");
	free(text);
	free(step);
}
