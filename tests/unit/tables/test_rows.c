/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows on their way: from thread to thread, types of columns, and as CSV. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>

#include "../scratch.h"
#include "base/csv_text.h"
#include "base/names.h"
#include "tables/table_query.h"
#include "tables/table_write.h"

enum { COLUMNS = 3, ROWS = 30000, LONG = 300000 };

static char *long_text;

/* Row i: a number, a text or a blob or nothing, and now and then a long text. */
static void make_row(int i, struct cell row[COLUMNS], char text[32])
{
	row[0] = (struct cell){.type = CELL_INTEGER, .integer = i};
	cell_set_bytes(&row[1], i % 3 ? CELL_TEXT : CELL_BLOB, text,
		       (size_t)sprintf(text, "%d", i * 7) * (size_t)(i % 4 > 0));
	row[2] = (struct cell){.type = CELL_REAL, .real = i / 8.0};
	if (i % 5 == 0)
		row[2].type = CELL_NULL;
	if (i % 10007 == 1)
		cell_set_bytes(&row[2], CELL_TEXT, long_text, LONG);
}

static void is_row(int i, const struct cell *row)
{
	struct cell wanted[COLUMNS];
	char text[32];

	make_row(i, wanted, text);
	for (int k = 0; k < COLUMNS; k++) {
		assert_int_equal(row[k].type, wanted[k].type);
		if (wanted[k].type == CELL_TEXT || wanted[k].type == CELL_BLOB) {
			assert_int_equal(row[k].size, wanted[k].size);
			assert_memory_equal(row[k].bytes, wanted[k].bytes, row[k].size);
		} else if (wanted[k].type != CELL_NULL) {
			assert_true(row[k].integer == wanted[k].integer);
		}
	}
}

struct taker {
	int count, fail_at;
};

static int take(void *context, const struct cell *row, size_t rows, struct error *error)
{
	struct taker *taker = context;

	for (size_t i = 0; i < rows; i++) {
		if (taker->count == taker->fail_at)
			return error_set(error, "row %d fails", taker->count);
		is_row(taker->count++, &row[i * COLUMNS]);
	}
	return 0;
}

static void assert_order(bool thread)
{
	struct taker taker = {.fail_at = -1};
	struct row_pipe *pipe = row_pipe_new(COLUMNS, thread, take, &taker);
	struct error error = ERROR_INIT;

	for (int i = 0; i < ROWS; i++) {
		struct cell row[COLUMNS];
		char text[32];

		make_row(i, row, text);
		assert_int_equal(row_pipe_put(pipe, row), 0);
	}
	assert_int_equal(row_pipe_end(pipe, &error), 0);
	assert_int_equal(taker.count, ROWS);
	pipe = row_pipe_new(COLUMNS, thread, take, &taker);
	assert_int_equal(row_pipe_end(pipe, &error), 0);
}

TEST(a_pipe_keeps_rows_and_their_order)
{
	assert_order(true);
	assert_order(false);
}

TEST(a_pipe_tells_what_failed)
{
	static const int when[] = {0, 1, 5000, ROWS - 1};

	for (size_t k = 0; k < sizeof(when) / sizeof(*when); k++) {
		struct taker taker = {.fail_at = when[k]};
		struct row_pipe *pipe = row_pipe_new(COLUMNS, k % 2, take, &taker);
		struct error error = ERROR_INIT;
		char *message = mem_printf("row %d fails", when[k]);

		for (int i = 0, status = 0; i < ROWS && !status; i++) {
			struct cell row[COLUMNS];
			char text[32];

			make_row(i, row, text);
			status = row_pipe_put(pipe, row);
		}
		assert_int_equal(row_pipe_end(pipe, &error), -1);
		assert_string_equal(error_text(&error), message);
		error_clear(&error);
		free(message);
	}
}

/* The type of one column with these values. */
static enum cell_type type_of(const struct cell *cell, size_t count)
{
	const struct table_query_column column = {.declared = CELL_NULL};
	unsigned sorts = 0;

	for (size_t i = 0; i < count; i++)
		sorts |= table_sorts(&cell[i]);
	return table_type(&column, sorts);
}

TEST(what_comes_says_the_type)
{
	const struct cell null = {.type = CELL_NULL};
	const struct cell one = {.type = CELL_INTEGER, .integer = 1};
	const struct cell exact = {.type = CELL_INTEGER, .integer = INT64_C(1) << 53};
	const struct cell inexact = {.type = CELL_INTEGER, .integer = INT64_MIN};
	const struct cell real = {.type = CELL_REAL, .real = 0.5};
	const struct cell text = {.type = CELL_TEXT, .bytes = ""};
	const struct cell blob = {.type = CELL_BLOB, .bytes = ""};

#define TYPE_OF(...)                                                                     \
	type_of((const struct cell[]){__VA_ARGS__},                                      \
		sizeof((const struct cell[]){__VA_ARGS__}) / sizeof(struct cell))
	assert_int_equal(TYPE_OF(null), CELL_TEXT);
	assert_int_equal(
	    table_type(&(struct table_query_column){.declared = CELL_INTEGER}, 0),
	    CELL_INTEGER);
	assert_int_equal(TYPE_OF(one, null, inexact), CELL_INTEGER);
	assert_int_equal(TYPE_OF(real, one, null, exact), CELL_REAL);
	assert_int_equal(TYPE_OF(inexact, real), CELL_TEXT);
	assert_int_equal(TYPE_OF(one, text), CELL_TEXT);
	assert_int_equal(TYPE_OF(one, text, blob, real), CELL_BLOB);
}

static void csv_is(const struct cell *cell, const char *wanted)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	csv_put(file, cell);
	fclose(file);
	assert_string_equal(text, wanted);
	free(text);
}

TEST(csv_tells_values_apart)
{
	struct cell cell = {.type = CELL_NULL};

	csv_is(&cell, "");
	cell_set_bytes(&cell, CELL_TEXT, "", 0);
	csv_is(&cell, "\"\"");
	cell_set_bytes(&cell, CELL_BLOB, NULL, 0);
	csv_is(&cell, "\"\"");
	cell_set_bytes(&cell, CELL_BLOB, "\0\xff", 2);
	csv_is(&cell, "00ff");
	cell_set_bytes(&cell, CELL_TEXT, "a,\"b\"\r\nc", 8);
	csv_is(&cell, "\"a,\"\"b\"\"\r\nc\"");
	cell_set_bytes(&cell, CELL_TEXT, "\xc3\xa9\xff", 3);
	csv_is(&cell, "\"\xc3\xa9\xef\xbf\xbd\"");
	cell = (struct cell){.type = CELL_INTEGER, .integer = INT64_MIN};
	csv_is(&cell, "-9223372036854775808");
	cell = (struct cell){.type = CELL_REAL, .real = 1};
	csv_is(&cell, "1.0");
	cell.real = -INFINITY;
	csv_is(&cell, "-inf");
	cell.real = 0.1 + 0.2;
	csv_is(&cell, "0.30000000000000004");
	cell.real = 1e300;
	csv_is(&cell, "1e+300");
}

TEST(reals_read_as_they_were)
{
	uint64_t bits = 88172645463325252; /* xorshift64 (Marsaglia 2003) */

	for (int i = 0; i < 100000; i++) {
		struct cell cell = {.type = CELL_REAL};
		char text[NUMBER_TEXT];
		double back;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&cell.real, &bits, sizeof(bits));
		if (!isfinite(cell.real))
			continue;
		text[csv_number(text, &cell)] = '\0';
		back = strtod(text, NULL);
		assert_memory_equal(&back, &cell.real, sizeof(back));
	}
}

static void path_is(const char *bytes, size_t size, const char *wanted)
{
	char *text = file_name_escape(bytes, size);

	assert_string_equal(text, wanted);
	free(text);
}

TEST(paths_are_escaped)
{
	path_is("node1", 5, "node1");
	path_is("", 0, "__HIVE_DEFAULT_PARTITION__");
	path_is("../a", 4, "%2E.%2Fa");
	path_is("a=b:c%d\0e\x7f", 10, "a%3Db%3Ac%25d%00e%7F");
	path_is("caf\xc3\xa9 x", 7, "caf\xc3\xa9 x");
}

static int set_up(void **state)
{
	long_text = mem_alloc(LONG);
	memset(long_text, 'x', LONG);
	return scratch_enter(state);
}

static int tear_down(void **state)
{
	free(long_text);
	return scratch_leave(state);
}

GROUP_FIXTURE(set_up, tear_down)
