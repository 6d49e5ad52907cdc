/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_PARQUET_METADATA_H
#define CT_PARQUET_METADATA_H

#include "base/bytes.h"
#include "parquet/chunk.h"

/*
 * What stands at the end of a file, collected while it is written: the
 * metadata of row groups, kept as it will be written.
 */
struct parquet_footer {
	struct bytes metadata; /* ColumnMetaData of all chunks */
	uint32_t *chunk;       /* the bytes that each has of it */
	size_t chunks, chunk_room;
	struct parquet_footer_group *group;
	size_t groups, group_room;
	struct parquet_pair *pair;
	size_t pairs, pair_room;
};

struct parquet_pair {
	char *key, *value;
};

/* A row group begins at `offset` of the file. */
void parquet_footer_add_group(struct parquet_footer *footer, uint64_t offset,
			      uint64_t rows);

/* Take note of a finished chunk of it, that begins at `offset` of the file. */
void parquet_footer_add_chunk(struct parquet_footer *footer,
			      const struct parquet_chunk *chunk, uint64_t offset);

/* Copies both. */
void parquet_footer_add_pair(struct parquet_footer *footer, const char *key,
			     const char *value);

/* Whether there can be a file of these columns: 0, or -1 with error. */
int parquet_schema_check(const struct parquet_column *column, size_t columns,
			 struct error *error);

struct parquet_file {
	const struct parquet_column *column;
	size_t columns;
	uint64_t rows;
};

/* FileMetaData. */
void parquet_footer_add(const struct parquet_footer *footer,
			const struct parquet_file *file, struct bytes *out);

void parquet_footer_clear(struct parquet_footer *footer);

#endif
