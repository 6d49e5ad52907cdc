/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/version.h"
#include "export/parquet/schema.h"
#include "export/parquet/writer_private.h"

enum {
	DEFAULT_GROUP_ROWS = 1 << 20,
	DEFAULT_GROUP_BYTES = 64 << 20,
	DEFAULT_PAGE_ROWS = 20000,
	DEFAULT_PAGE_BYTES = 1 << 20,
	DEFAULT_DICTIONARY_BYTES = 1 << 20,
	/* With the longest row a page stays below 2^31 bytes, as it must. */
	MOST_PAGE = 1 << 29,
	BYTES_A_CHECK = 1 << 20,
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

int parquet_writer_fail(struct parquet_writer *writer, struct error *error)
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

size_t parquet_writer_room(const struct parquet_writer *writer)
{
	uint64_t group = writer->settings.group_rows - writer->group_rows;
	size_t check = ROWS_A_CHECK - writer->unchecked_rows;

	return group < check ? (size_t)group : check;
}

int parquet_writer_end_rows(struct parquet_writer *writer, size_t rows,
			    struct error *error)
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
		return parquet_writer_fail(writer, error);
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
		return parquet_writer_fail(writer, error);
	if (writer->finished)
		return 0;
	if (finish(writer, error))
		return parquet_writer_fail(writer, error);
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
