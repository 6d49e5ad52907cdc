/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../svg_check.h"

#include <math.h>

#include "base/plot_axis.h"
#include "base/svg.h"

static void assert_number(double value, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	svg_number(file, value);
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
}

static void numbers_have_one_decimal(void **state)
{
	(void)state;
	assert_number(0, "0");
	assert_number(-0.04, "0");
	assert_number(-0.06, "-0.1");
	assert_number(12.0, "12");
	assert_number(12.34, "12.3");
	assert_number(-7.96, "-8");
	assert_number(NAN, "0");
	assert_number(INFINITY, "1000000");
	assert_number(-1e300, "-1000000");
}

static void assert_escaped(const char *from, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	svg_escape(file, from);
	fclose(file);
	assert_string_equal(text, expected);
	free(text);
}

#define LOST "\xef\xbf\xbd"

static void escaping_leaves_nothing_that_is_not_xml(void **state)
{
	(void)state;
	assert_escaped("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;");
	assert_escaped("\t\x1b\x7f", "\t" LOST LOST);
	assert_escaped("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
		       "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
	assert_escaped("\xc0\xaf", LOST LOST);                   /* overlong */
	assert_escaped("\xed\xa0\x80", LOST LOST LOST);          /* a surrogate */
	assert_escaped("\xef\xbf\xbf", LOST LOST LOST);          /* no character */
	assert_escaped("\xf4\x90\x80\x80", LOST LOST LOST LOST); /* past the last */
	assert_escaped("\xe2\x82", LOST LOST);                   /* cut short */
}

static void texts_are_cut_in_the_middle(void **state)
{
	(void)state;
	for (double room = 0; room < 200; room += 7) {
		char *text = svg_text_fit("a-host\xc3\xa9\xc3\xa9-with-a-name", 12, room);

		check_utf8(text);
		if (room > 20)
			assert_true(svg_text_width(text, 12) <= room);
		free(text);
	}
}

static void lines_break_between_words(void **state)
{
	const char *text = "one two three";

	(void)state;
	assert_int_equal(svg_text_break(text, 10, 1000), 13);
	assert_int_equal(svg_text_break(text, 10, svg_text_width("one two t", 10)), 8);
	assert_int_equal(svg_text_break("abcdef", 10, svg_text_width("abc", 10)), 3);
	assert_int_equal(svg_text_break("\xc3\xa9x", 10, 0), 2);
	assert_int_equal(svg_text_break("", 10, 0), 0);
}

static void assert_ticks(const struct plot_axis *axis, const double *expected,
			 size_t count)
{
	double tick[PLOT_TICKS];

	assert_int_equal(plot_axis_ticks(axis, 6, tick), count);
	for (size_t i = 0; i < count; i++)
		assert_true(fabs(tick[i] - expected[i]) < 1e-9);
}

static void ticks_are_round(void **state)
{
	static const double tens[] = {-10, 0, 10, 20, 30, 40};
	static const double decades[] = {0, 100, -100, 1000, 10000};
	struct plot_axis axis;

	(void)state;
	plot_axis_open(&axis, -12, 41);
	assert_ticks(&axis, tens, COUNT(tens));
	plot_axis_open(&axis, -300, 20000);
	axis.threshold = 100;
	assert_ticks(&axis, decades, COUNT(decades));
}

static void axis_bends_at_its_threshold(void **state)
{
	struct plot_axis axis;

	(void)state;
	plot_axis_open(&axis, -1000, 1000);
	axis.to = 400;
	assert_true(fabs(plot_axis_at(&axis, 500) - 300) < 1e-9);
	axis.threshold = 100;
	assert_true(fabs(plot_axis_at(&axis, 0) - 200) < 1e-9);
	assert_true(fabs(plot_axis_at(&axis, 50) - 250) < 1e-9);
	assert_true(fabs(plot_axis_at(&axis, 100) - 300) < 1e-9);
	assert_true(fabs(plot_axis_at(&axis, -1000) - 0) < 1e-9);
}

static void axis_has_a_width(void **state)
{
	static const double at[] = {0, 1, -1e15, 1e15, 1e-300};
	struct plot_axis axis;
	double tick[PLOT_TICKS];

	(void)state;
	for (size_t i = 0; i < COUNT(at); i++) {
		plot_axis_open(&axis, at[i], at[i]);
		assert_true(axis.low < axis.high);
		assert_true(plot_axis_ticks(&axis, 6, tick) < PLOT_TICKS);
	}
}

static void labels_have_units(void **state)
{
	char text[PLOT_LABEL];

	(void)state;
	assert_string_equal(plot_label_count(text, 0), "0");
	assert_string_equal(plot_label_count(text, 999), "999");
	assert_string_equal(plot_label_count(text, 1234567), "1,234,567");
	assert_string_equal(plot_label_number(text, -0.0, 0.5), "0.0");
	assert_string_equal(plot_label_number(text, 2.5, 0.5), "2.5");
	assert_string_equal(plot_label_tick(text, 1500, 2000, 500), "1.5 ms");
	assert_string_equal(plot_label_tick(text, 0, 2000, 500), "0");
	assert_string_equal(plot_label_span(text, 0.0123), "12.3 ns");
	assert_string_equal(plot_label_span(text, 102.4), "102 \xc2\xb5s");
	assert_string_equal(plot_label_span(text, 999.9), "1.00 ms");
	assert_string_equal(plot_label_span(text, 2.5e6), "2.50 s");
	assert_string_equal(plot_label_bound(text, 258.1), "\xc2\xb1"
							   "259 \xc2\xb5s");
	assert_string_equal(plot_label_bound(text, 258), "\xc2\xb1"
							 "258 \xc2\xb5s");
	assert_string_equal(plot_label_bound(text, 0), "\xc2\xb1"
						       "0 ns");
	assert_string_equal(plot_label_bound(text, -1), "no bound");
	assert_string_equal(plot_label_bound(text, NAN), "no bound");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_have_one_decimal),
	    cmocka_unit_test(escaping_leaves_nothing_that_is_not_xml),
	    cmocka_unit_test(texts_are_cut_in_the_middle),
	    cmocka_unit_test(lines_break_between_words),
	    cmocka_unit_test(ticks_are_round),
	    cmocka_unit_test(axis_bends_at_its_threshold),
	    cmocka_unit_test(axis_has_a_width),
	    cmocka_unit_test(labels_have_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
