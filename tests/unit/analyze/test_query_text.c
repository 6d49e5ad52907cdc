/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query_file.h"
#include "analyze/query_text.h"

#include "base/bytes.h"
#include "base/mem.h"

#include "../draw.h"
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

TEST(test_columns)
{
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

TEST(test_distribution)
{
	char *text = sql_expand("SELECT distribution(s.x), 'distribution(y)' FROM s");

	assert_string_equal(
	    text, "SELECT min(s.x) AS min_ns, avg(s.x) AS mean_ns, quantile(s.x, 0.5) AS "
		  "p50_ns, quantile(s.x, 0.95) AS p95_ns, quantile(s.x, 0.99) AS p99_ns, "
		  "max(s.x) AS max_ns, 'distribution(y)' FROM s");
	expect_columns(text,
		       "min_ns mean_ns p50_ns p95_ns p99_ns max_ns 'distribution(y)' ");
	free(text);
	text = sql_expand("distribution(coalesce(x, y) /* ) */ - (z))");
	assert_string_equal(
	    text, "min(coalesce(x, y) /* ) */ - (z)) AS min_ns, avg(coalesce(x, y) /* ) "
		  "*/ - (z)) AS mean_ns, quantile(coalesce(x, y) /* ) */ - (z), 0.5) AS "
		  "p50_ns, quantile(coalesce(x, y) /* ) */ - (z), 0.95) AS p95_ns, "
		  "quantile(coalesce(x, y) /* ) */ - (z), 0.99) AS p99_ns, "
		  "max(coalesce(x, y) /* ) */ - (z)) AS max_ns");
	free(text);
	text = sql_expand("SELECT distribution(x");
	assert_string_equal(text, "SELECT distribution(x");
	free(text);
	text = sql_expand("SELECT thread_group(s, t), s.x FROM s");
	expect_columns(text, "node tid thread pid comm process x ");
	free(text);
}

TEST(test_frequency)
{
	static const char *const others[] = {"frequency(x)", "frequency()", "frequency(x",
					     "frequency", "distribution"};
	char *text = sql_expand("frequency(x, t WHERE y = 1)");

	assert_non_null(strstr(text, "SELECT min(x) AS least, count(*) AS spans FROM t "
				     "WHERE y = 1 GROUP BY length(x || '')"));
	expect_columns(text, "from_ns to_ns count percent ");
	free(text);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		text = sql_expand(others[i]);
		assert_string_equal(text, others[i]);
		free(text);
	}
}

TEST(test_words)
{
	assert_true(sql_has("SELECT a FROM b WHERE c < :end_ns", "b"));
	assert_true(sql_has("SELECT a FROM b WHERE c < :end_ns", ":end_ns"));
	assert_false(sql_has("SELECT a FROM b WHERE c < :end_ns", "end_ns"));
	assert_false(sql_has("SELECT 'b' /* b */ -- b", "b"));
}

/* <sqlite3.h> is for lib/timeline alone. */
int sqlite3_complete(const char *sql);

/* Pieces of which texts are drawn: all that begins, ends or escapes something anywhere.
 */
static const char *const pieces[] = {
    "SELECT", " ",       "\n",   "1",   ";",        "'",   "''",       "\"",  "\"\"",
    "--",     "-",       "/*",   "*/",  "/",        "*",   "$$",       "$a$", "\\",
    "E'",     "x'00'",   "U&'",  "n.a", ",",        "(",   ")",        "`",   "[",
    "]",      "#",       "\r\n", "\r",  "\xc2\xa0", "a'b", ".shell x", "\n.", ":a",
    "::",     "@",       "{",    "||",  "e",        "&",   "\"a\"",    "'a'", "'it''s'",
    "-- x\n", "/* x */", "?",    "\t",  "FROM",
};

TEST(what_is_accepted_ends_where_sqlite_ends_it)
{
	unsigned accepted = 0, ends = 0;

	for (int round = 0; round < 200000; round++) {
		struct bytes text = {0};
		struct sql_token token;
		const char *at, *what;

		for (uint64_t n = draw() % 12; n; n--)
			bytes_add_text(
			    &text, pieces[draw() % (sizeof(pieces) / sizeof(*pieces))]);
		bytes_add_byte(&text, 0);
		at = (char *)text.data;
		if (!strchr(at, '\r') && !sql_find_fault(at, &what)) {
			accepted++;
			while (sql_next(&at, &token))
				for (size_t i = 0; i < token.length; i++) {
					const char *end = token.text + i + 1;
					AUTOFREE char *part = mem_strndup(
					    (char *)text.data,
					    (size_t)(end - (char *)text.data));

					if (token.text[i] != ';' ||
					    token.kind == SQL_BLANK)
						continue;
					ends++;
					assert_int_equal(sqlite3_complete(part),
							 token.kind == SQL_END);
				}
		}
		bytes_clear(&text);
	}
	assert_true(accepted > 1000 && ends > 1000);
}

static void expect_fault(const char *text, const char *rest)
{
	const char *what = NULL, *fault = sql_find_fault(text, &what);

	if (rest)
		assert_string_equal(fault, rest);
	else
		assert_null(fault);
	assert_int_equal(what != NULL, rest != NULL);
}

TEST(what_dialects_read_differently_is_refused)
{
	expect_fault("SELECT 'it''s', \"a\"\"b\", x'00', :a -- it's\n/* it's */ FROM t",
		     NULL);
	expect_fault("SELECT $$'$$ AS x;\n.shell x\n--' AS y",
		     "$$'$$ AS x;\n.shell x\n--' AS y");
	expect_fault("SELECT E'\\''", "E'\\''");
	expect_fault("SELECT U&'x'", "&'x'");
	expect_fault("SELECT /* /* */ 1 */ 2", "/* /* */ 1 */ 2");
	expect_fault("SELECT 1 /* x", "/* x");
	expect_fault("SELECT 'x", "'x");
	expect_fault("SELECT \"x", "\"x");
	expect_fault("SELECT `x`", "`x`");
	expect_fault("SELECT [x]", "[x]");
	expect_fault("SELECT a::int", "::int");
	expect_fault("SELECT\xc2\xa0"
		     "1",
		     "\xc2\xa0"
		     "1");
}

TEST(what_stands_for_a_table_is_seen)
{
	static const char *const functions[] = {
	    "SELECT * FROM f(1)",
	    "SELECT * FROM \"f\" (1)",
	    "SELECT * FROM a.b.f(1)",
	    "SELECT * FROM t, f(1)",
	    "SELECT * FROM t AS x (c), f(1)",
	    "SELECT * FROM (t, f(1))",
	    "SELECT * FROM t JOIN LATERAL f(1) ON 1 = 1",
	    "SELECT * FROM t JOIN u ON g(1) = 1, f(1)",
	    "SELECT (SELECT x FROM f(1)) FROM t",
	    "SELECT x FROM 'file.csv'",
	    "SELECT * FROM t WHERE x = (FROM f(1))",
	    "SELECT x IN (FROM f(1))",
	    "WITH a AS (SELECT 1) SELECT * FROM a CROSS JOIN/**/f(1)",
	    "SELECT * FROM (PIVOT f(1) ON x)",
	    "SELECT * FROM (DESCRIBE 'file.csv')",
	    "SELECT 1 AS distinct FROM 'file.csv'",
	    "SELECT * FROM \"file.csv\"",
	    "SELECT * FROM csv.\"file\"",
	    "SELECT * FROM t JOIN u ON t.limit = 1, 'file.csv'",
	    "SELECT * FROM t JOIN u ON window = 1, csv.\"/file\"",
	    "SELECT transform (x) USING 'touch file' AS y FROM t",
	    "MAP x USING 'touch file' FROM t",
	    "SELECT max(readfile('file')) FROM t",
	    "SELECT \"java_method\"('x', 'y')",
	    "ATTACH 'file' AS x",
	    "COPY t TO 'file'",
	    "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a",
	    "SELECT * INTO t FROM u",
	    "-- SELECT\nPRAGMA x",
	};
	static const char *const others[] = {
	    "SELECT f(1), (g(2)) FROM t WHERE h(3) IN (1, i(4)) ORDER BY j(5), k(6)",
	    "SELECT * FROM (SELECT 1) AS x (c), (VALUES (1, (2)), (3, f(4))) AS y (a, b)",
	    "SELECT * FROM t JOIN u USING (a, b) WHERE (a) IS DISTINCT FROM f(1)",
	    "WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT f(n) FROM r) SELECT n "
	    "FROM r",
	    "SELECT sum(x) FILTER (WHERE y = 'f') OVER (ORDER BY z) FROM t GROUP BY f(1)",
	    "SELECT t.update, replace(x, 'a', 'b'), \"a/b\" FROM t GROUP BY t.\"c\", 'd'",
	    "(SELECT 1) UNION SELECT 2",
	    "SELECT 'FROM f(1)' FROM \"from\" -- FROM f(1)\n",
	};

	struct error error = ERROR_INIT;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		assert_int_equal(-1, sql_check_select(functions[i], "--x", &error));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_int_equal(0, sql_check_select(others[i], "--x", NULL));
	error_clear(&error);
}
