/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CELL_H
#define CT_BASE_CELL_H

#include <stddef.h>
#include <stdint.h>

/*
 * One value of a table: what readers hand over and the timeline stores. An
 * unsigned 64-bit number keeps its bits, so past 2^63 it is negative here.
 */
enum cell_type { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BLOB };

struct cell {
	enum cell_type type;
	uint32_t size; /* of text (without a final 0) and blob, in bytes */
	union {
		int64_t integer;
		double real;
		const char *bytes; /* borrowed; text is UTF-8 */
	};
};

/* Bytes, cut to what a size can say; borrowed as the cell borrows them. */
void cell_set_bytes(struct cell *cell, enum cell_type type, const char *bytes,
		    size_t size);

/* Text; bytes that are no UTF-8 become a blob. */
void cell_set_text(struct cell *cell, const char *bytes, size_t size);

#endif
