/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/reader.h"

#include "timeline.h"

static void make(const char *path)
{
	finish_timeline(write_timeline(path, true));
}

static void assert_refused(const char *path, const char *message)
{
	struct error error = ERROR_INIT;

	assert_null(timeline_reader_open(path, &error));
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

static void poke(const char *path, long at, const char *bytes, size_t count)
{
	FILE *file = fopen(path, "r+b");

	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

SCRATCH_TEST(what_is_no_timeline_is_refused)
{
	assert_refused("none", "none: No such file or directory");
	assert_refused(":memory:", ":memory:: No such file or directory");
	assert_refused("", ": No such file or directory");
	scratch_text("dir/file", "");
	assert_refused("dir", "dir: not a timeline (expected a file made by ctmerge)");
	assert_refused("dir/file",
		       "dir/file: not a timeline (expected a file made by ctmerge)");
	scratch_text("text", "SQLite format 3");
	assert_refused("text", "text: not a timeline (expected a file made by ctmerge)");
	assert_int_equal(mkfifo("pipe", 0600), 0);
	assert_refused("pipe", "pipe: not a timeline (expected a file made by ctmerge)");
}

SCRATCH_TEST(other_databases_are_refused)
{
	make("t");
	poke("t", 60, "\0\0\0\1", 4);
	assert_refused(
	    "t", "t: timeline of version 1 (expected version 3); make it again with "
		 "ctmerge RUN -o t --force");
	poke("t", 68, "\0\0\0\0", 4);
	assert_refused("t", "t: not a timeline (expected a file made by ctmerge)");
}

SCRATCH_TEST(damaged_timelines_are_refused)
{
	char *bytes;
	size_t size;

	make("t");
	bytes = scratch_read("t", &size);
	scratch_bytes("cut", bytes, 5000);
	assert_refused("cut", "cut: database disk image is malformed");
	memset(bytes + 100, 0x55, 3000);
	scratch_bytes("garbled", bytes, size);
	assert_refused("garbled", "garbled: database disk image is malformed");
	free(bytes);
}

SCRATCH_TEST(any_name_is_a_file)
{
	static const char *const name[] = {":memory:", "file:t?mode=memory", "a?b#c%41",
					   "-x"};

	for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
		make(name[i]);
		assert_int_equal(access(name[i], F_OK), 0);
		assert_answer(name[i], "SELECT name FROM node", "n1");
		assert_whole(name[i]);
	}
}

static void assert_no_question(struct timeline_reader *reader, const char *sql,
			       const char *message)
{
	struct error error = ERROR_INIT;

	assert_null(timeline_query_new(reader, sql, &error));
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
}

SCRATCH_TEST(only_questions_are_asked)
{
	static const char wanted[] = "t: not a single statement (expected a SELECT)";
	struct error error = ERROR_INIT;
	struct timeline_reader *reader;

	make("t");
	reader = timeline_reader_open("t", &error);
	assert_no_question(reader, "", wanted);
	assert_no_question(reader, "DELETE FROM node", wanted);
	assert_no_question(reader, "SELECT 1; SELECT 2", wanted);
	assert_no_question(reader, "SELECT x FROM node", "t: no such column: x");
	assert_no_question(reader, "ATTACH 'other' AS other", wanted);
	assert_int_equal(access("other", F_OK), -1);
	error_clear(&error);
	timeline_reader_free(reader);
}

SCRATCH_TEST(a_question_is_asked_again)
{
	const struct cell one[] = {INTEGER(1), TEXT("n1' OR 1")};
	const struct cell other[] = {INTEGER(2), TEXT("n1")};
	struct error error = ERROR_INIT;
	struct timeline_reader *reader;
	struct timeline_query *query;

	make("t");
	reader = timeline_reader_open("t", &error);
	query = timeline_query_new(
	    reader, "SELECT ?1 AS number, name FROM node WHERE name = ?2;\n", &error);
	assert_non_null(query);
	assert_int_equal(timeline_query_parameters(query), 2);
	assert_int_equal(timeline_query_columns(query), 2);
	assert_string_equal(timeline_query_name(query, 0), "number");
	assert_int_equal(timeline_query_ask(query, one, 2, &error), 0);
	assert_int_equal(timeline_query_next(query, &error), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(timeline_query_ask(query, other, 2, &error), 0);
		assert_int_equal(timeline_query_next(query, &error), 1);
		assert_int_equal(timeline_query_row(query)[0].integer, 2);
		assert_string_equal(timeline_query_row(query)[1].bytes, "n1");
	}
	assert_int_equal(timeline_query_ask(query, one, 1, &error), -1);
	assert_string_equal(error_text(&error), "t: 1 values for a query (expected 2)");
	error_clear(&error);
	timeline_query_free(query);
	timeline_reader_free(reader);
}

#define COUNTED                                                                          \
	"FROM (WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n "       \
	"WHERE i < ?1) SELECT i FROM n)"

struct taken {
	int64_t rows, fail_at;
};

static int take(void *context, const struct cell *row, struct error *error)
{
	struct taken *taken = context;
	char text[16];

	if (++taken->rows == taken->fail_at)
		return error_set(error, "not row %d", (int)taken->rows);
	assert_int_equal(row[0].integer, taken->rows);
	assert_int_equal(row[1].type, CELL_TEXT);
	assert_int_equal(row[1].size,
			 snprintf(text, sizeof(text), "%d.5", (int)taken->rows));
	assert_memory_equal(row[1].bytes, text, row[1].size);
	assert_true(row[2].real == (double)taken->rows + 0.5);
	assert_int_equal(row[3].type, CELL_NULL);
	return 0;
}

SCRATCH_TEST(rows_are_handed_on)
{
	const struct cell most = INTEGER(2000), none = INTEGER(0);
	struct error error = ERROR_INIT;
	struct taken taken = {0};
	struct timeline_reader *reader;
	struct timeline_query *query;

	make("t");
	reader = timeline_reader_open("t", &error);
	query = timeline_query_new(
	    reader, "SELECT " TIMELINE_ROW "(i, i || '.5', i + 0.5, NULL) " COUNTED,
	    &error);
	assert_int_equal(timeline_query_ask(query, &most, 1, &error), 0);
	assert_int_equal(timeline_query_each(query, take, &taken, &error), 0);
	assert_int_equal(taken.rows, 2000);

	taken = (struct taken){.fail_at = 700};
	assert_int_equal(timeline_query_each(query, take, &taken, &error), -1);
	assert_string_equal(error_text(&error), "not row 700");
	assert_int_equal(taken.rows, 700);

	/* The recursion gives a row before it looks. */
	taken = (struct taken){0};
	assert_int_equal(timeline_query_ask(query, &none, 1, &error), 0);
	assert_int_equal(timeline_query_each(query, take, &taken, &error), 0);
	assert_int_equal(taken.rows, 1);
	timeline_query_free(query);
	timeline_reader_free(reader);
	error_clear(&error);
}

/* A user may ask for it as well, and gets nothing. */
SCRATCH_TEST(rows_that_nobody_takes_are_none)
{
	char *text;

	make("t");
	text = ask("t", "SELECT " TIMELINE_ROW "(id, name), " TIMELINE_ROW "() IS NULL "
			"FROM node");
	assert_string_equal(text, "|1");
	free(text);
}
