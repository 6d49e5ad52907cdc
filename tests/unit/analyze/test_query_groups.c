/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/query_groups.h"

#include <stdlib.h>

#include "../timeline/timeline.h"

/* Rows with every kind of value: NULL, numbers, texts, and what repeats. */
#define ROWS                                                                             \
	"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "     \
	"500),"                                                                          \
	"r AS (SELECT i, i % 3 AS a, CASE WHEN i % 5 THEN 'x' || (i % 4) END AS b,"      \
	"             CASE WHEN i % 7 THEN i * 37 % 101 - 50 END AS v, i * 0.25 AS w "   \
	"FROM n) "

static char *rows_of(struct timeline_reader *reader, const char *sql)
{
	struct error error = ERROR_INIT;
	struct timeline_query *query = timeline_query_new(reader, sql, &error);
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_string_equal(error_text(&error), "");
	while (timeline_query_next(query, &error) > 0) {
		for (size_t i = 0; i < timeline_query_columns(query); i++) {
			const struct cell *cell = &timeline_query_row(query)[i];

			fprintf(file, "%s %d ", timeline_query_name(query, i),
				cell->type);
			if (cell->type == CELL_INTEGER)
				fprintf(file, "%lld|", (long long)cell->integer);
			else if (cell->type == CELL_REAL)
				fprintf(file, "%.17g|", cell->real);
			else
				fprintf(file, "%.*s|", (int)cell->size,
					cell->size ? cell->bytes : "");
		}
		putc('\n', file);
	}
	assert_string_equal(error_text(&error), "");
	timeline_query_free(query);
	fclose(file);
	return text;
}

static struct timeline_reader *open_reader(void)
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader;

	if (access("t", F_OK))
		finish_timeline(write_timeline("t", true));
	reader = timeline_reader_open("t", &error);
	assert_non_null(reader);
	return reader;
}

/* Our groups have the rows, names and types of SQLite's, in its order. */
SCRATCH_TEST(groups_are_as_sqlite_groups)
{
	static const char *const sql[] = {
	    ROWS "SELECT a, count(*) AS n FROM r GROUP BY a",
	    ROWS "SELECT a, b, count(*) AS n, count(v) AS c, sum(v) AS s, min(v) AS l, "
		 "max(v) AS g, avg(v) AS m FROM r GROUP BY a, b",
	    ROWS "SELECT b AS x, quantile(v, 0.5) AS p50, quantile(v, 0.99) AS p99, "
		 "sum(w) AS w, min(b) AS l, max(b) AS g FROM r GROUP BY b",
	    ROWS "SELECT a + 1 AS k, sum(v) FILTER (WHERE v > 0) AS s, "
		 "sum(v) FILTER (WHERE v > 99) AS none, "
		 "count(*) FILTER (WHERE b IS NULL) AS n FROM r GROUP BY a + 1",
	    ROWS "SELECT CASE r.a WHEN 0 THEN 'no' ELSE 'yes' END AS t, r.b, "
		 "min(coalesce(v, 3)) AS v, count(*) AS n FROM r GROUP BY 1, r.b, r.a",
	    ROWS "SELECT i % 2 AS k, sum(v) AS s FROM r WHERE v IS NOT NULL GROUP BY 1",
	    ROWS "SELECT w, count(*) AS n FROM r GROUP BY w",
	    ROWS "SELECT a, sum(v) AS s FROM r WHERE i < 0 GROUP BY a",
	};
	struct timeline_reader *reader = open_reader();
	struct query_values values = {0};

	for (size_t i = 0; i < sizeof(sql) / sizeof(*sql); i++) {
		char *text = strdup(sql[i]), *ours, *theirs = rows_of(reader, sql[i]);
		assert_int_equal(query_groups_run(&text, reader, &values, NULL, NULL), 1);
		ours = rows_of(reader, text);
		assert_string_equal(ours, theirs);
		free(ours);
		free(theirs);
		free(text);
	}
	timeline_reader_free(reader);
}

/* Add up the numbers of the rows, and count them. */
static int add_numbers(void *context, size_t group, const struct cell *row,
		       struct error *error)
{
	int64_t *sum = context;

	(void)error;
	assert_int_equal(group, (cell_integer(&row[0], 0) + 2) % 3); /* a is 1, 2, 0 */
	sum[0] += cell_integer(&row[0], 0);
	sum[1] += cell_integer(&row[1], 0);
	sum[2]++;
	return 0;
}

static int refuse_row(void *context, size_t group, const struct cell *row,
		      struct error *error)
{
	(void)context;
	(void)group;
	(void)row;
	return error_set(error, "refused");
}

/* A listener receives its columns of each row, whether the statement has them or not. */
SCRATCH_TEST(listener_receives_rows)
{
	static const char *const columns[] = {"a", "i", NULL};
	struct timeline_reader *reader = open_reader();
	struct query_values values = {0};
	struct error error = ERROR_INIT;
	int64_t sum[3] = {0}, expected[3];
	struct group_listener listener = {"r", columns, add_numbers, sum};
	static const char sql[] = ROWS "SELECT a, sum(v) AS s FROM r GROUP BY a";
	char *text = strdup(sql), *ours, *theirs = rows_of(reader, sql);

	assert_int_equal(query_groups_run(&text, reader, &values, &listener, &error), 1);
	ours = rows_of(reader, text);
	assert_string_equal(ours, theirs);
	assert_true(query_integer(reader, ROWS "SELECT sum(a) FROM r", NULL, &expected[0],
				  &error) > 0);
	assert_true(query_integer(reader, ROWS "SELECT sum(i) FROM r", NULL, &expected[1],
				  &error) > 0);
	assert_true(query_integer(reader, ROWS "SELECT count(*) FROM r", NULL,
				  &expected[2], &error) > 0);
	assert_memory_equal(sum, expected, sizeof(sum));
	free(ours);
	free(theirs);
	free(text);
	timeline_reader_free(reader);
}

/* With a listener, SQLite does not run the statement again. */
SCRATCH_TEST(listener_gets_error)
{
	static const char *const columns[] = {"i", NULL};
	struct timeline_reader *reader = open_reader();
	struct query_values values = {0};
	struct error error = ERROR_INIT;
	struct group_listener listener = {"r", columns, refuse_row, NULL};
	char *text = strdup(ROWS "SELECT a, sum(v) AS s FROM r GROUP BY a");

	assert_int_equal(query_groups_run(&text, reader, &values, &listener, &error), -1);
	assert_string_equal(error_text(&error), "refused");
	error_clear(&error);
	free(text);
	timeline_reader_free(reader);
}

/* A statement of another form, or with another result, is left to SQLite. */
SCRATCH_TEST(others_are_left_alone)
{
	static const char *const sql[] = {
	    ROWS "SELECT a FROM r",
	    ROWS "SELECT count(*) AS n FROM r",
	    ROWS "SELECT a, count(DISTINCT b) AS n FROM r GROUP BY a",
	    ROWS "SELECT a, group_concat(a) AS n FROM r GROUP BY a",
	    ROWS "SELECT a, total(a) AS n FROM r GROUP BY a",
	    ROWS "SELECT DISTINCT a, count(*) AS n FROM r GROUP BY a, b",
	    ROWS "SELECT a, count(*) AS n FROM r GROUP BY a HAVING count(*) > 3",
	    ROWS "SELECT a, count(*) AS n FROM r GROUP BY a ORDER BY n",
	    ROWS "SELECT a, count(*) AS n FROM r GROUP BY a LIMIT 1",
	    ROWS "SELECT a, i, max(v) AS v FROM r GROUP BY a", /* i is of that row */
	    ROWS "SELECT a, count(*) AS n FROM r GROUP BY a UNION ALL SELECT 1, 2",
	    ROWS "SELECT a, sum(count(*)) OVER () AS n FROM r GROUP BY a",
	    ROWS "SELECT a, 2 * sum(v) AS s FROM r GROUP BY a",
	    ROWS "SELECT max(a, 1) AS m, sum(v) AS s FROM r GROUP BY a",
	    ROWS "SELECT a, sum(v) filter (where v > 0) + 1 AS s FROM r GROUP BY a",
	    ROWS "SELECT a, count() AS n FROM r GROUP BY a",
	    ROWS "SELECT a, count(*) AS n FROM r GROUP BY 3",
	    ROWS "SELECT a, sum(b) AS n FROM r GROUP BY a",
	    ROWS "SELECT a, sum(9223372036854775807) AS n FROM r GROUP BY a",
	    ROWS "SELECT a, sum(none) AS n FROM r GROUP BY a",
	    ROWS "SELECT a, quantile(v, 2) AS n FROM r GROUP BY a",
	    "SELECT",
	    "GROUP BY",
	    "WITH",
	    "SELECT a FROM (",
	    "",
	    ")",
	};
	struct timeline_reader *reader = open_reader();
	struct query_values values = {0};

	for (size_t i = 0; i < sizeof(sql) / sizeof(*sql); i++) {
		char *text = strdup(sql[i]);
		assert_int_equal(query_groups_run(&text, reader, &values, NULL, NULL), 0);
		assert_string_equal(text, sql[i]);
		free(text);
	}
	timeline_reader_free(reader);
}
