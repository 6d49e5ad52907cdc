/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/quantile.h"
#include "timeline/sql.h"

#include <math.h>
#include <string.h>

#include "../scratch.h"

static sqlite3 *db;

static int open_db(void **unused)
{
	(void)unused;
	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		return -1;
	return quantile_define(db) == SQLITE_OK ? 0 : -1;
}

static int close_db(void **unused)
{
	(void)unused;
	return sqlite3_close(db) == SQLITE_OK ? 0 : -1;
}

/* The statement's only value; NAN: NULL. */
static double value_of(const char *sql)
{
	sqlite3_stmt *stmt;
	double value;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_type(stmt, 0) == SQLITE_NULL
		    ? (double)NAN
		    : sqlite3_column_double(stmt, 0);
	assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
	assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
	return value;
}

/* The quantile of a column x of rows such as "(1),(2)". */
static double quantile(const char *share, const char *rows)
{
	char sql[256];

	snprintf(sql, sizeof(sql),
		 "WITH v (x) AS (VALUES %s) SELECT quantile(x, %s) FROM v", rows, share);
	return value_of(sql);
}

static void expect(double value, double wanted)
{
	assert_true(fabs(value - wanted) < 1e-9);
}

TEST(test_few_values)
{
	expect(quantile("0", "(7)"), 7);
	expect(quantile("0.5", "(7)"), 7);
	expect(quantile("1", "(7)"), 7);
	expect(quantile("0", "(9),(5)"), 5);
	expect(quantile("0.25", "(9),(5)"), 6);
	expect(quantile("0.5", "(9),(5)"), 7);
	expect(quantile("1", "(9),(5)"), 9);
	expect(quantile("0.5", "(3),(-1),(2.5)"), 2.5);
}

TEST(test_nulls_are_no_values)
{
	assert_true(isnan(quantile("0.5", "(NULL),(NULL)")));
	assert_true(
	    isnan(value_of("SELECT quantile(x, 0.5) FROM (SELECT 1 AS x) WHERE x > 1")));
	expect(quantile("0.5", "(NULL),(4),(NULL),(2)"), 3);
}

TEST(test_many_equal)
{
	static const char numbers[] = "WITH RECURSIVE v (n) AS (SELECT 0 UNION ALL "
				      "SELECT n + 1 FROM v WHERE n < 9999)";
	char sql[256];

	snprintf(sql, sizeof(sql), "%s SELECT quantile(4, 0.99) FROM v", numbers);
	expect(value_of(sql), 4);
	/* 9,000 times 1, then 2: the last of them is the 90th percentile's lower
	 * neighbour. */
	snprintf(sql, sizeof(sql), "%s SELECT quantile(1 + (n %% 10 = 0), 0.89) FROM v",
		 numbers);
	expect(value_of(sql), 1);
	snprintf(sql, sizeof(sql), "%s SELECT quantile(1 + (n %% 10 = 0), 0.9) FROM v",
		 numbers);
	expect(value_of(sql), 1.1);
	snprintf(sql, sizeof(sql), "%s SELECT quantile(n * 7919 %% 10000, 0.25) FROM v",
		 numbers);
	expect(value_of(sql), 2499.75);
}

TEST(test_groups_are_apart)
{
	expect(
	    value_of(
		"WITH v (g, x) AS (VALUES (1, 1), (2, 10), (1, 3), (2, 30), (3, NULL))"
		" SELECT sum(q) FROM (SELECT quantile(x, 0.5) AS q FROM v GROUP BY g)"),
	    22);
}

TEST(test_misuse)
{
	static const char *const wrong[] = {"-0.01", "1.01", "2", "9e999"};
	sqlite3_stmt *stmt;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char sql[64];

		snprintf(sql, sizeof(sql), "SELECT quantile(1, %s)", wrong[i]);
		assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
		assert_int_equal(sqlite3_step(stmt), SQLITE_ERROR);
		assert_non_null(strstr(sqlite3_errmsg(db), "invalid share"));
		sqlite3_finalize(stmt);
	}
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT quantile(1)", -1, &stmt, NULL),
			 SQLITE_ERROR);
}

GROUP_FIXTURE(open_db, close_db)
