/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_ROW_BYTES_H
#define CT_TIMELINE_ROW_BYTES_H

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
	unsigned char *room;
	size_t room_size;
};

/*
 * The row of a table whose first column is its id, and of cells behind it, a type a
 * column. Values are kept as SQLite keeps them in a column of that type: a whole
 * number as text in one of text, NaN as NULL; CELL_NULL is a column without a type.
 */
void row_bytes_make(struct row_bytes *row, const enum cell_type *type,
		    const struct cell *cell, size_t cells);

/* The same of a table without rowid, whose cells are in the order in which it has them.
 */
void row_bytes_make_entry(struct row_bytes *row, const enum cell_type *type,
			  const struct cell *cell, size_t cells);

/*
 * A row that row_bytes_make made, for a table with other columns, too: the n-th cell goes
 * to the column place[n], counted from 0; the columns between are NULL.
 */
void row_bytes_place(struct row_bytes *to, const struct row_bytes *row,
		     const unsigned *place, size_t cells);

/* The key of an index of one column of integers, NULL not among them. */
void row_bytes_make_key(struct row_bytes *row, int64_t value, int64_t id);

void row_bytes_clear(struct row_bytes *row);

/* SQLite's numbers of 1 to 9 bytes; how many. */
enum { VARINT_MOST = 9 };
unsigned varint_put(unsigned char *to, uint64_t value);

#endif
