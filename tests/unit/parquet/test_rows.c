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
};

static void draw_columns(struct table *table)
{
	static const enum parquet_type types[] = {PARQUET_INT64, PARQUET_INT64,
						  PARQUET_INT32, PARQUET_DOUBLE,
						  PARQUET_BYTE_ARRAY};
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
	    .page_rows = (uint32_t)draw_between(1, 900),
	    .page_bytes = (size_t)draw_between(1, 9000),
	    .dictionary_bytes = (size_t)draw_between(1, 5000),
	};
}

static struct cell draw_text(char *text)
{
	size_t size = (size_t)draw_between(0, 5);

	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + draw() % 3);
	return (struct cell){.type = CELL_TEXT, .size = (uint32_t)size, .bytes = text};
}

static struct cell draw_cell(const struct parquet_column *column, char *text)
{
	int64_t kind = draw_between(0, 2999);

	if (column->optional && kind < 1000)
		return (struct cell){.type = CELL_NULL};
	switch (column->type) {
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

/* Up to so many rows at a time. */
static void write_rows(struct sink *sink, const struct table *table, int64_t most)
{
	struct error error = ERROR_INIT;

	begin(sink, table);
	for (size_t i = 0, count; i < table->rows; i += count) {
		int64_t left = (int64_t)(table->rows - i);

		count = (size_t)draw_between(1, left < most ? left : most);
		assert_int_equal(parquet_add_rows(sink->writer,
						  &table->cell[i * table->columns], NULL,
						  count, &error),
				 0);
	}
	finish(sink);
}

TEST(many_rows_are_as_one_by_one)
{
	struct table table = {
	    .cell = calloc((size_t)MOST_ROWS * COLUMNS, sizeof(struct cell)),
	    .text = calloc((size_t)MOST_ROWS * COLUMNS, TEXT),
	};

	for (int round = 0; round < 60; round++) {
		struct sink one, all;

		draw_table(&table);
		write_rows(&one, &table, 1);
		write_rows(&all, &table, 700);
		assert_int_equal(one.size, all.size);
		assert_memory_equal(one.data, all.data, one.size);
		free(one.data);
		free(all.data);
	}
	free(table.text);
	free(table.cell);
}
