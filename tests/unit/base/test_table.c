/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/table.h"

#include <locale.h>

#include "../scratch.h"

static struct table *sample(const char *long_text)
{
	static const struct table_column columns[] = {
	    {"trace", false}, {"drift", true}, {"quality", false}};
	struct table *table = table_new(columns, 3);
	char text[] = "n0";

	table_add(table, (const char *[]){text, "0", "exact"});
	text[0] = 'x'; /* it was copied */
	table_add(table, (const char *[]){"node-1", "-58.600", long_text});
	return table;
}

static char *print(struct table *table)
{
	FILE *file = fopen("table", "w");

	assert_non_null(file);
	table_print(table, file);
	fclose(file);
	table_free(table);
	return scratch_read("table", NULL);
}

static void numbers_stand_right(void **state)
{
	char *text = print(sample("accurate"));

	(void)state;
	assert_string_equal(text, "trace    drift quality\n"
				  "n0           0 exact\n"
				  "node-1 -58.600 accurate\n");
	free(text);
}

static void no_width_cuts_a_text(void **state)
{
	char *wide = mem_printf("%0500d", 7), *text = print(sample(wide));

	(void)state;
	assert_non_null(strstr(text, wide));
	free(text);
	free(wide);
}

static void what_moves_a_cursor_is_shown(void **state)
{
	static const char *const locales[] = {"C", "C.UTF-8"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *text;

		assert_non_null(setlocale(LC_ALL, locales[i]));
		text = print(sample("a\033[2J\nb\xc2\x9b"
				    "1m\x7f"));
		assert_null(strpbrk(text, "\033\x7f"));
		assert_null(strstr(text, "\xc2\x9b"));
		assert_non_null(
		    strstr(text, "-58.600 a\\x1b[2J\\x0ab\\xc2\\x9b1m\\x7f\n"));
		free(text);
	}
}

static void freeing_nothing_is_fine(void **state)
{
	(void)state;
	table_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SCRATCH_TEST(what_moves_a_cursor_is_shown),
	    SCRATCH_TEST(numbers_stand_right),
	    SCRATCH_TEST(no_width_cuts_a_text),
	    cmocka_unit_test(freeing_nothing_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
