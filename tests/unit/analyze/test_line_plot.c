/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/line_plot.h"

#include <math.h>

#include "../svg_check.h"
#include "base/mem.h"

static char *draw(const struct line_plot *plot)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	line_plot_draw(plot, file);
	fclose(file);
	check_svg(text);
	return text;
}

static void test_a_line_a_series(void **unused)
{
	struct line_plot plot = {
	    .title = "a < b & \"c\"", .unit = "MiB/s", .end_ns = 10 * NSEC_PER_SEC};
	char *text;

	(void)unused;
	for (int i = 0; i <= 10; i++) {
		line_series_add(line_plot_series(&plot, "n1"), i * NSEC_PER_SEC, i);
		line_series_add(line_plot_series(&plot, "<n2>"), i * NSEC_PER_SEC,
				10 - i);
	}
	assert_int_equal(plot.count, 2);
	text = draw(&plot);
	assert_has(text, "a &lt; b &amp;");
	assert_has(text, "&lt;n2&gt;");
	assert_has(text, line_plot_colour(0));
	assert_has(text, line_plot_colour(1));
	free(text);
	line_plot_clear(&plot);
}

/* A point every second, none for a minute, and one that is no number. */
static void test_gaps_break_lines(void **unused)
{
	struct line_plot plot = {.title = "", .unit = "", .end_ns = 100 * NSEC_PER_SEC};
	struct line_series *series = line_plot_series(&plot, "n1");
	char *whole, *broken;
	size_t lines;

	(void)unused;
	for (int i = 0; i < 20; i++)
		line_series_add(series, i * NSEC_PER_SEC,
				i == 5 ? (double)NAN : (double)i);
	whole = draw(&plot);
	lines = occurrences(whole, "<path"); /* two: what is no number breaks it, too */
	for (int i = 80; i < 100; i++)
		line_series_add(series, i * NSEC_PER_SEC, 1);
	broken = draw(&plot);
	assert_int_equal(occurrences(broken, "<path"), lines + 1);
	free(whole);
	free(broken);
	line_plot_clear(&plot);
}

/* A day of samples is drawn by what the picture can show; extremes stay. */
static void test_many_points_are_reduced(void **unused)
{
	struct line_plot plot = {
	    .title = "", .unit = "", .end_ns = 86400 * NSEC_PER_SEC, .most = 100};
	struct line_series *series = line_plot_series(&plot, "n1");
	char *text;

	(void)unused;
	for (int i = 0; i < 86400; i++)
		line_series_add(series, i * NSEC_PER_SEC, i == 43210 ? 100 : 1 + i % 2);
	text = draw(&plot);
	assert_true(strlen(text) < 40000);
	assert_has(text, " 58L"); /* the top of the axis */
	free(text);
	line_plot_clear(&plot);
}

/* A value is level from the point before it up to its own. */
static void test_values_are_steps(void **unused)
{
	struct line_plot plot = {
	    .title = "", .unit = "", .end_ns = 4 * NSEC_PER_SEC, .most = 100};
	struct line_series *series = line_plot_series(&plot, "n1");
	char *text;

	(void)unused;
	for (int i = 1; i <= 4; i++)
		line_series_add(series, i * NSEC_PER_SEC, i % 2 ? 100 : 0);
	text = draw(&plot);
	assert_has(text, "M76 58L291 58L291 358L506 358L506 58L721 58L721 358L936 358");
	free(text);
	line_plot_clear(&plot);
}

static void test_nothing_to_draw(void **unused)
{
	struct line_plot plot = {.title = "", .unit = ""};

	(void)unused;
	free(draw(&plot));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_line_a_series),
	    cmocka_unit_test(test_gaps_break_lines),
	    cmocka_unit_test(test_many_points_are_reduced),
	    cmocka_unit_test(test_values_are_steps),
	    cmocka_unit_test(test_nothing_to_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
