/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/cells.h"

static bool is_wide_number(const struct parquet_column *column)
{
	return column->type == PARQUET_INT64 || column->type == PARQUET_DOUBLE;
}

/* The type of cells whose 64 bits are the value. */
static enum cell_type own_type(const struct parquet_column *column)
{
	return column->type == PARQUET_INT64 ? CELL_INTEGER : CELL_REAL;
}

size_t parquet_cells_check(const struct parquet_cells *cells,
			   const struct parquet_column *column, size_t *bytes,
			   struct error *error)
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
		if (parquet_value_of(column, column->optional, cell, &value, error))
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
	} else if (parquet_value_of(chunk->column, chunk->column->optional, cell, &value,
				    error)) {
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
			parquet_chunk_add_levels(chunk, null, run);
			null = !null;
			run = 0;
		}
		run++;
	}
	parquet_chunk_add_levels(chunk, null, run);
	chunk->values.size += (size_t)(at - begin);
	chunk->page_bytes += (size_t)(at - begin);
	return count;
}

int parquet_cells_add(const struct parquet_cells *cells, struct parquet_chunk *chunk,
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
