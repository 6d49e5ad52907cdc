/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_PARQUET_PRIVATE_H
#define CT_PARQUET_PARQUET_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "parquet/parquet.h"

/* Constants of the Parquet format (parquet.thrift). */
enum {
	FORMAT_PLAIN = 0,
	FORMAT_RLE = 3,
	FORMAT_DELTA_BINARY_PACKED = 5,
	FORMAT_RLE_DICTIONARY = 8,
	FORMAT_ENCODINGS,
};

enum { FORMAT_DATA_PAGE = 0, FORMAT_DICTIONARY_PAGE = 2 };

#define FORMAT_MAGIC "PAR1"

/* A value of a column's type. */
struct parquet_value {
	bool null;
	uint32_t size; /* in bytes */
	uint64_t bits; /* value of a fixed-width type, in the low bytes */
	const void
	    *bytes; /* value of a byte array, borrowed from the cell; otherwise NULL */
};

/* Return the width of a column's values in bytes, 1 for BOOLEAN, 0 if it varies. */
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

/*
 * Append small numbers of `width` bits (1 to 32), for levels or codes of a dictionary, in
 * the format's RLE encoding (Encodings.md): as runs of equal values, or bit-packed in
 * groups of eight.
 */
void parquet_hybrid_add(struct bytes *out, unsigned width, const uint32_t *value,
			size_t count);

/* Return the number of bits needed for numbers up to `most`. */
unsigned parquet_bits(uint64_t most);

/*
 * Append `count` integers, given in PLAIN encoding (8 bytes each), in the format's
 * DELTA_BINARY_PACKED encoding (Encodings.md): blocks of 128 differences minus the least
 * of them, bit-packed 32 at a time. Differences wrap around, so any integers can be
 * encoded.
 */
void parquet_delta_add(struct bytes *out, const uint8_t *plain, size_t count);

/* The distinct values of a column chunk, with codes in order of appearance. */
struct parquet_dictionary {
	struct bytes plain; /* the values in PLAIN encoding */
	unsigned width; /* bytes of a value; 0: varies, and sizes precede the values */
	size_t most;    /* limit of `plain` in bytes */
	uint32_t count;
	struct intmap numbers; /* codes of values of fixed width */
	struct texts arrays;   /* codes of byte arrays */
	uint32_t last;         /* code of the latest value */
	uint64_t last_bits;    /* the latest value, if of fixed width */
};

enum { PARQUET_FULL = -1 };

/* Return the code of a value, adding it if it is new, or PARQUET_FULL. */
int64_t parquet_dictionary_code(struct parquet_dictionary *dictionary,
				const struct parquet_value *value);

/* Return the approximate memory use in bytes. */
size_t parquet_dictionary_held(const struct parquet_dictionary *dictionary);

void parquet_dictionary_clear(struct parquet_dictionary *dictionary);

/*
 * The least and the greatest value of a column chunk, in the order of the column's type
 * (Parquet format, ColumnOrder). There are no bounds if a value is a NaN, on whose order
 * readers disagree, or longer than PARQUET_LONGEST_BOUND bytes.
 */
enum { PARQUET_LONGEST_BOUND = 64 };

struct parquet_bound {
	uint8_t byte[PARQUET_LONGEST_BOUND]; /* in PLAIN encoding, without a length */
	uint8_t size;
};

struct parquet_range {
	bool any, boundless;
	int64_t least, most; /* for fixed types: keys that sort like the values */
	struct parquet_bound low, high; /* for byte arrays */
};

void parquet_range_add(struct parquet_range *range, const struct parquet_column *column,
		       const struct parquet_value *value);

/* Encode both bounds for the statistics. Return false if there are none. */
bool parquet_range_bounds(const struct parquet_range *range,
			  const struct parquet_column *column, struct parquet_bound *low,
			  struct parquet_bound *high);

/*
 * The compressor of pages, shared by all columns of a file. Only chunk.c uses the
 * libraries for compression.
 */
struct parquet_press {
	enum parquet_codec codec;
	int level;            /* zstd's */
	void *zstd;           /* zstd's context, created for the first page */
	struct bytes content; /* the page before compression */
	struct bytes delta;   /* scratch memory for building the content */
	struct bytes packed;
};

/* Return the codec's number in the format (CompressionCodec). */
int32_t parquet_codec_number(enum parquet_codec codec);

void parquet_press_clear(struct parquet_press *press);

/*
 * A column of a row group: its finished, compressed pages and the page that is being
 * filled. The values of the latter are kept in PLAIN encoding and converted to codes when
 * the page is full.
 */
struct parquet_chunk {
	const struct parquet_column *column;
	const struct parquet_settings *settings;
	struct parquet_press *press;
	unsigned most_definition; /* definition level of a value that is not null */

	uint32_t page_rows, page_values, page_nulls; /* page_values includes nulls */
	size_t page_bytes; /* size in PLAIN encoding, without compression */
	struct bytes repetition, definition; /* levels, one byte each */
	struct bytes values;

	bool by_dictionary; /* encode the page being filled with the dictionary */
	struct parquet_dictionary dictionary;

	struct bytes head; /* dictionary page */
	struct bytes body; /* data pages */
	size_t pages;
	uint32_t pages_of[FORMAT_ENCODINGS];
	uint64_t value_count, nulls, raw_size;
	struct parquet_range range;
};

/* Borrows all arguments as long as the chunk is used. */
void parquet_chunk_init(struct parquet_chunk *chunk, const struct parquet_column *column,
			const struct parquet_settings *settings,
			struct parquet_press *press);

/* The position of a value in a list; PARQUET_FIRST in a flat column. */
enum parquet_place { PARQUET_FIRST, PARQUET_FURTHER };

/* Add the row's value, or the next element of its list. */
void parquet_chunk_add(struct parquet_chunk *chunk, enum parquet_place place,
		       const struct parquet_value *value);

/*
 * Add the levels of `count` entries with this definition level: empty lists or nulls, or
 * values of a flat column that were added to `values` and `page_bytes` before.
 */
void parquet_chunk_add_levels(struct parquet_chunk *chunk, enum parquet_place place,
			      unsigned definition, size_t count);

/* Count finished rows; all but the last must fit into the page. End the page if it is
 * full. Return 0, or -1 with error. */
int parquet_chunk_end_rows(struct parquet_chunk *chunk, size_t rows, struct error *error);

/* Finish the chunk of a row group, which is then `head` followed by `body`. Return 0, or
 * -1 with error. */
int parquet_chunk_finish(struct parquet_chunk *chunk, struct error *error);

/* Begin the next row group. */
void parquet_chunk_reset(struct parquet_chunk *chunk);

/* Return the approximate memory use in bytes. */
size_t parquet_chunk_held(const struct parquet_chunk *chunk);

void parquet_chunk_clear(struct parquet_chunk *chunk);

/*
 * A writer of structs in Apache Thrift's compact protocol, as far as Parquet's metadata
 * needs it. Write the fields of a struct in ascending order of their ids, and end every
 * struct, also in a list, with thrift_end().
 */
enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

enum { THRIFT_DEPTH = 8 };

enum { THRIFT_ITEM = 0 }; /* the id of a list's items, which must not be bools */

struct thrift {
	struct bytes *out;
	int last; /* id of the preceding field of this struct */
	int outer[THRIFT_DEPTH];
	unsigned depth;
};

/* Begin the outermost struct, which is appended to `out`. Borrows `out`. */
void thrift_begin(struct thrift *thrift, struct bytes *out);

void thrift_bool(struct thrift *thrift, int id, bool value);
void thrift_i32(struct thrift *thrift, int id, int32_t value);
void thrift_i64(struct thrift *thrift, int id, int64_t value);
void thrift_text(struct thrift *thrift, int id, const char *text);
void thrift_struct(struct thrift *thrift, int id);

/* Begin a list of `count` items. */
void thrift_list(struct thrift *thrift, int id, enum thrift_type item, size_t count);

void thrift_end(struct thrift *thrift);

/* The content of a file's footer, collected while the file is written. */
struct parquet_footer {
	struct bytes group; /* the RowGroup structs */
	size_t groups;
	struct bytes pair; /* the KeyValue structs */
	size_t pairs;
};

/* Add a row group of finished chunks that begins at `offset` of the file. */
void parquet_footer_add_group(struct parquet_footer *footer,
			      const struct parquet_chunk *chunk, size_t columns,
			      uint64_t rows, uint64_t offset);

void parquet_footer_add_pair(struct parquet_footer *footer, const char *key,
			     const char *value);

/* Append the footer, the struct FileMetaData. */
void parquet_footer_add(const struct parquet_footer *footer,
			const struct parquet_column *column, size_t columns,
			uint64_t rows, struct bytes *out);

void parquet_footer_clear(struct parquet_footer *footer);

#endif
