/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_TABLE_FILE_H
#define CT_TABLES_TABLE_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "parquet/parquet.h"
#include "tables/question.h"

/* How files of rows look. */
struct table_style {
	bool parquet;    /* else CSV */
	bool timestamps; /* instants: as ISO 8601 has them, or as Parquet's timestamps */
	struct parquet_settings settings;
	const char *extension; /* "csv" */
};

/* One file of rows, as Parquet or CSV. */
struct table_file;

/*
 * Begin it, with all columns but keys; `name` is what errors call it. Borrows the file,
 * the question and the style; copies the name. NULL with error.
 */
struct table_file *table_file_new(FILE *file, const char *name,
				  const struct question *question,
				  const struct table_style *style, struct error *error);

/* Rows, one after the other, of all of the question's columns. */
int table_file_rows(struct table_file *table, const struct cell *row, size_t rows,
		    struct error *error);

/* Write the end. The file is still open. 0, or -1 with error. */
int table_file_end(struct table_file *table, struct error *error);

/* Texts that were no UTF-8, in which U+FFFD stands now. */
uint64_t table_file_mended(const struct table_file *table);

void table_file_free(struct table_file *table);

#endif
