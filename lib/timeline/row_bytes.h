/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_ROW_BYTES_H
#define CT_TIMELINE_ROW_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cell.h"

/*
 * A row of a table as the bytes that stand in SQLite's file, the record format of
 * https://www.sqlite.org/fileformat2.html#record_format.
 */
struct row_bytes {
	const unsigned char *bytes; /* the row, until the next one is made */
	size_t size;
	unsigned char *buffer;
	size_t capacity;
};

/*
 * The row of a table or an index, of cells in the order in which it has them, a type a
 * column; with `has_id` behind a first column that is the id, which stands elsewhere.
 * Values are kept as SQLite keeps them in a column of that type: a whole number as text
 * in one of text, NaN as NULL; CELL_NULL is a column without a type.
 */
void row_bytes_make(struct row_bytes *row, bool has_id, const enum cell_type *type,
		    const struct cell *cell, size_t cells);

/*
 * A row with an id that row_bytes_make made, for a table with other columns, too: the
 * n-th cell goes to the column place[n], counted from 0; the columns between are NULL.
 */
void row_bytes_place(struct row_bytes *to, const struct row_bytes *row,
		     const unsigned *place, size_t cells);

void row_bytes_clear(struct row_bytes *row);

/* SQLite's numbers of 1 to 9 bytes; how many. */
enum { VARINT_MOST = 9 };
unsigned varint_put_long(unsigned char *to, uint64_t value);

static inline unsigned varint_put(unsigned char *to, uint64_t value)
{
	*to = (unsigned char)value;
	return value < 0x80 ? 1 : varint_put_long(to, value);
}

#endif
