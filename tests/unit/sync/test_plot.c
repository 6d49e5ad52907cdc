/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../scratch.h"
#include "../svg_check.h"

#include <math.h>

#include "sync/plot/plot.h"

#define SERIES(array)                                                                    \
	(struct chart_series)                                                            \
	{                                                                                \
		array, COUNT(array)                                                      \
	}

static char *draw_pair(const struct plot_pair *pair)
{
	struct error error = ERROR_INIT;
	char *text;

	assert_int_equal(plot_pair_write(pair, "pair.svg", &error), 0);
	assert_int_equal(files_here(), 1);
	text = scratch_read("pair.svg", NULL);
	unlink("pair.svg");
	return text;
}

/* A small pair, of which each test changes what it is about. */
static const struct chart_point ab[] = {
    {0, 500}, {1, 120}, {2, 3000}, {3, 140}, {4, 75000}};
static const struct chart_point ba[] = {{0.5, -130}, {1.5, -900}, {2.5, -125}};
static const struct chart_point hull_ab[] = {{0, 500}, {1, 120}, {3, 140}, {4, 75000}};
static const struct chart_point hull_ba[] = {{0.5, -130}, {2.5, -125}};
static const struct chart_point low[] = {{0, -131}, {2, -126}, {4, -140}};
static const struct chart_point high[] = {{0, 125}, {2, 130}, {4, 160}};

static struct plot_pair sample_pair(void)
{
	return (struct plot_pair){
	    .a = "n0",
	    .b = "n1",
	    .caption = "offset 1.5 s, accurate",
	    .side = {{SERIES(ab), COUNT(ab), SERIES(hull_ab), SERIES(high)},
		     {SERIES(ba), COUNT(ba), SERIES(hull_ba), SERIES(low)}},
	};
}

TEST(pair_has_what_it_shows)
{
	const struct plot_pair pair = sample_pair();
	char *text = draw_pair(&pair);

	check_svg(text);
	assert_has(text, "<title>n0 - n1</title>");
	assert_has(text, ">offset 1.5 s, accurate</text>");
	assert_has(text, ">n0 \xe2\x86\x92 n1: 5 messages</text>");
	assert_has(text, ">n1 \xe2\x86\x92 n0: 3 messages</text>");
	assert_has(text, ": 4 corners</text>");
	assert_has(text, ": 2 corners</text>");
	assert_has(text, ">bound of the fit</text>");
	assert_lacks(text, "break");
	assert_lacks(text, "drawn");
	free(text);
}

TEST(pair_counts_what_is_beyond_the_frame)
{
	const struct plot_pair pair = sample_pair();
	char *text = draw_pair(&pair);

	/* All above 280 and below -250, twice the middle corners of the hulls. */
	assert_has(text, ">3 messages further up</text>");
	assert_has(text, ">1 message further down</text>");
	free(text);
}

TEST(pair_says_that_it_is_a_sample)
{
	struct plot_pair pair = sample_pair();
	char *text;

	pair.side[0].messages = 1234567;
	text = draw_pair(&pair);
	assert_has(text, ": 1,234,567 messages, 5 drawn</text>");
	free(text);
}

TEST(pair_shows_what_breaks_the_fit)
{
	const struct chart_point bad_ab[] = {{1, 100}, {2, -40}, {3, -0.0001}};
	const struct chart_point bad_ba[] = {{1, -100}, {2, 5e6}, {3, 0.6}};
	struct plot_pair pair = sample_pair();
	char *text;

	pair.side[0].drawn = SERIES(bad_ab);
	text = draw_pair(&pair);
	check_svg(text);
	assert_has(text, ">1 message breaks the fit</text>");
	free(text);
	pair.side[1].drawn = SERIES(bad_ba);
	text = draw_pair(&pair);
	check_svg(text);
	assert_has(text, ">3 messages break the fit</text>");
	free(text);
}

TEST(names_are_escaped)
{
	struct plot_pair pair = sample_pair();
	char *text;

	pair.a = "<a & \"b\">";
	pair.b = "it's\x01\xff\xc3";
	pair.caption = "]]> &amp; \xed\xa0\x80 \xc3\xa9";
	text = draw_pair(&pair);
	check_svg(text);
	assert_has(text, "&lt;a &amp; &quot;b&quot;&gt;");
	assert_has(text, "it&#39;s\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_has(text, "]]&gt; &amp;amp; ");
	assert_has(text, "\xc3\xa9");
	free(text);
}

TEST(long_names_are_cut)
{
	struct plot_pair pair = sample_pair();
	char name[3001], caption[3001];
	char *text;

	for (size_t i = 0; i < 3000; i += 2)
		memcpy(name + i, "\xc3\xa9", 2);
	name[3000] = '\0';
	memset(caption, 'x', 3000);
	caption[3000] = '\0';
	pair.a = pair.b = name;
	pair.caption = caption;
	text = draw_pair(&pair);
	check_svg(text);
	assert_has(text, "\xc3\xa9\xe2\x80\xa6\xc3\xa9");
	assert_lacks(text, "\xef\xbf\xbd");
	free(text);
}

static void check_shape(struct plot_pair pair, const struct chart_series *one,
			const struct chart_series *two)
{
	char *text;

	pair.side[0] = (struct plot_side){*one, one->count, *one, *one};
	pair.side[1] = (struct plot_side){*two, two->count, *two, *two};
	text = draw_pair(&pair);
	check_svg(text);
	if (one->count + two->count == 0)
		assert_has(text, ">no messages</text>");
	free(text);
}

TEST(any_input_makes_a_picture)
{
	static const struct chart_point point[] = {{7, 3}};
	static const struct chart_point zero[] = {{0, 0}, {0, 0}, {1, 0}};
	static const struct chart_point upright[] = {{5, 1}, {5, 2}, {5, -3}, {5, 1e9}};
	static const struct chart_point late[] = {{1e9, 1}, {1e9 + 1e-9, 2}};
	static const struct chart_point huge[] = {{-9e9, 1}, {1, 1e14}, {9e9, -9e15}};
	static const struct chart_point far[] = {{-1e14, -1e14}, {1e14, 1e14}};
	static const struct chart_point tiny[] = {{1e-12, 1e-12}, {2e-12, -1e-12}};
	static const struct chart_point mess[] = {{4, 4}, {2, 1e6}, {3, -7}, {1, 0}};
	const struct chart_series shape[] = {
	    {NULL, 0},    SERIES(point), SERIES(zero), SERIES(upright), SERIES(late),
	    SERIES(huge), SERIES(far),   SERIES(tiny), SERIES(mess)};
	struct plot_pair pair = sample_pair();

	pair.caption = NULL;
	for (size_t i = 0; i < COUNT(shape); i++)
		for (size_t k = 0; k < COUNT(shape); k++)
			check_shape(pair, &shape[i], &shape[k]);
}

/* Delays with a long tail, from a generator that is the same everywhere. */
static void make_messages(struct chart_point *point, size_t count, double sign)
{
	uint32_t state = 20260101;

	for (size_t i = 0; i < count; i++) {
		state = state * 1664525 + 1013904223;
		point[i].x = (double)i * 0.003;
		point[i].y =
		    sign * (110 - 900 * log(1 - (double)(state >> 8) / 16777216));
	}
}

TEST(many_messages_make_a_small_file)
{
	const size_t count = 20000;
	struct chart_point *up = mem_alloc(count * sizeof(*up));
	struct chart_point *down = mem_alloc(count * sizeof(*down));
	struct plot_pair pair = sample_pair();
	char *text, *again;

	make_messages(up, count, 1);
	make_messages(down, count, -1);
	pair.side[0].drawn = (struct chart_series){up, count};
	pair.side[1].drawn = (struct chart_series){down, count};
	pair.side[0].messages = pair.side[1].messages = count;
	text = draw_pair(&pair);
	again = draw_pair(&pair);
	check_svg(text);
	assert_string_equal(text, again);
	assert_true(strlen(text) < 300000);
	assert_has(text, ": 20,000 messages</text>");
	free(text);
	free(again);
	free(up);
	free(down);
}

TEST(failure_leaves_nothing)
{
	const struct plot_pair pair = sample_pair();
	struct error error = ERROR_INIT;

	assert_int_equal(plot_pair_write(&pair, "missing/pair.svg", &error), -1);
	assert_has(error_text(&error), "missing/pair.svg: No such file");
	assert_int_equal(files_here(), 0);

	assert_int_equal(mkdir("taken", 0700), 0);
	assert_int_equal(plot_pair_write(&pair, "taken", &error), -1);
	assert_has(error_text(&error), "taken: ");
	assert_int_equal(files_here(), 1);
	assert_int_equal(rmdir("taken"), 0);
	error_clear(&error);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
