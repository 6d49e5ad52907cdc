/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_METADATA_H
#define CT_PARQUET_METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "parquet/chunk.h"

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
