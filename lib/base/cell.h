/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CELL_H
#define CT_BASE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

static inline struct cell cell_of_null(void)
{
	return (struct cell){.type = CELL_NULL};
}

static inline struct cell cell_of_integer(int64_t value)
{
	return (struct cell){.type = CELL_INTEGER, .integer = value};
}

/* A CELL_NULL where the value is `none`: -1, say, or INT64_MIN. */
static inline struct cell cell_of_known(int64_t value, int64_t none)
{
	return value == none ? cell_of_null() : cell_of_integer(value);
}

static inline struct cell cell_of_real(double value)
{
	return (struct cell){.type = CELL_REAL, .real = value};
}

/* NULL becomes a CELL_NULL. Borrows. */
static inline struct cell cell_of_text(const char *text)
{
	return text ? (struct cell){.type = CELL_TEXT,
				    .size = (uint32_t)strlen(text),
				    .bytes = text}
		    : cell_of_null();
}

static inline bool cell_has_bytes(const struct cell *cell)
{
	return cell->type == CELL_TEXT || cell->type == CELL_BLOB;
}

/* Bytes, cut to what a size can say; borrowed as the cell borrows them. */
void cell_set_bytes(struct cell *cell, enum cell_type type, const char *bytes,
		    size_t size);

/* Text; bytes that are no UTF-8 become a blob. */
void cell_set_text(struct cell *cell, const char *bytes, size_t size);

/* The cell's integer, or this where it has none. */
int64_t cell_integer(const struct cell *cell, int64_t otherwise);

/* A number as a real, NaN where it is none. */
double cell_number(const struct cell *cell);

/* A text, "" where it is none. For free(). */
char *cell_text(const struct cell *cell);

#endif
