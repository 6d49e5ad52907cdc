/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/row_bytes.h"

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "timeline/reader.h"

/*
 * The buffer begins with space for two headers of the longest possible size. The types
 * are written in front of the values; if some need more than one byte, they are written
 * again at the start, and moved in front of the values when their length is known.
 */
enum {
	TYPE_MOST = 5,   /* bytes of a type, as a cell's size has 32 bits */
	NUMBER_MOST = 8, /* bytes of a number */
	DIGITS_MOST = 64,
};

#define SHORT_MOST INT64_C(0x7fffffffffff) /* the greatest number of 6 bytes */

/* A row that is being encoded. Passed by value, so that it stays in registers. */
struct row_cursor {
	unsigned char *type, *value; /* after the last of each */
};

unsigned varint_put_long(unsigned char *to, uint64_t value)
{
	unsigned bytes = 1;

	if (value >> 56) {
		to[8] = (unsigned char)value;
		value >>= 8;
		for (int i = 7; i >= 0; i--, value >>= 7)
			to[i] = (unsigned char)(value | 0x80);
		return VARINT_MOST;
	}
	for (uint64_t rest = value >> 7; rest; rest >>= 7)
		bytes++;
	for (unsigned i = bytes; i-- > 0; value >>= 7)
		to[i] = (unsigned char)(value | 0x80);
	to[bytes - 1] &= 0x7f;
	return bytes;
}

/* Writes eight bytes, even if fewer are used. */
static inline struct row_cursor put_integer(struct row_cursor at, int64_t value)
{
	/* By the number of bytes needed; there are no types of 5 and 7 bytes. */
	static const unsigned char bytes_of[] = {[1] = 1, 2, 3, 4, 6, 6, 8, 8};
	static const unsigned char type_of[] = {[1] = 1, 2, 3, 4, 5, 5, 6, 6};
	unsigned bytes, need;
	uint64_t big;

	if (value == 0 || value == 1) {
		*at.type++ = (unsigned char)(8 + value);
		return at;
	}
	need = (72 - (unsigned)__builtin_clzll((uint64_t)(value ^ value >> 63) | 1)) / 8;
	bytes = bytes_of[need];
	big = htobe64((uint64_t)value << (64 - 8 * bytes));
	memcpy(at.value, &big, sizeof(big));
	at.value += bytes;
	*at.type++ = type_of[need];
	return at;
}

static inline struct row_cursor put_null(struct row_cursor at)
{
	*at.type++ = 0;
	return at;
}

static bool is_whole(double value, double most)
{
	return value >= -most && value <= most && value == floor(value);
}

static struct row_cursor put_real(struct row_cursor at, double value)
{
	uint64_t bits;

	if (isnan(value))
		return put_null(at);
	memcpy(&bits, &value, sizeof(bits));
	bits = htobe64(bits);
	memcpy(at.value, &bits, sizeof(bits));
	at.value += sizeof(bits);
	*at.type++ = 7;
	return at;
}

static inline struct row_cursor put_bytes(struct row_cursor at, enum cell_type type,
					  const char *bytes, size_t size)
{
	unsigned kind = type == CELL_TEXT ? 13 : 12;

	at.type += varint_put(at.type, 2 * (uint64_t)size + kind);
	if (size)
		memcpy(at.value, bytes, size);
	at.value += size;
	return at;
}

/* Encode a number in a text column, formatted as SQLite does. */
static struct row_cursor put_digits(struct row_cursor at, const struct cell *cell)
{
	char text[DIGITS_MOST];

	if (cell->type == CELL_REAL && isnan(cell->real))
		return put_null(at);
	if (cell->type == CELL_INTEGER)
		sqlite3_snprintf(sizeof(text), text, "%lld", (long long)cell->integer);
	else
		sqlite3_snprintf(sizeof(text), text, "%!.15g", cell->real);
	return put_bytes(at, CELL_TEXT, text, strlen(text));
}

/* Encode a number in a column of reals. SQLite stores whole numbers as integers there. */
static struct row_cursor put_as_real(struct row_cursor at, const struct cell *cell)
{
	double value = cell->type == CELL_REAL ? cell->real : (double)cell->integer;

	if (is_whole(value, (double)SHORT_MOST) && !(value == 0 && signbit(value)))
		return put_integer(at, (int64_t)value);
	return put_real(at, value);
}

/* Encode a cell in a column of this type. */
static inline struct row_cursor put_cell(struct row_cursor at, enum cell_type type,
					 const struct cell *cell)
{
	if (cell->type == CELL_INTEGER && type == CELL_INTEGER)
		return put_integer(at, cell->integer);
	if (cell->type == CELL_NULL)
		return put_null(at);
	if (cell_has_bytes(cell))
		return put_bytes(at, cell->type, cell->bytes, cell->size);
	if (type == CELL_TEXT)
		return put_digits(at, cell);
	if (type == CELL_REAL)
		return put_as_real(at, cell);
	if (cell->type == CELL_INTEGER)
		return put_integer(at, cell->integer);
	if (type == CELL_INTEGER && is_whole(cell->real, 0x1p62))
		return put_integer(at, (int64_t)cell->real);
	return put_real(at, cell->real);
}

/* Return an upper limit of the values' size, with eight bytes that the last may write. */
static size_t max_values_size(const struct cell *cell, size_t cells)
{
	size_t size = cells * DIGITS_MOST + NUMBER_MOST;

	for (size_t i = 0; i < cells; i++) /* no branch: which cells are texts varies */
		size += cell[i].size & -(uint32_t)cell_has_bytes(&cell[i]);
	return size;
}

/* Make the buffer large enough for a row. Return the start of its values. */
static unsigned char *reserve_row(struct row_bytes *row, size_t cells, size_t values)
{
	size_t header = VARINT_MOST + (cells + 1) * TYPE_MOST;
	size_t size = 2 * header + values;

	if (size > row->capacity) {
		free(row->buffer);
		row->buffer = mem_alloc(2 * size);
		row->capacity = 2 * size;
	}
	return row->buffer + 2 * header;
}

/* Move the types in front of the values, and put the header's length in front of them. */
static void finish_row(struct row_bytes *row, struct row_cursor cursor,
		       unsigned char *values)
{
	size_t types = (size_t)(cursor.type - row->buffer), header = types + 1;
	unsigned char length[VARINT_MOST];

	while (varint_put(length, header) + types != header)
		header++;
	memcpy(values - types, row->buffer, types);
	for (size_t i = 0; i < header - types; i++)
		values[i - header] = length[i];
	row->bytes = values - header;
	row->size = (size_t)(cursor.value - row->bytes);
}

static inline struct row_cursor put_cells(struct row_cursor at, bool has_id,
					  const enum cell_type *type,
					  const struct cell *cell, size_t cells)
{
	if (has_id)
		at = put_null(at);
	for (size_t i = 0; i < cells; i++)
		at = put_cell(at, type[i], &cell[i]);
	return at;
}

void row_bytes_make(struct row_bytes *row, bool has_id, const enum cell_type *type,
		    const struct cell *cell, size_t cells)
{
	unsigned char *values = reserve_row(row, cells, max_values_size(cell, cells));
	size_t types = has_id + cells;
	unsigned char *first = values - types;
	struct row_cursor cursor =
	    put_cells((struct row_cursor){first, values}, has_id, type, cell, cells);

	/* Each type has one byte, unless a text is long: nothing needs to move. */
	if (cursor.type == values && types + 1 < 0x80) {
		first[-1] = (unsigned char)(types + 1);
		row->bytes = first - 1;
		row->size = (size_t)(cursor.value - row->bytes);
		return;
	}
	cursor = put_cells((struct row_cursor){row->buffer, values}, has_id, type, cell,
			   cells);
	finish_row(row, cursor, values);
}

/* Read a variable-length integer and advance `at`. */
static uint64_t varint_get(const unsigned char **at)
{
	uint64_t value = 0;

	for (int i = 1; i < VARINT_MOST; i++) {
		value = value << 7 | (**at & 0x7f);
		if (!(*(*at)++ & 0x80))
			return value;
	}
	return value << 8 | *(*at)++;
}

static size_t size_of_type(uint64_t type)
{
	static const unsigned char size[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

	return type < sizeof(size) ? size[type] : (size_t)((type - 12) / 2);
}

void row_bytes_place(struct row_bytes *to, const struct row_bytes *row,
		     const unsigned *place, size_t cells)
{
	struct value {
		uint64_t type;
		const unsigned char *bytes;
	} * value;
	const unsigned char *at = row->bytes, *bytes = row->bytes + varint_get(&at);
	struct row_cursor cursor;
	unsigned char *values;
	size_t columns = 0;

	for (size_t i = 0; i < cells; i++)
		columns = place[i] < columns ? columns : place[i] + 1;
	value = mem_zalloc(columns * sizeof(*value) + 1);
	varint_get(&at); /* skip the type of the id */
	for (size_t i = 0; i < cells; i++) {
		value[place[i]] = (struct value){varint_get(&at), bytes};
		bytes += size_of_type(value[place[i]].type);
	}
	values = reserve_row(to, columns, row->size);
	cursor = put_null((struct row_cursor){to->buffer, values});
	for (size_t i = 0; i < columns; i++) {
		size_t size = size_of_type(value[i].type);

		cursor.type += varint_put(cursor.type, value[i].type);
		memcpy(cursor.value, value[i].bytes ? value[i].bytes : at, size);
		cursor.value += size;
	}
	finish_row(to, cursor, values);
	free(value);
}

void row_bytes_clear(struct row_bytes *row)
{
	free(row->buffer);
	*row = (struct row_bytes){0};
}
