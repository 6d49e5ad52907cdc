/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CELL_H
#define CT_BASE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * One value of a table, as readers deliver it and the timeline stores it. Unsigned 64-bit
 * numbers keep their bits, so from 2^63 on they are negative here.
 */
enum cell_type { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BLOB };

struct cell {
	enum cell_type type;
	uint32_t size; /* bytes of a text (without a NUL) or a blob */
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

/* Return a CELL_NULL if the value is `none`, such as -1 or INT64_MIN. */
static inline struct cell cell_of_known(int64_t value, int64_t none)
{
	return value == none ? cell_of_null() : cell_of_integer(value);
}

static inline struct cell cell_of_real(double value)
{
	return (struct cell){.type = CELL_REAL, .real = value};
}

/* Return a text cell, or CELL_NULL for NULL. Borrows `text`. */
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

/* Set type and bytes; more than UINT32_MAX bytes are truncated. Borrows `bytes`. */
void cell_set_bytes(struct cell *cell, enum cell_type type, const char *bytes,
		    size_t size);

/* Make the cell a text, or a blob if the bytes are not UTF-8. Borrows `bytes`. */
void cell_set_text(struct cell *cell, const char *bytes, size_t size);

/* Return the cell's integer, or `otherwise` if it is not an integer. */
int64_t cell_integer(const struct cell *cell, int64_t otherwise);

/* Return the cell's number as a double, or NaN if it holds no number. */
double cell_number(const struct cell *cell);

/* Append the cell as a part of a key, for texts_put_bytes(). A number with a fraction of
 * 0 is the same key as an integer. */
struct bytes;
void cell_add_key(const struct cell *cell, struct bytes *key);

/* Return a copy of the cell's text, "" if it is not a text. The caller frees it. */
char *cell_text(const struct cell *cell);

#endif
