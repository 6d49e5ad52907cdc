/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_CHUNK_H
#define CT_PARQUET_CHUNK_H

#include "base/bytes.h"
#include "parquet/encoding.h"
#include "parquet/parquet.h"

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

#endif
