/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows to the chunks of their columns. */
#include "base/mem.h"
#include "export/parquet/cells.h"
#include "export/parquet/parquet.h"
#include "export/parquet/writer_private.h"

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

int parquet_add_row(struct parquet_writer *writer, const struct cell *cell,
		    const struct parquet_list *list, struct error *error)
{
	const struct parquet_value *value;
	int status;

	if (writer->failure)
		return parquet_writer_fail(writer, error);
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
		if (parquet_chunk_end_rows(chunk, 1, error))
			return parquet_writer_fail(writer, error);
	}
	return parquet_writer_end_rows(writer, 1, error);
}

/* How many of the rows, from the first on, fit; error says why the next one does not. */
static size_t count_fitting(struct parquet_writer *writer, const struct cell *cell,
			    size_t rows, struct error *error)
{
	for (size_t i = 0; i < writer->columns; i++) {
		const struct parquet_cells cells = {&cell[i], writer->columns, rows};
		size_t fitting = parquet_cells_check(&cells, &writer->column[i],
						     &writer->unchecked_bytes, error);

		if (fitting < rows)
			error_prefix(error, "column %s", writer->column[i].name);
		rows = fitting;
	}
	return rows;
}

int parquet_add_rows(struct parquet_writer *writer, const struct cell *cell, size_t rows,
		     size_t *added, struct error *error)
{
	*added = 0;
	if (writer->failure)
		return parquet_writer_fail(writer, error);
	while (*added < rows) {
		const struct cell *first = &cell[*added * writer->columns];
		size_t room = parquet_writer_room(writer), count = rows - *added;
		size_t wanted = count < room ? count : room;

		count = count_fitting(writer, first, wanted, error);
		for (size_t i = 0; i < writer->columns; i++) {
			const struct parquet_cells cells = {&first[i], writer->columns,
							    count};

			if (parquet_cells_add(&cells, &writer->chunk[i], error))
				return parquet_writer_fail(writer, error);
		}
		*added += count;
		if (parquet_writer_end_rows(writer, count, error))
			return -1;
		if (count < wanted)
			return PARQUET_REFUSED;
	}
	return 0;
}
