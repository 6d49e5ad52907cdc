/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "export/parquet/chunk.h"
#include "export/parquet/footer.h"
#include "export/parquet/schema.h"

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
	struct parquet_value *value; /* of the row at hand, column after column */
	size_t value_room;
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
	const char *by = settings->created_by;

	settings->group_rows = settings->group_rows ?: DEFAULT_GROUP_ROWS;
	settings->group_bytes = settings->group_bytes ?: DEFAULT_GROUP_BYTES;
	settings->page_rows =
	    (uint32_t)choose(settings->page_rows, DEFAULT_PAGE_ROWS, MOST_PAGE);
	settings->page_bytes =
	    choose(settings->page_bytes, DEFAULT_PAGE_BYTES, MOST_PAGE);
	settings->dictionary_bytes =
	    choose(settings->dictionary_bytes, DEFAULT_DICTIONARY_BYTES, MOST_PAGE);
	settings->created_by = mem_strdup(by ? by : "clustertrace version " CT_VERSION);
}

static int fail(struct parquet_writer *writer, struct error *error)
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
	writer->press.compressor =
	    parquet_compressor_new(writer->settings.codec, writer->settings.level, error);
	if (writer->press.compressor &&
	    put(writer, FORMAT_MAGIC, strlen(FORMAT_MAGIC), error) == 0)
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
	if (writer->group_rows == 0)
		return 0;
	parquet_footer_add_group(&writer->footer, writer->offset, writer->group_rows);
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
	writer->group_rows = 0;
	return 0;
}

static struct parquet_value *value_at(struct parquet_writer *writer, size_t at)
{
	if (at >= writer->value_room)
		writer->value = mem_grow(writer->value, at, &writer->value_room,
					 sizeof(*writer->value));
	return &writer->value[at];
}

/* Counts values in `at`, and their bytes in unchecked_bytes. */
static int take_list(struct parquet_writer *writer, const struct parquet_column *column,
		     const struct parquet_list *list, size_t *at, struct error *error)
{
	size_t bytes = 0;

	if (list->null && !column->optional)
		return error_set(error, "no list, want one"), PARQUET_REFUSED;
	for (size_t i = 0; i < list->count && !list->null; i++) {
		struct parquet_value *value = value_at(writer, (*at)++);

		if (parquet_value_of(column, column->optional_elements, &list->cell[i],
				     value, error)) {
			error_prefix(error, "element %zu", i + 1);
			return PARQUET_REFUSED;
		}
		bytes += value->size + 4;
		if (bytes > PARQUET_LONGEST_ROW)
			return error_set(error, "a list of more than %d bytes, want less",
					 PARQUET_LONGEST_ROW),
			       PARQUET_REFUSED;
	}
	writer->unchecked_bytes += bytes;
	return 0;
}

/* The row's values in their columns' form, if all of them have one. */
static int take_row(struct parquet_writer *writer, const struct cell *cell,
		    const struct parquet_list *list, struct error *error)
{
	size_t at = 0;

	for (size_t i = 0; i < writer->columns; i++) {
		const struct parquet_column *column = &writer->column[i];
		int status;

		if (column->list) {
			status = take_list(writer, column, list++, &at, error);
		} else {
			struct parquet_value *value = value_at(writer, at++);

			status = parquet_value_of(column, column->optional, &cell[i],
						  value, error);
			writer->unchecked_bytes += value->size;
		}
		if (status) {
			error_prefix(error, "column %s", column->name);
			return status;
		}
	}
	return 0;
}

static size_t add_list(struct parquet_chunk *chunk, const struct parquet_list *list,
		       const struct parquet_value *value)
{
	if (list->null || list->count == 0) {
		parquet_chunk_add_empty(chunk, list->null);
		return 0;
	}
	for (size_t i = 0; i < list->count; i++)
		parquet_chunk_add(chunk, i ? PARQUET_FURTHER : PARQUET_FIRST, &value[i]);
	return list->count;
}

static size_t held(const struct parquet_writer *writer)
{
	size_t bytes = 0;

	for (size_t i = 0; i < writer->columns; i++)
		bytes += parquet_chunk_held(&writer->chunk[i]);
	return bytes;
}

static bool is_group_full(struct parquet_writer *writer)
{
	if (writer->group_rows >= writer->settings.group_rows)
		return true;
	if (++writer->unchecked_rows < ROWS_A_CHECK &&
	    writer->unchecked_bytes < BYTES_A_CHECK)
		return false;
	writer->unchecked_rows = writer->unchecked_bytes = 0;
	return held(writer) >= writer->settings.group_bytes;
}

int parquet_add_row(struct parquet_writer *writer, const struct cell *cell,
		    const struct parquet_list *list, struct error *error)
{
	const struct parquet_value *value;
	int status;

	if (writer->failure)
		return fail(writer, error);
	status = take_row(writer, cell, list, error);
	if (status)
		return status;
	value = writer->value;
	for (size_t i = 0; i < writer->columns; i++) {
		struct parquet_chunk *chunk = &writer->chunk[i];

		if (writer->column[i].list)
			value += add_list(chunk, list++, value);
		else
			parquet_chunk_add(chunk, PARQUET_FIRST, value++);
		if (parquet_chunk_end_row(chunk, error))
			return fail(writer, error);
	}
	writer->rows++;
	writer->group_rows++;
	if (is_group_full(writer) && end_group(writer, error))
		return fail(writer, error);
	return 0;
}

static int finish(struct parquet_writer *writer, struct error *error)
{
	struct parquet_footer *footer = &writer->footer;
	struct parquet_file file = {
	    .column = writer->column,
	    .columns = writer->columns,
	    .created_by = writer->settings.created_by,
	    .rows = writer->rows,
	};
	struct bytes end = {0};
	int status = -1;

	if (end_group(writer, error))
		goto out;
	file.offset = writer->offset;
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
	if (put(writer, footer->column_indexes.data, footer->column_indexes.size,
		error) ||
	    put(writer, footer->offset_indexes.data, footer->offset_indexes.size,
		error) ||
	    put(writer, end.data, end.size, error))
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
		return fail(writer, error);
	if (writer->finished)
		return 0;
	if (finish(writer, error))
		return fail(writer, error);
	writer->finished = true;
	return 0;
}

uint64_t parquet_rows(const struct parquet_writer *writer)
{
	return writer->rows;
}

uint64_t parquet_bytes(const struct parquet_writer *writer)
{
	return writer->offset;
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
	free(writer->value);
	free((char *)writer->settings.created_by);
	free(writer->failure);
	free(writer);
}
