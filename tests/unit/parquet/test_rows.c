/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../draw.h"
#include "../export/export.h"
#include "parquet/parquet.h"

enum { COLUMNS = 6, MOST_ROWS = 3000, TEXT = 24 };

struct table {
	struct parquet_column column[COLUMNS];
	size_t columns, rows;
	struct parquet_settings settings;
	struct cell *cell;
	char *text;
	bool *refused; /* by the writer, row by row */
};

static void draw_columns(struct table *table)
{
	static const enum parquet_type types[] = {PARQUET_INT64,      PARQUET_INT64,
						  PARQUET_INT32,      PARQUET_DOUBLE,
						  PARQUET_BYTE_ARRAY, PARQUET_BOOLEAN};
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

	table->columns = (size_t)draw_between(1, COLUMNS);
	for (size_t i = 0; i < table->columns; i++) {
		table->column[i] = (struct parquet_column){
		    .name = names[i],
		    .type = types[draw_between(0, COUNT(types) - 1)],
		    .optional = draw_between(0, 1),
		};
		if (table->column[i].type == PARQUET_BYTE_ARRAY && draw_between(0, 1))
			table->column[i].logical = PARQUET_STRING;
	}
	table->settings = (struct parquet_settings){
	    .codec = PARQUET_UNCOMPRESSED,
	    .group_rows = (uint64_t)draw_between(1, 5000),
	    .group_bytes = (size_t)draw_between(10000, 200000),
	    .page_rows = (uint32_t)draw_between(1, 900),
	    .page_bytes = (size_t)draw_between(1, 9000),
	    .dictionary_bytes = (size_t)draw_between(1, 5000),
	};
}

static struct cell draw_text(char *text)
{
	size_t size = (size_t)draw_between(0, 5);

	for (size_t i = 0; i < size; i++)
		text[i] = (char)(draw_between(0, 2000) == 0 ? 0xff : 'a' + draw() % 3);
	return (struct cell){.type = CELL_TEXT, .size = (uint32_t)size, .bytes = text};
}

/* Mostly what fits the column; now and then a null, or what never does. */
static struct cell draw_cell(const struct parquet_column *column, char *text)
{
	int64_t kind = draw_between(0, 2999);

	if (kind == 0)
		return (struct cell){.type = CELL_BLOB, .size = 1, .bytes = "b"};
	if (kind == 1 || (column->optional && kind < 1000))
		return (struct cell){.type = CELL_NULL};
	switch (column->type) {
	case PARQUET_BOOLEAN:
		return (struct cell)INTEGER(draw_between(0, 1));
	case PARQUET_INT32:
	case PARQUET_INT64:
		return (struct cell)INTEGER(kind < 1500 ? draw_between(-9, 9)
							: (int64_t)(int32_t)draw());
	case PARQUET_DOUBLE:
		if (kind < 1200)
			return (struct cell)INTEGER(draw_between(-9, 9));
		return (struct cell){.type = CELL_REAL, .real = draw_unit()};
	default:
		return draw_text(text);
	}
}

static void draw_table(struct table *table)
{
	draw_columns(table);
	table->rows = (size_t)draw_between(0, MOST_ROWS);
	for (size_t i = 0; i < table->rows * table->columns; i++)
		table->cell[i] =
		    draw_cell(&table->column[i % table->columns], table->text + i * TEXT);
}

struct sink {
	char *data;
	size_t size;
	FILE *file;
	struct parquet_writer *writer;
};

static void begin(struct sink *sink, const struct table *table)
{
	struct error error = ERROR_INIT;

	sink->file = open_memstream(&sink->data, &sink->size);
	sink->writer = parquet_writer_new(sink->file, table->column, table->columns,
					  &table->settings, &error);
	assert_non_null(sink->writer);
}

static void finish(struct sink *sink)
{
	struct error error = ERROR_INIT;

	assert_int_equal(parquet_writer_finish(sink->writer, &error), 0);
	parquet_writer_free(sink->writer);
	fclose(sink->file);
}

static void write_one_by_one(struct sink *sink, struct table *table)
{
	struct error error = ERROR_INIT;

	begin(sink, table);
	for (size_t i = 0; i < table->rows; i++) {
		int status = parquet_add_row(
		    sink->writer, &table->cell[i * table->columns], NULL, &error);

		assert_true(status >= 0);
		table->refused[i] = status == PARQUET_REFUSED;
	}
	finish(sink);
	error_clear(&error);
}

/* Any number at a time; those that are refused must be the same. */
static void write_together(struct sink *sink, const struct table *table)
{
	struct error error = ERROR_INIT;

	begin(sink, table);
	for (size_t i = 0; i < table->rows;) {
		int64_t left = (int64_t)(table->rows - i);
		size_t count = (size_t)draw_between(1, left < 700 ? left : 700), added;
		int status =
		    parquet_add_rows(sink->writer, &table->cell[i * table->columns],
				     count, &added, &error);

		assert_true(status >= 0);
		for (size_t j = 0; j < added; j++)
			assert_false(table->refused[i + j]);
		i += added;
		assert_true(status == PARQUET_REFUSED || added == count);
		if (status == PARQUET_REFUSED) {
			assert_non_null(strstr(error_text(&error), "column "));
			assert_true(table->refused[i++]);
		}
	}
	finish(sink);
	error_clear(&error);
}

static void many_rows_are_as_one_by_one(void **unused)
{
	struct table table = {
	    .cell = calloc((size_t)MOST_ROWS * COLUMNS, sizeof(struct cell)),
	    .text = calloc((size_t)MOST_ROWS * COLUMNS, TEXT),
	    .refused = calloc(MOST_ROWS, sizeof(bool)),
	};

	(void)unused;
	for (int round = 0; round < 60; round++) {
		struct sink one, all;

		draw_table(&table);
		write_one_by_one(&one, &table);
		write_together(&all, &table);
		assert_int_equal(one.size, all.size);
		assert_memory_equal(one.data, all.data, one.size);
		free(one.data);
		free(all.data);
	}
	free(table.refused);
	free(table.text);
	free(table.cell);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAW_TEST(many_rows_are_as_one_by_one),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
