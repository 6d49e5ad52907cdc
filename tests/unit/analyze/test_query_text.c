/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query.h"

#include "../scratch.h"

static void expect_columns(const char *sql, const char *expected)
{
	struct text_list names = {0};
	char all[200] = "";

	sql_columns(sql, &names);
	for (size_t i = 0; i < names.count; i++) {
		strcat(all, names.item[i]);
		strcat(all, " ");
	}
	assert_string_equal(all, expected);
	text_list_clear(&names);
}

static void test_columns(void **unused)
{
	(void)unused;
	expect_columns("SELECT 1 AS one, n.name, \"from\" FROM node AS n",
		       "one name from ");
	expect_columns("WITH a AS (SELECT x FROM y) SELECT max(a.x, 2) AS most, (SELECT "
		       "1 FROM z) AS it -- , no\n FROM a",
		       "most it ");
	expect_columns("SELECT a UNION ALL SELECT b FROM c", "a ");
	expect_columns("SELECT 'x' AS note WHERE 1 = 2", "note ");
	expect_columns("SELECT a", "a ");
	expect_columns("", "");
}

static void test_distribution(void **unused)
{
	char *text = sql_expand("SELECT distribution(s.x), 'distribution(y)' FROM s");

	(void)unused;
	assert_string_equal(
	    text, "SELECT min(s.x) AS min_ns, avg(s.x) AS mean_ns, quantile(s.x, 0.5) AS "
		  "p50_ns, quantile(s.x, 0.95) AS p95_ns, quantile(s.x, 0.99) AS p99_ns, "
		  "max(s.x) AS max_ns, 'distribution(y)' FROM s");
	expect_columns(text,
		       "min_ns mean_ns p50_ns p95_ns p99_ns max_ns 'distribution(y)' ");
	free(text);
	text = sql_expand("SELECT distribution(x");
	assert_string_equal(text, "SELECT distribution(x");
	free(text);
}

static void test_frequency(void **unused)
{
	static const char *const others[] = {"frequency(x)", "frequency()", "frequency(x",
					     "frequency", "distribution"};
	char *text = sql_expand("frequency(x, t WHERE y = 1)");

	(void)unused;
	assert_non_null(strstr(text, "SELECT min(x) AS least, count(*) AS spans FROM  t "
				     "WHERE y = 1 GROUP BY length(x || '')"));
	expect_columns(text, "from_ns to_ns count percent ");
	free(text);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		text = sql_expand(others[i]);
		assert_string_equal(text, others[i]);
		free(text);
	}
}

static void test_words(void **unused)
{
	(void)unused;
	assert_true(sql_has("SELECT a FROM b WHERE c < :end_ns", "b"));
	assert_true(sql_has("SELECT a FROM b WHERE c < :end_ns", ":end_ns"));
	assert_false(sql_has("SELECT a FROM b WHERE c < :end_ns", "end_ns"));
	assert_false(sql_has("SELECT 'b' /* b */ -- b", "b"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_columns),
	    cmocka_unit_test(test_distribution),
	    cmocka_unit_test(test_frequency),
	    cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
