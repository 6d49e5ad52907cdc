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
 * A writer of Apache Parquet: flat columns and lists, row by row.
 *
 * A column chunk is encoded with a dictionary if that makes it smaller, otherwise PLAIN,
 * or for INT64 as DELTA_BINARY_PACKED if that is smaller. Memory holds one row group, of
 * up to group_bytes, and the footer's entries for the earlier groups: about 2 KB for a
 * million numbers.
 */
enum parquet_type {
	PARQUET_BOOLEAN,    /* nulls only: no table has other values */
	PARQUET_INT32,      /* from integers; those out of range are refused */
	PARQUET_INT64,      /* from integers */
	PARQUET_DOUBLE = 5, /* from reals and from exact integers */
	PARQUET_BYTE_ARRAY, /* from text and blobs */
};

/* The meaning of the values. */
enum parquet_logical {
	PARQUET_NO_LOGICAL,
	PARQUET_STRING,           /* BYTE_ARRAY; bytes that are not UTF-8 are refused */
	PARQUET_TIMESTAMP_MILLIS, /* INT64, since the epoch, UTC */
	PARQUET_TIMESTAMP_NANOS,
};

struct parquet_column {
	const char *name;
	enum parquet_type type; /* type of a value, or of a list's elements */
	enum parquet_logical logical;
	bool optional; /* REQUIRED if false */
	bool list;     /* an optional list of optional elements */
	bool is_utf8;  /* the caller has checked the texts */
};

enum parquet_codec { PARQUET_ZSTD, PARQUET_UNCOMPRESSED, PARQUET_SNAPPY };

/* Settings; 0 means the default. Limits in bytes may be exceeded by one row. */
struct parquet_settings {
	enum parquet_codec codec;
	int level;               /* zstd's, 1 to 19; default 1 */
	bool plain;              /* the fastest encoding, without bounds of values */
	uint64_t group_rows;     /* limit of a row group; default 1,048,576 */
	size_t group_bytes;      /* limit of a row group in memory; default 64 MiB */
	uint32_t page_rows;      /* limit of a page; default 20,000 */
	size_t page_bytes;       /* limit of a page before compression; default 1 MiB */
	size_t dictionary_bytes; /* limit of a chunk's dictionary; default 1 MiB */
};

enum {
	PARQUET_LONGEST_VALUE = 1 << 29, /* bytes */
	PARQUET_LONGEST_ROW = 1 << 30,   /* bytes of all values of one list */
};

struct parquet_writer;

/*
 * Begin a file with at least one column; the names must be distinct and in UTF-8. Copies
 * the columns and the settings (NULL: the defaults). Borrows `file` until the writer is
 * freed, writes from its current position on, and does not seek. Return NULL with error.
 */
struct parquet_writer *parquet_writer_new(FILE *file, const struct parquet_column *column,
					  size_t columns,
					  const struct parquet_settings *settings,
					  struct error *error);

/* Add a key and its value to the file's metadata. Copies both. Call before
 * parquet_writer_finish(). */
void parquet_add_metadata(struct parquet_writer *writer, const char *key,
			  const char *value);

/* The elements of one row in a list column. */
struct parquet_list {
	const struct cell *cell;
	size_t count;
};

/*
 * Add consecutive rows of flat columns, or a single row with lists. `cell` has one cell
 * for each column, of which those of list columns are ignored; `list` has one entry for
 * each list column, in order, or is NULL if there are none.
 *
 * Return 0, or -1 with error if a value does not fit its column ("row 5: column value:
 * ...") or writing failed. After an error the file cannot be finished: free the writer.
 */
int parquet_add_rows(struct parquet_writer *writer, const struct cell *cell,
		     const struct parquet_list *list, size_t rows, struct error *error);

/* Write the last row group and the footer, and flush the file. Without this call the file
 * is not valid. Return 0, or -1 with error. */
int parquet_writer_finish(struct parquet_writer *writer, struct error *error);

void parquet_writer_free(struct parquet_writer *writer);

#endif
