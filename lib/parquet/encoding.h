/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_ENCODING_H
#define CT_PARQUET_ENCODING_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "parquet/parquet.h"

/* Numbers of the Parquet format (parquet.thrift) that several files need. */
enum {
	FORMAT_PLAIN = 0,
	FORMAT_RLE = 3,
	FORMAT_DELTA_BINARY_PACKED = 5,
	FORMAT_RLE_DICTIONARY = 8,
	FORMAT_ENCODINGS,
};

enum { FORMAT_DATA_PAGE = 0, FORMAT_DICTIONARY_PAGE = 2 };

#define FORMAT_MAGIC "PAR1"

/* One value as its column has it. */
struct parquet_value {
	bool null;
	uint32_t size;     /* in bytes */
	uint64_t bits;     /* of fixed types: the value's, lowest first */
	const void *bytes; /* of byte arrays, else NULL; borrowed from the cell */
};

/* Bytes of each value of a column, 0: they differ. 1 for BOOLEAN. */
static inline unsigned parquet_width(const struct parquet_column *column)
{
	switch (column->type) {
	case PARQUET_BOOLEAN:
		return 1;
	case PARQUET_INT32:
		return 4;
	case PARQUET_INT64:
	case PARQUET_DOUBLE:
		return 8;
	case PARQUET_BYTE_ARRAY:
		break;
	}
	return 0;
}

/* Encodings of values and levels (Parquet format, Encodings.md). */

/*
 * Add small numbers of `width` bits (1 to 32) as runs of one value, or bit-packed in
 * groups of eight where they change: the encoding RLE of the Parquet format
 * (Encodings.md), for levels and for indices into a dictionary.
 */
void parquet_hybrid_add(struct bytes *out, unsigned width, const uint32_t *value,
			size_t count);

/* The bits that numbers up to `most` need. */
unsigned parquet_bits(uint64_t most);

/*
 * Add `count` integers, given as PLAIN has them (8 bytes each), as
 * DELTA_BINARY_PACKED of the Parquet format (Encodings.md): blocks of 128
 * differences, less the least of them, bit-packed 32 at a time. Differences
 * wrap around, so that any integers go.
 */
void parquet_delta_add(struct bytes *out, const uint8_t *plain, size_t count);

/* The different values of a column chunk, numbered as they come. */
struct parquet_dictionary {
	struct bytes plain; /* the values, as PLAIN has them */
	unsigned width; /* bytes of each, 0: they differ, and their size is in front */
	size_t most;    /* bytes of `plain` */
	uint32_t count;
	struct intmap numbers; /* their codes, of values of one width, */
	struct texts arrays;   /* or of byte arrays */
	uint32_t last;         /* code of the value before, */
	uint64_t last_bits;    /* and the number itself */
};

enum { PARQUET_FULL = -1 };

/* The number of a value, which is added where it is new; or PARQUET_FULL. */
int64_t parquet_dictionary_code(struct parquet_dictionary *dictionary,
				const struct parquet_value *value);

/* About how many bytes of memory it has. */
size_t parquet_dictionary_held(const struct parquet_dictionary *dictionary);

void parquet_dictionary_clear(struct parquet_dictionary *dictionary);

/*
 * The least and the greatest of the values of a column chunk, by the order of the
 * column's type (Parquet format, ColumnOrder). Values with a NaN among them, for which
 * readers have no order in common, or with more bytes than this, have no bounds.
 */
enum { PARQUET_LONGEST_BOUND = 64 };

struct parquet_bound {
	uint8_t byte[PARQUET_LONGEST_BOUND]; /* PLAIN, and without a length */
	uint8_t size;
};

struct parquet_range {
	bool any, boundless;
	int64_t least, most; /* of fixed types: keys that sort as the values do */
	struct parquet_bound low, high; /* of byte arrays */
};

void parquet_range_add(struct parquet_range *range, const struct parquet_column *column,
		       const struct parquet_value *value);

/* Both bounds as statistics have them; false where there are none. */
bool parquet_range_bounds(const struct parquet_range *range,
			  const struct parquet_column *column, struct parquet_bound *low,
			  struct parquet_bound *high);

#endif
