/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_READ_PRIVATE_H
#define CT_EXPORT_PARQUET_READ_PRIVATE_H

#include "base/bytes.h"
#include "export/parquet/read.h"

/* What the files of the Parquet reader share; for nobody else. */

/* Where the values of a leaf are in one row group. */
struct parquet_read_chunk {
	int32_t codec;
	uint64_t begin, end; /* in the file */
	uint64_t values;     /* with nulls */
};

struct parquet_read_group {
	uint64_t rows;
	size_t chunk; /* index of its first chunk; one a leaf */
};

struct parquet_read_pair {
	char *key, *value;
};

struct parquet_reader {
	int fd;
	char *path;
	uint64_t size; /* of the file */
	uint64_t rows;
	struct parquet_leaf *leaf;
	size_t leaves, leaf_room;
	struct parquet_read_group *group;
	size_t groups, group_room;
	struct parquet_read_chunk *chunk;
	size_t chunks, chunk_room;
	struct parquet_read_pair *pair;
	size_t pairs, pair_room;
};

/* Take a footer apart: FileMetaData of the format. 0, or -1 with error. */
int parquet_read_footer(struct parquet_reader *reader, const uint8_t *data, size_t size,
			struct error *error);

/* One element of the schema as the footer has it: a tree, flattened. */
struct parquet_read_element {
	int type; /* -1: a group */
	int32_t length, repetition, children, converted;
	bool string, timestamp_milli, list; /* by the logical type */
	const uint8_t *name;
	size_t name_size;
};

/* Leaves of the elements. 0, or -1 with error. */
int parquet_read_tree(struct parquet_reader *reader,
		      const struct parquet_read_element *element, size_t elements,
		      struct error *error);

/* `size` bytes from `offset` on. 0, or -1 with error. */
int parquet_read_at(const struct parquet_reader *reader, uint64_t offset, uint8_t *data,
		    size_t size, struct error *error);

#endif
