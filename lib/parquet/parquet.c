/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "parquet/metadata.h"

enum {
	DEFAULT_GROUP_ROWS = 1 << 20,
	DEFAULT_GROUP_BYTES = 64 << 20,
	DEFAULT_PAGE_ROWS = 20000,
	DEFAULT_PAGE_BYTES = 1 << 20,
	DEFAULT_DICTIONARY_BYTES = 1 << 20,
	/* With the longest row a page stays below 2^31 bytes, as it must. */
	MOST_PAGE = 1 << 29,
	/* The memory that chunks have is added up not for every row. */
	ROWS_A_CHECK = 256,
	BYTES_A_CHECK = 1 << 20,
};

struct parquet_writer {
	FILE *file;
	struct parquet_column *column;
	size_t columns;
	struct parquet_settings settings;
	struct parquet_press press;
	struct parquet_chunk *chunk; /* one a column */
	struct parquet_footer footer;
	uint64_t rows, group_rows;
	uint64_t offset; /* bytes written */
	size_t unchecked_rows, unchecked_bytes;
	char *failure; /* what went wrong first, NULL while all is well */
	bool finished;
};

static size_t choose(size_t wanted, size_t otherwise, size_t most)
{
	if (wanted == 0)
		return otherwise;
	return wanted < most ? wanted : most;
}

static void take_settings(struct parquet_settings *settings)
{
	settings->group_rows = settings->group_rows ?: DEFAULT_GROUP_ROWS;
	settings->group_bytes = settings->group_bytes ?: DEFAULT_GROUP_BYTES;
	settings->page_rows =
	    (uint32_t)choose(settings->page_rows, DEFAULT_PAGE_ROWS, MOST_PAGE);
	settings->page_bytes =
	    choose(settings->page_bytes, DEFAULT_PAGE_BYTES, MOST_PAGE);
	settings->dictionary_bytes =
	    choose(settings->dictionary_bytes, DEFAULT_DICTIONARY_BYTES, MOST_PAGE);
}

/* Note the first failure, which every later call has, too. Returns -1. */
static int fail_for_good(struct parquet_writer *writer, struct error *error)
{
	if (!writer->failure)
		writer->failure = mem_strdup(error_text(error));
	return error_set(error, "%s", writer->failure);
}

static int put(struct parquet_writer *writer, const void *data, size_t size,
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
	struct parquet_writer *writer;

	if (parquet_schema_check(column, columns, error))
		return NULL;
	writer = mem_zalloc(sizeof(*writer));
	if (settings)
		writer->settings = *settings;
	take_settings(&writer->settings);
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
	if (put(writer, FORMAT_MAGIC, strlen(FORMAT_MAGIC), error) == 0)
		return writer;
	parquet_writer_free(writer);
	return NULL;
}

void parquet_add_metadata(struct parquet_writer *writer, const char *key,
			  const char *value)
{
	parquet_footer_add_pair(&writer->footer, key, value);
}

static int end_group(struct parquet_writer *writer, struct error *error)
{
	uint64_t offset = writer->offset;

	if (writer->group_rows == 0)
		return 0;
	parquet_footer_begin_group(&writer->footer, writer->columns);
	for (size_t i = 0; i < writer->columns; i++) {
		struct parquet_chunk *chunk = &writer->chunk[i];

		if (parquet_chunk_finish(chunk, error))
			return -1;
		parquet_footer_add_chunk(&writer->footer, chunk, writer->offset);
		if (put(writer, chunk->head.data, chunk->head.size, error) ||
		    put(writer, chunk->body.data, chunk->body.size, error))
			return -1;
		parquet_chunk_reset(chunk);
	}
	parquet_footer_end_group(&writer->footer, offset, writer->group_rows);
	writer->group_rows = 0;
	writer->unchecked_rows = writer->unchecked_bytes = 0;
	return 0;
}

static size_t held(const struct parquet_writer *writer)
{
	size_t bytes = 0;

	for (size_t i = 0; i < writer->columns; i++)
		bytes += parquet_chunk_held(&writer->chunk[i]);
	return bytes;
}

/* So many rows may be added before end_rows; one at least. */
static size_t row_room(const struct parquet_writer *writer)
{
	uint64_t group = writer->settings.group_rows - writer->group_rows;
	size_t check = ROWS_A_CHECK - writer->unchecked_rows;

	return group < check ? (size_t)group : check;
}

/* Rows are in all chunks; ends the row group if it is full. 0, or -1 with error. */
static int end_rows(struct parquet_writer *writer, size_t rows, struct error *error)
{
	bool full;

	writer->rows += rows;
	writer->group_rows += rows;
	writer->unchecked_rows += rows;
	full = writer->group_rows >= writer->settings.group_rows;
	if (!full && (writer->unchecked_rows >= ROWS_A_CHECK ||
		      writer->unchecked_bytes >= BYTES_A_CHECK)) {
		writer->unchecked_rows = writer->unchecked_bytes = 0;
		full = held(writer) >= writer->settings.group_bytes;
	}
	if (full && end_group(writer, error))
		return fail_for_good(writer, error);
	return 0;
}

static int finish(struct parquet_writer *writer, struct error *error)
{
	struct parquet_footer *footer = &writer->footer;
	struct parquet_file file = {
	    .column = writer->column,
	    .columns = writer->columns,
	    .rows = writer->rows,
	};
	struct bytes end = {0};
	int status = -1;

	if (end_group(writer, error))
		goto out;
	parquet_footer_add(footer, &file, &end);
	if (end.size > INT32_MAX) {
		error_set(error,
			  "the metadata of %zu row groups has %zu bytes, want up "
			  "to 2^31",
			  footer->groups, end.size);
		goto out;
	}
	bytes_add_le(&end, end.size, 4);
	bytes_add(&end, FORMAT_MAGIC, strlen(FORMAT_MAGIC));
	if (put(writer, end.data, end.size, error))
		goto out;
	if (fflush(writer->file))
		error_set(error, "cannot write: %s", strerror(errno));
	else
		status = 0;
out:
	bytes_clear(&end);
	return status;
}

int parquet_writer_finish(struct parquet_writer *writer, struct error *error)
{
	if (writer->failure)
		return fail_for_good(writer, error);
	if (writer->finished)
		return 0;
	if (finish(writer, error))
		return fail_for_good(writer, error);
	writer->finished = true;
	return 0;
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
	free(writer->failure);
	free(writer);
}

#define refuse(error, ...) (error_set(error, __VA_ARGS__), PARQUET_REFUSED)

static const char *const cell_name[] = {
    [CELL_NULL] = "null", [CELL_INTEGER] = "an integer", [CELL_REAL] = "a real",
    [CELL_TEXT] = "text", [CELL_BLOB] = "a blob",
};

static int integer_value(const struct parquet_column *column, const struct cell *cell,
			 struct parquet_value *value, struct error *error)
{
	int64_t least = column->type == PARQUET_BOOLEAN ? 0 : INT32_MIN;
	int64_t most = column->type == PARQUET_BOOLEAN ? 1 : INT32_MAX;

	if (cell->type != CELL_INTEGER)
		return refuse(error, "%s, want an integer", cell_name[cell->type]);
	if (column->type != PARQUET_INT64 &&
	    (cell->integer < least || cell->integer > most))
		return refuse(error, "%" PRId64 ", want %" PRId64 " to %" PRId64,
			      cell->integer, least, most);
	value->bits = (uint64_t)cell->integer;
	return 0;
}

/* A real, or an integer that is one exactly. */
static int real_value(const struct cell *cell, struct parquet_value *value,
		      struct error *error)
{
	int64_t exact = INT64_C(1) << 53;
	double real = cell->type == CELL_REAL ? cell->real : (double)cell->integer;

	if (cell->type != CELL_REAL && cell->type != CELL_INTEGER)
		return refuse(error, "%s, want a number", cell_name[cell->type]);
	if (cell->type == CELL_INTEGER &&
	    (cell->integer < -exact || cell->integer > exact))
		return refuse(error, "%" PRId64 ", want an integer up to 2^53",
			      cell->integer);
	memcpy(&value->bits, &real, sizeof(real));
	return 0;
}

static int array_value(const struct parquet_column *column, const struct cell *cell,
		       struct parquet_value *value, struct error *error)
{
	if (cell->type != CELL_TEXT && cell->type != CELL_BLOB)
		return refuse(error, "%s, want text or a blob", cell_name[cell->type]);
	value->bytes = cell->size ? cell->bytes : "";
	value->size = cell->size;
	if (cell->size > PARQUET_LONGEST_VALUE)
		return refuse(error, "%" PRIu32 " bytes, want up to %d", cell->size,
			      PARQUET_LONGEST_VALUE);
	if (column->logical == PARQUET_STRING && !column->is_utf8 &&
	    !utf8_is_valid(cell->bytes, cell->size))
		return refuse(error, "no UTF-8, want text");
	return 0;
}

static int value_of(const struct parquet_column *column, const struct cell *cell,
		    struct parquet_value *value, struct error *error)
{
	*value = (struct parquet_value){.null = cell->type == CELL_NULL,
					.size = parquet_width(column)};
	/* By far the most: any 64 bits will do. */
	if (cell->type == CELL_INTEGER && column->type == PARQUET_INT64) {
		value->bits = (uint64_t)cell->integer;
		return 0;
	}
	if (value->null && !column->optional && !column->list)
		return refuse(error, "null, want a value");
	if (value->null)
		return 0;
	switch (column->type) {
	case PARQUET_BOOLEAN:
	case PARQUET_INT32:
	case PARQUET_INT64:
		return integer_value(column, cell, value, error);
	case PARQUET_DOUBLE:
		return real_value(cell, value, error);
	case PARQUET_BYTE_ARRAY:
		break;
	}
	return array_value(column, cell, value, error);
}

/* The cells of one flat column in some rows: `stride` cells from one to the next. */
struct cells {
	const struct cell *cell;
	size_t stride, count;
};

static bool is_wide_number(const struct parquet_column *column)
{
	return column->type == PARQUET_INT64 || column->type == PARQUET_DOUBLE;
}

/* The type of cells whose 64 bits are the value. */
static enum cell_type own_type(const struct parquet_column *column)
{
	return column->type == PARQUET_INT64 ? CELL_INTEGER : CELL_REAL;
}

/*
 * How many of them, from the first on, fit their column; error says what was wanted of
 * the next one, without the place. Adds the bytes of those to `bytes`.
 */
static size_t check_cells(const struct cells *cells, const struct parquet_column *column,
			  size_t *bytes, struct error *error)
{
	const struct cell *cell = cells->cell;
	enum cell_type own = own_type(column);
	bool wide = is_wide_number(column);
	size_t sum = 0, i;

	for (i = 0; i < cells->count; i++, cell += cells->stride) {
		struct parquet_value value;

		if (wide && cell->type == own) {
			sum += 8;
			continue;
		}
		if (value_of(column, cell, &value, error))
			break;
		sum += value.size;
	}
	*bytes += sum;
	return i;
}

/* Whatever it is. */
static int add_one(struct parquet_chunk *chunk, const struct cell *cell,
		   struct error *error)
{
	struct parquet_value value = {.null = cell->type == CELL_NULL};

	if (chunk->is_array && !value.null) {
		value.size = cell->size;
		value.bytes = cell->size ? cell->bytes : "";
	} else if (value_of(chunk->column, cell, &value, error)) {
		return -1;
	}
	parquet_chunk_add(chunk, PARQUET_FIRST, &value);
	return parquet_chunk_end_rows(chunk, 1, error);
}

/* How many numbers the page surely has room for; 0: one, but no more. */
static size_t page_room(const struct parquet_chunk *chunk, size_t count)
{
	size_t rows = chunk->settings->page_rows - chunk->page_rows;
	size_t numbers = (chunk->settings->page_bytes - chunk->page_bytes) / 8;

	rows = rows < numbers ? rows : numbers;
	return rows < count ? rows : count;
}

/*
 * Numbers and nulls of a column of 64 bits up to a cell that is neither, within the
 * page. Returns how many.
 */
static size_t add_numbers(struct parquet_chunk *chunk, const struct cell *cell,
			  size_t stride, size_t most)
{
	enum cell_type own = own_type(chunk->column);
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
		} else if (cell->type != CELL_NULL) {
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

static int add_cells(const struct cells *cells, struct parquet_chunk *chunk,
		     struct error *error)
{
	bool wide = is_wide_number(chunk->column);

	for (size_t i = 0; i < cells->count;) {
		const struct cell *cell = &cells->cell[i * cells->stride];
		size_t most = wide ? page_room(chunk, cells->count - i) : 0;
		size_t count = add_numbers(chunk, cell, cells->stride, most);

		if (count ? parquet_chunk_end_rows(chunk, count, error)
			  : add_one(chunk, cell, error))
			return -1;
		i += count ? count : 1;
	}
	return 0;
}

/* Adds the bytes of its values to `bytes`. */
static int check_list(const struct parquet_list *list,
		      const struct parquet_column *column, size_t *bytes,
		      struct error *error)
{
	size_t sum = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct parquet_value value;

		if (value_of(column, &list->cell[i], &value, error)) {
			error_prefix(error, "element %zu", i + 1);
			return PARQUET_REFUSED;
		}
		sum += value.size + 4;
		if (sum > PARQUET_LONGEST_ROW)
			return refuse(error, "a list of more than %d bytes, want less",
				      PARQUET_LONGEST_ROW);
	}
	*bytes += sum;
	return 0;
}

static int add_list(struct parquet_chunk *chunk, const struct parquet_list *list,
		    struct error *error)
{
	if (list->count == 0)
		parquet_chunk_add_levels(chunk, PARQUET_FIRST, 1, 1);
	for (size_t i = 0; i < list->count; i++) {
		struct parquet_value value;

		value_of(chunk->column, &list->cell[i], &value, error);
		parquet_chunk_add(chunk, i ? PARQUET_FURTHER : PARQUET_FIRST, &value);
	}
	return parquet_chunk_end_rows(chunk, 1, error);
}

/* How many of the rows, from the first on, fit; error says why the next one does not. */
static size_t count_fitting(struct parquet_writer *writer, const struct cell *cell,
			    const struct parquet_list *list, size_t rows,
			    struct error *error)
{
	for (size_t i = 0; i < writer->columns; i++) {
		const struct parquet_column *column = &writer->column[i];
		const struct cells cells = {&cell[i], writer->columns, rows};
		size_t *bytes = &writer->unchecked_bytes;
		size_t fitting = column->list ? !check_list(list++, column, bytes, error)
					      : check_cells(&cells, column, bytes, error);

		if (fitting < rows)
			error_prefix(error, "column %s", column->name);
		rows = fitting < rows ? fitting : rows;
	}
	return rows;
}

/* Add rows that fit. 0, or -1 with error. */
static int add_fitting(struct parquet_writer *writer, const struct cell *cell,
		       const struct parquet_list *list, size_t rows, struct error *error)
{
	for (size_t i = 0; i < writer->columns; i++) {
		const struct cells cells = {&cell[i], writer->columns, rows};
		struct parquet_chunk *chunk = &writer->chunk[i];

		if (writer->column[i].list ? add_list(chunk, list++, error)
					   : add_cells(&cells, chunk, error))
			return fail_for_good(writer, error);
	}
	return end_rows(writer, rows, error);
}

int parquet_add_row(struct parquet_writer *writer, const struct cell *cell,
		    const struct parquet_list *list, struct error *error)
{
	if (writer->failure)
		return fail_for_good(writer, error);
	if (!count_fitting(writer, cell, list, 1, error))
		return PARQUET_REFUSED;
	return add_fitting(writer, cell, list, 1, error);
}

int parquet_add_rows(struct parquet_writer *writer, const struct cell *cell, size_t rows,
		     size_t *added, struct error *error)
{
	*added = 0;
	if (writer->failure)
		return fail_for_good(writer, error);
	while (*added < rows) {
		const struct cell *first = &cell[*added * writer->columns];
		size_t capacity = row_room(writer), left = rows - *added;
		size_t wanted = left < capacity ? left : capacity;
		size_t count = count_fitting(writer, first, NULL, wanted, error);

		if (add_fitting(writer, first, NULL, count, error))
			return -1;
		*added += count;
		if (count < wanted)
			return PARQUET_REFUSED;
	}
	return 0;
}
