/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../svg_check.h"

#include <math.h>

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

TEST(numbers_have_one_decimal)
{
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

TEST(escaping_leaves_nothing_that_is_not_xml)
{
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

TEST(texts_are_cut_in_the_middle)
{
	for (double capacity = 0; capacity < 200; capacity += 7) {
		char *text =
		    svg_text_fit("a-host\xc3\xa9\xc3\xa9-with-a-name", 12, capacity);

		check_utf8(text);
		if (capacity > 20)
			assert_true(svg_text_width(text, 12) <= capacity);
		free(text);
	}
}
