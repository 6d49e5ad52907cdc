/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/error.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void begins_empty(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	assert_string_equal(error_text(&error), "");
	error_clear(&error);
	assert_string_equal(error_text(&error), "");
}

static void places_go_in_front(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	assert_int_equal(error_set(&error, "no %s, want %d", "event", 2), -1);
	assert_int_equal(error_prefix(&error, "ch_%d", 0), -1);
	assert_int_equal(error_prefix(&error, "run/n1"), -1);
	assert_string_equal(error_text(&error), "run/n1: ch_0: no event, want 2");
	error_clear(&error);
}

static void the_last_text_counts(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	error_set(&error, "first");
	/* A text may be made of the one before. */
	error_set(&error, "not the %s", error_text(&error));
	assert_string_equal(error_text(&error), "not the first");
	error_clear(&error);
}

static void errno_is_said_in_words(void **state)
{
	struct error error = ERROR_INIT;

	(void)state;
	errno = ENOENT;
	assert_int_equal(error_errno(&error, "a/b%d"), -1);
	assert_string_equal(error_text(&error), "a/b%d: No such file or directory");
	error_clear(&error);
}

static void it_is_told_once(void **state)
{
	struct error error = ERROR_INIT;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(begins_empty),
	    cmocka_unit_test(places_go_in_front),
	    cmocka_unit_test(the_last_text_counts),
	    cmocka_unit_test(errno_is_said_in_words),
	    cmocka_unit_test(it_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
