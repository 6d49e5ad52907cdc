/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_ROW_BYTES_H
#define CT_TIMELINE_ROW_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cell.h"

/* A row of a table in SQLite's record format
 * (https://www.sqlite.org/fileformat2.html#record_format). Zero-initialize before use. */
struct row_bytes {
	const unsigned char *bytes; /* the row; valid until the next one is made */
	size_t size;
	unsigned char *buffer;
	size_t capacity;
};

/*
 * Encode a row of a table or an index. `type` has the type of each cell's column,
 * CELL_NULL for a column without type. If `has_id`, the row starts with a column for the
 * id, which SQLite stores elsewhere. Values are converted as SQLite does for a column of
 * that type: for example, a number in a text column becomes text, and NaN becomes NULL.
 */
void row_bytes_make(struct row_bytes *row, bool has_id, const enum cell_type *type,
		    const struct cell *cell, size_t cells);

/*
 * Encode a row that row_bytes_make() made with an id for a table with more columns: the
 * n-th cell goes to column place[n], counted from 0, and other columns are NULL.
 */
void row_bytes_place(struct row_bytes *to, const struct row_bytes *row,
		     const unsigned *place, size_t cells);

void row_bytes_clear(struct row_bytes *row);

/* Write an integer in SQLite's variable-length format. Return the number of bytes, 1
 * to 9.
 */
enum { VARINT_MOST = 9 };
unsigned varint_put_long(unsigned char *to, uint64_t value);

/* Return the number of bytes that varint_put() writes. */
static inline unsigned varint_size(uint64_t value)
{
	unsigned bits = 64 - (unsigned)__builtin_clzll(value | 1);

	return bits > 56 ? VARINT_MOST : (bits + 6) / 7;
}

static inline unsigned varint_put(unsigned char *to, uint64_t value)
{
	*to = (unsigned char)value;
	return value < 0x80 ? 1 : varint_put_long(to, value);
}

#endif
