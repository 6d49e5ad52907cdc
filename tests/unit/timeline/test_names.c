/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/names.h"

#include <stdio.h>
#include <stdlib.h>

#include "../test.h"

static void assert_picked(struct name_set *set, const char *wanted, const char *companion,
			  const char *picked)
{
	char *name = name_pick(set, wanted, companion);

	assert_string_equal(name, picked);
	assert_false(name_reserve(set, name));
	free(name);
}

TEST(names_that_differ_by_case_clash)
{
	struct name_set set = {0};

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

TEST(companions_are_taken_as_well)
{
	struct name_set set = {0};

	assert_picked(&set, "a", "_v", "a");
	assert_false(name_reserve(&set, "A_V"));
	assert_picked(&set, "a_v", "_v", "a_v_2");
	assert_picked(&set, "b_v", "_v", "b_v");
	assert_picked(&set, "b", "_v", "b_2");
	name_clear(&set);
}

TEST(what_is_no_name_becomes_one)
{
	struct name_set set = {0};

	assert_picked(&set, "", "", "unnamed");
	assert_picked(&set, "", "", "unnamed_2");
	assert_picked(&set, "a\xff", "", "a\xef\xbf\xbd");
	assert_picked(&set, "a\xfe", "", "a\xef\xbf\xbd_2");
	name_clear(&set);
}

TEST(many_names_are_told_apart)
{
	struct name_set set = {0};
	char name[32];

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

TEST(quotes_are_doubled)
{
	static const char *const pair[][2] = {{"", "\"\""},
					      {"a", "\"a\""},
					      {"a\"; DROP", "\"a\"\"; DROP\""},
					      {"\"\"", "\"\"\"\"\"\""}};

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

TEST(sqlite_keeps_its_names)
{
	struct name_set names = {0};

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
