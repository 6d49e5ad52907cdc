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
 * A row is built from where its values begin: in front of that there is space for
 * the longest header there may be, a byte to five a column and its own length.
 */
enum {
	TYPE_MOST = 5,   /* of a cell, whose size has 32 bits */
	NUMBER_MOST = 8, /* bytes of a number in the row */
	DIGITS_MOST = 64,
};

#define SHORT_MOST INT64_C(0x7fffffffffff) /* a number of 6 bytes */

/* While a row is made. */
struct making {
	unsigned char *type, *value; /* behind the last of each */
};

unsigned varint_put(unsigned char *to, uint64_t value)
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

static unsigned bytes_of(int64_t value)
{
	uint64_t size = (uint64_t)(value < 0 ? ~value : value);

	return size <= 0x7f         ? 1
	       : size <= 0x7fff     ? 2
	       : size <= 0x7fffff   ? 3
	       : size <= 0x7fffffff ? 4
	       : size <= SHORT_MOST ? 6
				    : 8;
}

/* Eight bytes may be touched, though fewer are used. */
static void put_integer(struct making *making, int64_t value)
{
	static const unsigned char type_of[] = {[1] = 1, 2, 3, 4, [6] = 5, [8] = 6};
	unsigned bytes;
	uint64_t big;

	if (value == 0 || value == 1) {
		*making->type++ = (unsigned char)(8 + value);
		return;
	}
	bytes = bytes_of(value);
	big = htobe64((uint64_t)value << (64 - 8 * bytes));
	memcpy(making->value, &big, sizeof(big));
	making->value += bytes;
	*making->type++ = type_of[bytes];
}

static void put_null(struct making *making)
{
	*making->type++ = 0;
}

static bool is_whole(double value, double most)
{
	return value >= -most && value <= most && value == floor(value);
}

static void put_real(struct making *making, double value)
{
	uint64_t bits;

	if (isnan(value)) {
		put_null(making);
		return;
	}
	memcpy(&bits, &value, sizeof(bits));
	bits = htobe64(bits);
	memcpy(making->value, &bits, sizeof(bits));
	making->value += sizeof(bits);
	*making->type++ = 7;
}

static void put_bytes(struct making *making, enum cell_type type, const char *bytes,
		      size_t size)
{
	unsigned kind = type == CELL_TEXT ? 13 : 12;

	making->type += varint_put(making->type, 2 * (uint64_t)size + kind);
	if (size)
		memcpy(making->value, bytes, size);
	making->value += size;
}

/* A number in a column of text, as SQLite writes it there. */
static void put_digits(struct making *making, const struct cell *cell)
{
	char text[DIGITS_MOST];

	if (cell->type == CELL_REAL && isnan(cell->real)) {
		put_null(making);
		return;
	}
	if (cell->type == CELL_INTEGER)
		sqlite3_snprintf(sizeof(text), text, "%lld", (long long)cell->integer);
	else
		sqlite3_snprintf(sizeof(text), text, "%!.15g", cell->real);
	put_bytes(making, CELL_TEXT, text, strlen(text));
}

/* In a column of reals a whole number is kept as an integer, and read as a real. */
static void put_as_real(struct making *making, const struct cell *cell)
{
	double value = cell->type == CELL_REAL ? cell->real : (double)cell->integer;

	if (is_whole(value, (double)SHORT_MOST) && !(value == 0 && signbit(value)))
		put_integer(making, (int64_t)value);
	else
		put_real(making, value);
}

/* A cell in a column of this type, as SQLite would store it there. */
static void put_cell(struct making *making, enum cell_type type, const struct cell *cell)
{
	if (cell->type == CELL_NULL)
		put_null(making);
	else if (cell_has_bytes(cell))
		put_bytes(making, cell->type, cell->bytes, cell->size);
	else if (type == CELL_TEXT)
		put_digits(making, cell);
	else if (type == CELL_REAL)
		put_as_real(making, cell);
	else if (cell->type == CELL_INTEGER)
		put_integer(making, cell->integer);
	else if (type == CELL_INTEGER && is_whole(cell->real, 0x1p62))
		put_integer(making, (int64_t)cell->real);
	else
		put_real(making, cell->real);
}

/* What the values take at most, and eight bytes that the last may touch. */
static size_t values_most(const struct cell *cell, size_t cells)
{
	size_t size = cells * DIGITS_MOST + NUMBER_MOST;

	for (size_t i = 0; i < cells; i++)
		if (cell_has_bytes(&cell[i]))
			size += cell[i].size;
	return size;
}

/* Space for a row: for its header twice, and its values. Where its values begin. */
static unsigned char *reserve(struct row_bytes *row, size_t cells, size_t values)
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

/* Put the types in front of the values, and their length in front of them. */
static void finish(struct row_bytes *row, const struct making *making,
		   unsigned char *values)
{
	size_t types = (size_t)(making->type - row->buffer), header = types + 1;
	unsigned char length[VARINT_MOST];
	unsigned bytes;

	while ((bytes = varint_put(length, header)) + types != header)
		header++;
	memmove(values - types, row->buffer, types);
	memcpy(values - header, length, bytes);
	row->bytes = values - header;
	row->size = (size_t)(making->value - row->bytes);
}

void row_bytes_make(struct row_bytes *row, bool has_id, const enum cell_type *type,
		    const struct cell *cell, size_t cells)
{
	unsigned char *values = reserve(row, cells, values_most(cell, cells));
	struct making making = {row->buffer, values};

	if (has_id)
		put_null(&making);
	for (size_t i = 0; i < cells; i++)
		put_cell(&making, type[i], &cell[i]);
	finish(row, &making, values);
}

/* Of a number of SQLite's; moves behind it. */
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
	struct making making;
	unsigned char *values;
	size_t columns = 0;

	for (size_t i = 0; i < cells; i++)
		columns = place[i] < columns ? columns : place[i] + 1;
	value = mem_zalloc(columns * sizeof(*value) + 1);
	varint_get(&at); /* the id's */
	for (size_t i = 0; i < cells; i++) {
		value[place[i]] = (struct value){varint_get(&at), bytes};
		bytes += size_of_type(value[place[i]].type);
	}
	values = reserve(to, columns, row->size);
	making = (struct making){to->buffer, values};
	put_null(&making);
	for (size_t i = 0; i < columns; i++) {
		size_t size = size_of_type(value[i].type);

		making.type += varint_put(making.type, value[i].type);
		memcpy(making.value, value[i].bytes ? value[i].bytes : at, size);
		making.value += size;
	}
	finish(to, &making, values);
	free(value);
}

void row_bytes_clear(struct row_bytes *row)
{
	free(row->buffer);
	*row = (struct row_bytes){0};
}
