/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_picked(struct name_set *set, const char *wanted, const char *companion,
			  const char *picked)
{
	char *name = name_pick(set, wanted, companion);

	assert_string_equal(name, picked);
	assert_false(name_reserve(set, name));
	free(name);
}

static void names_that_differ_by_case_clash(void **state)
{
	struct name_set set = {0};

	(void)state;
	assert_picked(&set, "Foo", "", "Foo");
	assert_picked(&set, "foo", "", "foo_2");
	assert_picked(&set, "FOO", "", "FOO_3");
	assert_picked(&set, "FOO_2", "", "FOO_2_2");
	/* SQLite folds ASCII only. */
	assert_picked(&set, "\xc3\xa9", "", "\xc3\xa9");
	assert_picked(&set, "\xc3\x89", "", "\xc3\x89");
	assert_picked(&set, "[", "", "[");
	assert_picked(&set, "{", "", "{");
	name_clear(&set);
}

static void companions_are_taken_as_well(void **state)
{
	struct name_set set = {0};

	(void)state;
	assert_picked(&set, "a", "_v", "a");
	assert_false(name_reserve(&set, "A_V"));
	assert_picked(&set, "a_v", "_v", "a_v_2");
	assert_picked(&set, "b_v", "_v", "b_v");
	assert_picked(&set, "b", "_v", "b_2");
	name_clear(&set);
}

static void what_is_no_name_becomes_one(void **state)
{
	struct name_set set = {0};

	(void)state;
	assert_picked(&set, "", "", "unnamed");
	assert_picked(&set, "", "", "unnamed_2");
	assert_picked(&set, "a\xff", "", "a\xef\xbf\xbd");
	assert_picked(&set, "a\xfe", "", "a\xef\xbf\xbd_2");
	name_clear(&set);
}

static void many_names_are_told_apart(void **state)
{
	struct name_set set = {0};
	char name[32];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		assert_true(name_reserve(&set, name));
	}
	for (int i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "NAME%d", i);
		assert_false(name_reserve(&set, name));
	}
	name_clear(&set);
}

static void quotes_are_doubled(void **state)
{
	static const char *const pair[][2] = {{"", "\"\""},
					      {"a", "\"a\""},
					      {"a\"; DROP", "\"a\"\"; DROP\""},
					      {"\"\"", "\"\"\"\"\"\""}};

	(void)state;
	for (size_t i = 0; i < sizeof(pair) / sizeof(pair[0]); i++) {
		char *quoted = name_quote(pair[i][0]);

		assert_string_equal(quoted, pair[i][1]);
		free(quoted);
	}
}

static void table_is(struct name_set *names, const char *class, const char *table)
{
	char *name = name_table(names, class);

	assert_string_equal(name, table);
	free(name);
}

static void sqlite_keeps_its_names(void **state)
{
	struct name_set names = {0};

	(void)state;
	table_is(&names, "sqlite_master", "event_sqlite_master");
	table_is(&names, "SQLite_x", "event_SQLite_x");
	table_is(&names, "sqlite", "sqlite");
	table_is(&names, "my_sqlite_x", "my_sqlite_x");
	table_is(&names, "sqlite_v", "event_sqlite_v");
	table_is(&names, "Pragma_table_info", "event_Pragma_table_info");
	table_is(&names, "json_each", "event_json_each");
	table_is(&names, "json_each_v", "json_each_v");
	table_is(&names, "Sqlite", "Sqlite_2");
	name_clear(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_that_differ_by_case_clash),
	    cmocka_unit_test(companions_are_taken_as_well),
	    cmocka_unit_test(what_is_no_name_becomes_one),
	    cmocka_unit_test(many_names_are_told_apart),
	    cmocka_unit_test(quotes_are_doubled),
	    cmocka_unit_test(sqlite_keeps_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
