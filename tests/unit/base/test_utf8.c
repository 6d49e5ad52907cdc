/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/utf8.h"

#include <stdlib.h>

#include "../test.h"

TEST(characters_have_their_length)
{
	assert_int_equal(utf8_length("a"), 1);
	assert_int_equal(utf8_length(""), 1);
	assert_int_equal(utf8_length("\xc3\xa9"), 2);
	assert_int_equal(utf8_length("\xe2\x82\xac"), 3);
	assert_int_equal(utf8_length("\xf0\x9f\x90\xa7"), 4);
}

TEST(other_bytes_have_none)
{
	static const char *const none[] = {
	    "\x80",         "\xff",         "\xc3",
	    "\xc3g",        "\xc0\x80",     "\xe0\x9f\xbf",
	    "\xed\xa0\x80", "\xe2\x82",     "\xf0\x8f\xbf\xbf",
	    "\xf0\x9f\x90", "\xf4\x90\x80", "\xf5\x80\x80\x80"};

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(utf8_length(none[i]), 0);
}

TEST(what_is_no_text_is_replaced)
{
	static const char *const pair[][2] = {
	    {"", ""},
	    {"caf\xc3\xa9", "caf\xc3\xa9"},
	    {"\xff", "\xef\xbf\xbd"},
	    {"a\xe2\x82z\xc3", "a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd"},
	};

	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		char *clean = utf8_clean(pair[i][0]);

		assert_string_equal(clean, pair[i][1]);
		free(clean);
	}
}

/* As long as a path can be, and never within a character. */
TEST(long_texts_are_shortened)
{
	char text[UTF8_SHOWN + 3];
	char *shown;

	memset(text, 'a', sizeof(text));
	text[UTF8_SHOWN] = '\0';
	shown = utf8_shorten(text);
	assert_string_equal(shown, text);
	free(shown);
	memcpy(text + UTF8_SHOWN - 1, "\xc3\xa9", 3);
	shown = utf8_shorten(text);
	assert_int_equal(strlen(shown), UTF8_SHOWN - 1 + 3);
	assert_string_equal(shown + UTF8_SHOWN - 2, "a...");
	free(shown);
}

/* Bytes that end where they end, not at a NUL. */
TEST(bytes_are_valid_or_not)
{
	assert_true(utf8_is_valid("", 0));
	assert_true(utf8_is_valid("twelve bytes\0and more", 22));
	assert_true(utf8_is_valid("eight by\xc3\xa9", 10));
	assert_false(utf8_is_valid("eight by\xc3\xa9", 9)); /* cut */
	assert_false(utf8_is_valid("1234567\xff", 8));
	assert_int_equal(utf8_length_within("\xe2\x82\xac", 3), 3);
	assert_int_equal(utf8_length_within("\xe2\x82\xac", 2), 0);
	assert_int_equal(utf8_length_within("", 0), 0);
}

TEST(wide_text_is_valid_or_not)
{
	struct bytes utf8 = {NULL, 0, 0};

	assert_true(utf8_add_wide(&utf8, "\xac\x20", 2, 2, false));
	assert_true(utf8_add_wide(&utf8, "\0\1\xf4\x27", 4, 4, true));
	assert_false(utf8_add_wide(&utf8, "\xd8\x3d\0z", 4, 2, true));
	assert_false(utf8_add_wide(&utf8, "\0\x11\0\0", 4, 4, true));
	assert_false(utf8_add_wide(&utf8, "a", 1, 2, true)); /* cut */
	assert_int_equal(utf8.size, 14);
	assert_memory_equal(
	    utf8.data,
	    "\xe2\x82\xac\xf0\x9f\x90\xa7" UTF8_REPLACEMENT "z" UTF8_REPLACEMENT, 14);
	bytes_clear(&utf8);
}

TEST(what_moves_a_cursor_is_shown)
{
	static const char text[] = "\033[2Jcaf\xc3\xa9 \xe2\x82\xac\n\x7f\xc2\x9b"
				   "1m\xff\xc3";
	char *shown = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&shown, &size);

	utf8_print(file, text);
	fclose(file);
	assert_string_equal(shown, "\\x1b[2Jcaf\xc3\xa9 \xe2\x82\xac\\x0a\\x7f\\xc2\\x9b"
				   "1m\\xff\\xc3");
	free(shown);
}

/* Bidirectional controls, zero-width characters, separators, tags; not what is visible.
 */
TEST(what_reorders_or_hides_text_is_shown)
{
	static const char text[] =
	    "a\u202egpj.exe\u2066\u200b\u061c\ufeff\u00ad\u2028"
	    "\u034f\u3164\ufe0f\U000e0100\U000e0041 \u05d0\u0628\u2026\u20ac";
	char *shown = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&shown, &size);

	utf8_print(file, text);
	fclose(file);
	assert_string_equal(shown, "a\\xe2\\x80\\xaegpj.exe\\xe2\\x81\\xa6"
				   "\\xe2\\x80\\x8b\\xd8\\x9c\\xef\\xbb\\xbf"
				   "\\xc2\\xad\\xe2\\x80\\xa8"
				   "\\xcd\\x8f\\xe3\\x85\\xa4\\xef\\xb8\\x8f"
				   "\\xf3\\xa0\\x84\\x80"
				   "\\xf3\\xa0\\x81\\x81 \u05d0\u0628\u2026\u20ac");
	free(shown);
}
