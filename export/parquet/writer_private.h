/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_WRITER_PRIVATE_H
#define CT_EXPORT_PARQUET_WRITER_PRIVATE_H

#include "export/parquet/chunk.h"
#include "export/parquet/footer.h"

/* For parquet.c and rows.c. */
enum {
	/* The memory that chunks have is added up not for every row. */
	ROWS_A_CHECK = 256,
};

struct parquet_writer {
	FILE *file;
	struct parquet_column *column;
	size_t columns;
	struct parquet_settings settings;
	struct parquet_press press;
	struct parquet_chunk *chunk; /* one a column */
	struct parquet_footer footer;
	struct parquet_value *value; /* of the row at hand, column after column */
	size_t value_room;
	uint64_t rows, group_rows;
	uint64_t offset; /* bytes written */
	size_t unchecked_rows, unchecked_bytes;
	char *failure; /* what went wrong first, NULL while all is well */
	bool finished;
};

/* Note the first failure, which every later call has, too. Returns -1. */
int parquet_writer_fail(struct parquet_writer *writer, struct error *error);

/* So many rows may be added before parquet_writer_end_rows; one at least. */
size_t parquet_writer_room(const struct parquet_writer *writer);

/* Rows are in all chunks; ends the row group if it is full. 0, or -1 with error. */
int parquet_writer_end_rows(struct parquet_writer *writer, size_t rows,
			    struct error *error);

#endif
