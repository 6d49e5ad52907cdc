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

/* While a row is made. It is handed on by value, to stay in registers. */
struct making {
	unsigned char *type, *value; /* behind the last of each */
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

/* Eight bytes may be touched, though fewer are used. */
static inline struct making put_integer(struct making at, int64_t value)
{
	/* By the bytes that the value needs; there are no types of 5 and 7 bytes. */
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

static inline struct making put_null(struct making at)
{
	*at.type++ = 0;
	return at;
}

static bool is_whole(double value, double most)
{
	return value >= -most && value <= most && value == floor(value);
}

static struct making put_real(struct making at, double value)
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

static inline struct making put_bytes(struct making at, enum cell_type type,
				      const char *bytes, size_t size)
{
	unsigned kind = type == CELL_TEXT ? 13 : 12;

	at.type += varint_put(at.type, 2 * (uint64_t)size + kind);
	if (size)
		memcpy(at.value, bytes, size);
	at.value += size;
	return at;
}

/* A number in a column of text, as SQLite writes it there. */
static struct making put_digits(struct making at, const struct cell *cell)
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

/* In a column of reals a whole number is kept as an integer, and read as a real. */
static struct making put_as_real(struct making at, const struct cell *cell)
{
	double value = cell->type == CELL_REAL ? cell->real : (double)cell->integer;

	if (is_whole(value, (double)SHORT_MOST) && !(value == 0 && signbit(value)))
		return put_integer(at, (int64_t)value);
	return put_real(at, value);
}

/* A cell in a column of this type, as SQLite would store it there. */
static inline struct making put_cell(struct making at, enum cell_type type,
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
static void finish(struct row_bytes *row, struct making making, unsigned char *values)
{
	size_t types = (size_t)(making.type - row->buffer), header = types + 1;
	unsigned char length[VARINT_MOST];

	while (varint_put(length, header) + types != header)
		header++;
	memcpy(values - types, row->buffer, types);
	for (size_t i = 0; i < header - types; i++)
		values[i - header] = length[i];
	row->bytes = values - header;
	row->size = (size_t)(making.value - row->bytes);
}

void row_bytes_make(struct row_bytes *row, bool has_id, const enum cell_type *type,
		    const struct cell *cell, size_t cells)
{
	unsigned char *values = reserve(row, cells, values_most(cell, cells));
	struct making making = {row->buffer, values};

	if (has_id)
		making = put_null(making);
	for (size_t i = 0; i < cells; i++)
		making = put_cell(making, type[i], &cell[i]);
	finish(row, making, values);
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
	making = put_null((struct making){to->buffer, values});
	for (size_t i = 0; i < columns; i++) {
		size_t size = size_of_type(value[i].type);

		making.type += varint_put(making.type, value[i].type);
		memcpy(making.value, value[i].bytes ? value[i].bytes : at, size);
		making.value += size;
	}
	finish(to, making, values);
	free(value);
}

void row_bytes_clear(struct row_bytes *row)
{
	free(row->buffer);
	*row = (struct row_bytes){0};
}
