/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_READ_H
#define CT_EXPORT_PARQUET_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "export/parquet/parquet.h"

/*
 * Reading Apache Parquet, ours or another's: every physical type, nested groups, pages
 * of version 1 and 2, PLAIN, dictionaries, RLE, the DELTA encodings and
 * BYTE_STREAM_SPLIT; codecs none, snappy, gzip, zstd and LZ4_RAW. The file may say
 * anything: what does not hold is an error that names the place, never a crash. In
 * memory are the footer and, for each cursor, one page and one dictionary.
 */
enum parquet_repetition { PARQUET_REQUIRED, PARQUET_OPTIONAL, PARQUET_REPEATED };

enum { PARQUET_INT96 = 3 }; /* a physical type that is read but never written */

enum { PARQUET_UNANNOTATED = -1 };

/* A column of values: a leaf of the schema. */
struct parquet_leaf {
	const char *name;     /* of the field of a row that it belongs to */
	const char *path;     /* with the names of groups in it: "a.list.element" */
	unsigned parts;       /* names in the path */
	int type;             /* enum parquet_type, or PARQUET_INT96 */
	uint32_t length;      /* of FIXED_LEN_BYTE_ARRAY */
	int converted;        /* ConvertedType of the format: 0 UTF8, 3 LIST, 9
				 TIMESTAMP_MILLIS, ...; PARQUET_UNANNOTATED */
	bool string;          /* text by its logical or converted type */
	bool timestamp_milli; /* a timestamp in milliseconds, likewise */
	enum parquet_repetition top;  /* of the field of a row */
	enum parquet_repetition last; /* of the leaf itself */
	bool list;                    /* the field is annotated as a LIST */
	unsigned most_definition, most_repetition;
};

struct parquet_reader;

/* Open a file and read its footer. NULL with error, which names the file. */
struct parquet_reader *parquet_reader_open(const char *path, struct error *error);

uint64_t parquet_reader_rows(const struct parquet_reader *reader);
size_t parquet_reader_leaves(const struct parquet_reader *reader);
const struct parquet_leaf *parquet_reader_leaf(const struct parquet_reader *reader,
					       size_t leaf);

/* The leaf of a field that has only one. NULL: no such field, or one of several. */
const struct parquet_leaf *parquet_reader_find(const struct parquet_reader *reader,
					       const char *name);

/* A key of the file's own metadata. NULL: not there. */
const char *parquet_reader_metadata(const struct parquet_reader *reader, const char *key);

/* After its cursors. */
void parquet_reader_free(struct parquet_reader *reader);

/* The values of a leaf, one after the other. Borrows the reader. */
struct parquet_cursor;

struct parquet_cursor *parquet_cursor_new(struct parquet_reader *reader,
					  const struct parquet_leaf *leaf);

struct parquet_item {
	unsigned repetition; /* 0: it begins a row */
	unsigned definition; /* below most_definition: null, or an empty list */
	bool null;
	uint64_t bits;        /* of fixed types up to 64 bits, lowest first */
	const uint8_t *bytes; /* of byte arrays and INT96; good until the next call */
	uint32_t size;
};

/* The next value, null, or empty list: 1, or 0 at the end, or -1 with error. */
int parquet_cursor_next(struct parquet_cursor *cursor, struct parquet_item *item,
			struct error *error);

/* Whether the next one belongs to the row of the last one: 1, 0, or -1 with error. What
 * the last one borrowed may be gone after it. */
int parquet_cursor_in_row(struct parquet_cursor *cursor, struct error *error);

void parquet_cursor_free(struct parquet_cursor *cursor);

#endif
