/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_PARQUET_H
#define CT_PARQUET_PARQUET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cell.h"
#include "base/error.h"

/*
 * Writing Apache Parquet: flat columns and lists, row by row. A column chunk is encoded
 * by a dictionary where that makes it smaller, else PLAIN, or, of INT64,
 * DELTA_BINARY_PACKED where that is smaller. What is kept in
 * memory is one row group, its settings' group_bytes, and what the file's end
 * says of those before: about 2 KB for each million numbers.
 */
enum parquet_type {
	PARQUET_BOOLEAN,    /* of nulls alone: no table has other values */
	PARQUET_INT32,      /* from integers; one outside of its range is refused */
	PARQUET_INT64,      /* from integers */
	PARQUET_DOUBLE = 5, /* from reals and from exact integers */
	PARQUET_BYTE_ARRAY, /* from text and blobs */
};

/* What the values mean. */
enum parquet_logical {
	PARQUET_NO_LOGICAL,
	PARQUET_STRING,           /* BYTE_ARRAY; what is no UTF-8 is refused */
	PARQUET_TIMESTAMP_MILLIS, /* INT64, since the epoch, UTC */
	PARQUET_TIMESTAMP_NANOS,
};

struct parquet_column {
	const char *name;
	enum parquet_type type; /* of a value, in a list of its elements */
	enum parquet_logical logical;
	bool optional; /* else REQUIRED */
	bool list;     /* optional, and so are its elements */
	bool is_utf8;  /* texts were checked already */
};

enum parquet_codec { PARQUET_ZSTD, PARQUET_UNCOMPRESSED, PARQUET_SNAPPY };

/* 0 is the default of each. */
struct parquet_settings {
	enum parquet_codec codec;
	int level;           /* of zstd, 1 to 19: 1 */
	uint64_t group_rows; /* most rows of a row group: 1,048,576 */
	size_t group_bytes;  /* most bytes of one, as kept: 64 MiB, and a row */
	uint32_t page_rows;  /* most rows of a page: 20,000 */
	size_t page_bytes;   /* most bytes of one before compression: 1 MiB, and a row */
	size_t dictionary_bytes; /* most bytes of a chunk's dictionary: 1 MiB */
};

enum {
	PARQUET_LONGEST_VALUE = 1 << 29, /* bytes */
	PARQUET_LONGEST_ROW = 1 << 30,   /* bytes of the values of one list */
};

struct parquet_writer;

/*
 * Begin a file of these columns, of which there is at least one, with names of their
 * own in UTF-8. Copies them and the settings (NULL: the defaults);
 * borrows `file`, which is written from where it stands on and need not be
 * seekable. NULL with error.
 */
struct parquet_writer *parquet_writer_new(FILE *file, const struct parquet_column *column,
					  size_t columns,
					  const struct parquet_settings *settings,
					  struct error *error);

/* A key of the file's own metadata with its value; copies both. Any time
 * before the end. */
void parquet_add_metadata(struct parquet_writer *writer, const char *key,
			  const char *value);

/* What a row has in a list column. */
struct parquet_list {
	const struct cell *cell;
	size_t count;
};

/*
 * Add rows of flat columns, one after the other, or one row with lists: one cell a
 * column, of which those of list columns are not looked at, and one list a list column,
 * in their order (NULL where there are none).
 *
 * 0; or -1 with error where a value does not fit its column ("row 5: column value: ..."),
 * or writing failed. Then there will be no file: free the writer.
 */
int parquet_add_rows(struct parquet_writer *writer, const struct cell *cell,
		     const struct parquet_list *list, size_t rows, struct error *error);

/*
 * Write what is left and the file's end, and flush the file. Without it there
 * is no Parquet file. 0, or -1 with error.
 */
int parquet_writer_finish(struct parquet_writer *writer, struct error *error);

void parquet_writer_free(struct parquet_writer *writer);

#endif
