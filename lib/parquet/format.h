/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_FORMAT_H
#define CT_PARQUET_FORMAT_H

#include <stdbool.h>
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

/*
 * Turns the content of a page into the page: compressed, with its header. One serves all
 * columns of a file; it is the only user of the compressors' libraries.
 */
struct parquet_press {
	enum parquet_codec codec;
	int level;            /* of zstd */
	void *zstd;           /* its context, when the first page is there */
	struct bytes content; /* to be filled for each page */
	struct bytes delta;   /* of use while the content is made */
	struct bytes packed;
};

/* The codec's number in the format (CompressionCodec). */
int32_t parquet_codec_number(enum parquet_codec codec);

void parquet_press_clear(struct parquet_press *press);

/*
 * One column of one row group: full pages, compressed, and the page that is
 * being filled. Its values are in `values`, as PLAIN has them; when it is full, they get
 * their codes all at once.
 */
struct parquet_chunk {
	const struct parquet_column *column;
	const struct parquet_settings *settings;
	struct parquet_press *press;
	unsigned most_definition; /* the level of what is there */

	uint32_t page_rows, page_values, page_nulls; /* page_values counts nulls, too */
	size_t page_bytes; /* before compression, as PLAIN would have them */
	struct bytes repetition, definition; /* levels, a byte each */
	struct bytes values;

	bool by_dictionary; /* the page that is being filled */
	struct parquet_dictionary dictionary;

	struct bytes head; /* the dictionary's page */
	struct bytes body; /* data pages */
	size_t pages;
	uint32_t pages_of[FORMAT_ENCODINGS];
	uint64_t value_count, nulls, raw_size;
	struct parquet_range range;
};

/* All of it is borrowed while the chunk is in use. */
void parquet_chunk_init(struct parquet_chunk *chunk, const struct parquet_column *column,
			const struct parquet_settings *settings,
			struct parquet_press *press);

/* What of a list a value is; of a flat column it is PARQUET_FIRST. */
enum parquet_place { PARQUET_FIRST, PARQUET_FURTHER };

/* The row's value, or the next element of its list. */
void parquet_chunk_add(struct parquet_chunk *chunk, enum parquet_place place,
		       const struct parquet_value *value);

/*
 * So many rows have this definition level: without a value, as an empty list and a null
 * have them; or, of a flat column, with values, which are in `values` and `page_bytes`
 * already.
 */
void parquet_chunk_add_levels(struct parquet_chunk *chunk, enum parquet_place place,
			      unsigned definition, size_t count);

/* So many rows are whole; a page has room for all but the last of them. 0, or -1 with
 * error, as below. */
int parquet_chunk_end_rows(struct parquet_chunk *chunk, size_t rows, struct error *error);

/* The row group is whole: `head` and `body` are the chunk. */
int parquet_chunk_finish(struct parquet_chunk *chunk, struct error *error);

/* Begin the next row group. */
void parquet_chunk_reset(struct parquet_chunk *chunk);

/* About the bytes of memory that it has. */
size_t parquet_chunk_held(const struct parquet_chunk *chunk);

void parquet_chunk_clear(struct parquet_chunk *chunk);

/*
 * Writing structs in Apache Thrift's compact protocol, as far as Parquet's
 * metadata needs it. Fields of a struct come by ascending id. Every struct,
 * also one in a list, ends with thrift_end.
 */
enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_BINARY = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12,
};

enum { THRIFT_DEPTH = 8 };

enum { THRIFT_ITEM = 0 }; /* the id of an item of a list, of any type but bool */

struct thrift {
	struct bytes *out;
	int last; /* id of the field before, in this struct */
	int outer[THRIFT_DEPTH];
	unsigned depth;
};

/* Begin the outermost struct, behind what is in `out`, which it borrows. */
void thrift_begin(struct thrift *thrift, struct bytes *out);

void thrift_bool(struct thrift *thrift, int id, bool value);
void thrift_i32(struct thrift *thrift, int id, int32_t value);
void thrift_i64(struct thrift *thrift, int id, int64_t value);
void thrift_text(struct thrift *thrift, int id, const char *text);
void thrift_struct(struct thrift *thrift, int id);

/* A list, of which `count` items are to follow. */
void thrift_list(struct thrift *thrift, int id, enum thrift_type item, size_t count);

void thrift_end(struct thrift *thrift);

/* What stands at the end of a file, collected while it is written. */
struct parquet_footer {
	struct bytes group; /* RowGroup of all */
	size_t groups;
	struct bytes pair; /* KeyValue of all */
	size_t pairs;
};

/* Add a row group of these chunks, which are finished; it begins at `offset` of the
 * file. */
void parquet_footer_add_group(struct parquet_footer *footer,
			      const struct parquet_chunk *chunk, size_t columns,
			      uint64_t rows, uint64_t offset);

void parquet_footer_add_pair(struct parquet_footer *footer, const char *key,
			     const char *value);

/* FileMetaData: the footer of a file of these columns. */
void parquet_footer_add(const struct parquet_footer *footer,
			const struct parquet_column *column, size_t columns,
			uint64_t rows, struct bytes *out);

void parquet_footer_clear(struct parquet_footer *footer);

#endif
