/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "parquet/parquet_private.h"

enum {
	DEFAULT_GROUP_ROWS = 1 << 20,
	DEFAULT_GROUP_BYTES = 64 << 20,
	DEFAULT_PAGE_ROWS = 20000,
	DEFAULT_PAGE_BYTES = 1 << 20,
	DEFAULT_DICTIONARY_BYTES = 1 << 20,
	/* Limit of page_rows and page_bytes: with the longest row a page must stay below
	 * 2^31 bytes. */
	MOST_PAGE = 1 << 29,
	/* Rows added between checks of the memory of all chunks. */
	ROWS_A_CHECK = 256,
};

struct parquet_writer {
	FILE *file;
	struct parquet_column *column;
	size_t columns;
	struct parquet_settings settings;
	struct parquet_press press;
	struct parquet_chunk *chunk; /* one for each column */
	struct parquet_footer footer;
	uint64_t rows, group_rows;
	uint64_t offset; /* bytes written */
};

static size_t limit_setting(size_t value, size_t standard, size_t most)
{
	if (value == 0)
		return standard;
	return value < most ? value : most;
}

static void set_defaults(struct parquet_settings *settings)
{
	settings->group_rows = settings->group_rows ?: DEFAULT_GROUP_ROWS;
	settings->group_bytes = settings->group_bytes ?: DEFAULT_GROUP_BYTES;
	settings->page_rows =
	    (uint32_t)limit_setting(settings->page_rows, DEFAULT_PAGE_ROWS, MOST_PAGE);
	settings->page_bytes =
	    limit_setting(settings->page_bytes, DEFAULT_PAGE_BYTES, MOST_PAGE);
	settings->dictionary_bytes = limit_setting(settings->dictionary_bytes,
						   DEFAULT_DICTIONARY_BYTES, MOST_PAGE);
}

static int write_bytes(struct parquet_writer *writer, const void *data, size_t size,
		       struct error *error)
{
	if (size && fwrite(data, 1, size, writer->file) != size)
		return error_set(error, "cannot write: %s", strerror(errno));
	writer->offset += size;
	return 0;
}

struct parquet_writer *parquet_writer_new(FILE *file, const struct parquet_column *column,
					  size_t columns,
					  const struct parquet_settings *settings,
					  struct error *error)
{
	struct parquet_writer *writer = mem_zalloc(sizeof(*writer));

	if (settings)
		writer->settings = *settings;
	set_defaults(&writer->settings);
	writer->file = file;
	writer->columns = columns;
	writer->column = mem_alloc(columns * sizeof(*column));
	writer->chunk = mem_zalloc(columns * sizeof(*writer->chunk));
	memcpy(writer->column, column, columns * sizeof(*column));
	for (size_t i = 0; i < columns; i++) {
		writer->column[i].name = mem_strdup(column[i].name);
		parquet_chunk_init(&writer->chunk[i], &writer->column[i],
				   &writer->settings, &writer->press);
	}
	writer->press.codec = writer->settings.codec;
	writer->press.level = writer->settings.level;
	if (write_bytes(writer, FORMAT_MAGIC, strlen(FORMAT_MAGIC), error) == 0)
		return writer;
	parquet_writer_free(writer);
	return NULL;
}

void parquet_add_metadata(struct parquet_writer *writer, const char *key,
			  const char *value)
{
	parquet_footer_add_pair(&writer->footer, key, value);
}

/* Write the row group. All chunks are finished first, as the footer needs their sizes. */
static int end_group(struct parquet_writer *writer, struct error *error)
{
	if (writer->group_rows == 0)
		return 0;
	for (size_t i = 0; i < writer->columns; i++)
		if (parquet_chunk_finish(&writer->chunk[i], error))
			return -1;
	parquet_footer_add_group(&writer->footer, writer->chunk, writer->columns,
				 writer->group_rows, writer->offset);
	for (size_t i = 0; i < writer->columns; i++) {
		struct parquet_chunk *chunk = &writer->chunk[i];

		if (write_bytes(writer, chunk->head.data, chunk->head.size, error) ||
		    write_bytes(writer, chunk->body.data, chunk->body.size, error))
			return -1;
		parquet_chunk_reset(chunk);
	}
	writer->group_rows = 0;
	return 0;
}

static bool is_full(const struct parquet_writer *writer)
{
	size_t bytes = 0;

	for (size_t i = 0; i < writer->columns; i++)
		bytes += parquet_chunk_held(&writer->chunk[i]);
	return writer->group_rows >= writer->settings.group_rows ||
	       bytes >= writer->settings.group_bytes;
}

int parquet_writer_finish(struct parquet_writer *writer, struct error *error)
{
	struct bytes end = {0};
	int status;

	if (end_group(writer, error))
		return -1;
	parquet_footer_add(&writer->footer, writer->column, writer->columns, writer->rows,
			   &end);
	if (end.size > INT32_MAX) {
		status = error_set(error,
				   "metadata of %zu row groups has %zu bytes (limit "
				   "2^31)",
				   writer->footer.groups, end.size);
	} else {
		bytes_add_le(&end, end.size, 4);
		bytes_add_text(&end, FORMAT_MAGIC);
		status = write_bytes(writer, end.data, end.size, error);
	}
	if (!status && fflush(writer->file))
		status = error_set(error, "cannot write: %s", strerror(errno));
	bytes_clear(&end);
	return status;
}

void parquet_writer_free(struct parquet_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < writer->columns; i++) {
		parquet_chunk_clear(&writer->chunk[i]);
		free((char *)writer->column[i].name);
	}
	parquet_press_clear(&writer->press);
	parquet_footer_clear(&writer->footer);
	free(writer->chunk);
	free(writer->column);
	free(writer);
}

static int refuse_cell(const struct cell *cell, const char *expected, struct error *error)
{
	static const char *const type[] = {
	    [CELL_NULL] = "null", [CELL_INTEGER] = "integer", [CELL_REAL] = "real",
	    [CELL_TEXT] = "text", [CELL_BLOB] = "blob",
	};

	return error_set(error, "invalid value of type %s (expected %s)",
			 type[cell->type], expected);
}

static int integer_value(const struct parquet_column *column, const struct cell *cell,
			 struct parquet_value *value, struct error *error)
{
	if (cell->type != CELL_INTEGER)
		return refuse_cell(cell, "an integer", error);
	if (column->type == PARQUET_INT32 &&
	    (cell->integer < INT32_MIN || cell->integer > INT32_MAX))
		return error_set(error, "invalid integer %" PRId64 " (expected %d to %d)",
				 cell->integer, INT32_MIN, INT32_MAX);
	value->bits = (uint64_t)cell->integer;
	return 0;
}

/* Convert a real, or an integer that a double holds exactly. Return 0, or -1 with error.
 */
static int real_value(const struct cell *cell, struct parquet_value *value,
		      struct error *error)
{
	int64_t exact = INT64_C(1) << 53;
	double real = cell->type == CELL_REAL ? cell->real : (double)cell->integer;

	if (cell->type != CELL_REAL && cell->type != CELL_INTEGER)
		return refuse_cell(cell, "a number", error);
	if (cell->type == CELL_INTEGER &&
	    (cell->integer < -exact || cell->integer > exact))
		return error_set(error,
				 "invalid integer %" PRId64 " (expected up to 2^53)",
				 cell->integer);
	memcpy(&value->bits, &real, sizeof(real));
	return 0;
}

static int array_value(const struct parquet_column *column, const struct cell *cell,
		       struct parquet_value *value, struct error *error)
{
	if (!cell_has_bytes(cell))
		return refuse_cell(cell, "text or a blob", error);
	if (cell->size > PARQUET_LONGEST_VALUE)
		return error_set(error, "too many bytes: %" PRIu32 " (limit %d)",
				 cell->size, PARQUET_LONGEST_VALUE);
	if (column->logical == PARQUET_STRING && !column->is_utf8 &&
	    !utf8_is_valid(cell->bytes, cell->size))
		return error_set(error, "invalid UTF-8");
	value->bytes = cell->size ? cell->bytes : "";
	value->size = cell->size;
	return 0;
}

/* Add a cell to the page, as the first or a further value of its row. Return 0, or -1
 * with error if it does not fit the column. */
static int add_value(struct parquet_chunk *chunk, enum parquet_place place,
		     const struct cell *cell, struct error *error)
{
	const struct parquet_column *column = chunk->column;
	struct parquet_value value = {.null = cell->type == CELL_NULL,
				      .size = parquet_width(column)};
	int status = 0;

	if (value.null)
		status = chunk->most_definition ? 0 : refuse_cell(cell, "a value", error);
	else if (column->type == PARQUET_DOUBLE)
		status = real_value(cell, &value, error);
	else if (column->type == PARQUET_BYTE_ARRAY)
		status = array_value(column, cell, &value, error);
	else if (column->type == PARQUET_BOOLEAN)
		status = refuse_cell(cell, "null", error);
	else
		status = integer_value(column, cell, &value, error);
	if (!status)
		parquet_chunk_add(chunk, place, &value);
	return status;
}

/* Return how many of `count` numbers certainly fit into the page. If it is 0, one more
 * may still be added. */
static size_t page_capacity(const struct parquet_chunk *chunk, size_t count)
{
	size_t rows = chunk->settings->page_rows - chunk->page_rows;
	size_t numbers = (chunk->settings->page_bytes - chunk->page_bytes) / 8;

	rows = rows < numbers ? rows : numbers;
	return rows < count ? rows : count;
}

/*
 * Add numbers and nulls of a column of 64 bits to the page, at most `most` cells, up to
 * the first that is neither. Return how many were added.
 */
static size_t add_numbers(struct parquet_chunk *chunk, const struct cell *cell,
			  size_t stride, size_t most)
{
	enum cell_type own =
	    chunk->column->type == PARQUET_INT64 ? CELL_INTEGER : CELL_REAL;
	unsigned most_level = chunk->most_definition;
	uint8_t *at, *begin;
	size_t count, run = 0;
	bool null = false;

	bytes_reserve(&chunk->values, most * 8);
	at = begin = chunk->values.data + chunk->values.size;
	for (count = 0; count < most; count++, cell += stride) {
		uint64_t bits;

		if (cell->type == own) {
			bits = htole64((uint64_t)cell->integer);
			memcpy(at, &bits, 8);
			at += 8;
		} else if (cell->type != CELL_NULL || !most_level) {
			break;
		}
		if ((cell->type == CELL_NULL) != null) {
			parquet_chunk_add_levels(chunk, PARQUET_FIRST, most_level - null,
						 run);
			null = !null;
			run = 0;
		}
		run++;
	}
	parquet_chunk_add_levels(chunk, PARQUET_FIRST, most_level - null, run);
	chunk->values.size += (size_t)(at - begin);
	chunk->page_bytes += (size_t)(at - begin);
	return count;
}

/* Add cells of a flat column, which are `stride` cells apart. On failure `added` is the
 * number of those before the bad one. Return 0, or -1 with error. */
static int add_cells(struct parquet_chunk *chunk, const struct cell *cell, size_t stride,
		     size_t rows, size_t *added, struct error *error)
{
	bool wide =
	    chunk->column->type == PARQUET_INT64 || chunk->column->type == PARQUET_DOUBLE;

	for (size_t i = 0, count; i < rows; i += count) {
		size_t most = wide ? page_capacity(chunk, rows - i) : 0;

		*added = i;
		count = add_numbers(chunk, &cell[i * stride], stride, most);
		if (!count) {
			if (add_value(chunk, PARQUET_FIRST, &cell[i * stride], error))
				return -1;
			count = 1;
		}
		if (parquet_chunk_end_rows(chunk, count, error))
			return -1;
	}
	return 0;
}

static int add_list(struct parquet_chunk *chunk, const struct parquet_list *list,
		    struct error *error)
{
	size_t bytes = 0;

	for (size_t i = 0; i < list->count; i++)
		bytes += list->cell[i].size + 4;
	if (bytes > PARQUET_LONGEST_ROW)
		return error_set(error, "list too long (limit %d bytes)",
				 PARQUET_LONGEST_ROW);
	if (list->count == 0)
		parquet_chunk_add_levels(chunk, PARQUET_FIRST, 1, 1);
	for (size_t i = 0; i < list->count; i++)
		if (add_value(chunk, i ? PARQUET_FURTHER : PARQUET_FIRST, &list->cell[i],
			      error))
			return error_prefix(error, "element %zu", i + 1);
	return parquet_chunk_end_rows(chunk, 1, error);
}

/* Add rows, which fit into the row group, to all chunks. Return 0, or -1 with error. */
static int add_rows(struct parquet_writer *writer, const struct cell *cell,
		    const struct parquet_list *list, size_t rows, struct error *error)
{
	for (size_t i = 0; i < writer->columns; i++) {
		struct parquet_chunk *chunk = &writer->chunk[i];
		size_t added = 0;

		if (chunk->column->list ? add_list(chunk, list++, error)
					: add_cells(chunk, &cell[i], writer->columns,
						    rows, &added, error))
			return error_prefix(error, "row %" PRIu64 ": column %s",
					    writer->rows + added + 1,
					    chunk->column->name);
	}
	writer->rows += rows;
	writer->group_rows += rows;
	return is_full(writer) ? end_group(writer, error) : 0;
}

int parquet_add_rows(struct parquet_writer *writer, const struct cell *cell,
		     const struct parquet_list *list, size_t rows, struct error *error)
{
	assert(!list || rows == 1);
	while (rows) {
		uint64_t left = writer->settings.group_rows - writer->group_rows;
		size_t count = rows < ROWS_A_CHECK ? rows : ROWS_A_CHECK;

		count = left < count ? (size_t)left : count;
		if (add_rows(writer, cell, list, count, error))
			return -1;
		cell += count * writer->columns;
		rows -= count;
	}
	return 0;
}
