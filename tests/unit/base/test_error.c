/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

#include "../test.h"

TEST(begins_empty)
{
	struct error error = ERROR_INIT;

	assert_string_equal(error_text(&error), "");
	error_clear(&error);
	assert_string_equal(error_text(&error), "");
}

TEST(places_go_in_front)
{
	struct error error = ERROR_INIT;

	assert_int_equal(error_set(&error, "no %s, want %d", "event", 2), -1);
	assert_int_equal(error_prefix(&error, "ch_%d", 0), -1);
	assert_int_equal(error_prefix(&error, "run/n1"), -1);
	assert_string_equal(error_text(&error), "run/n1: ch_0: no event, want 2");
	error_clear(&error);
}

TEST(the_last_text_counts)
{
	struct error error = ERROR_INIT;

	error_set(&error, "first");
	/* A text may be made of the one before. */
	error_set(&error, "not the %s", error_text(&error));
	assert_string_equal(error_text(&error), "not the first");
	error_clear(&error);
}

TEST(errno_is_said_in_words)
{
	struct error error = ERROR_INIT;

	errno = ENOENT;
	assert_int_equal(error_errno(&error, "a/b%d"), -1);
	assert_string_equal(error_text(&error), "a/b%d: No such file or directory");
	error_clear(&error);
}

TEST(it_is_told_once)
{
	struct error error = ERROR_INIT;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	error_print(&error, "ctx", file);
	error_set(&error, "a: %d%%", 7);
	error_print(&error, "ctx", file);
	assert_null(error.text);
	error_print(&error, "ctx", file);
	assert_int_equal(fclose(file), 0);
	assert_string_equal(text, "ctx: a: 7%\n");
	free(text);
}
