/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_DATASET_H
#define CT_TABLES_DATASET_H

#include <stdint.h>
#include <stdio.h>

#include "parquet/parquet.h"
#include "tables/table_query.h"

/* How files of rows look. */
struct table_style {
	bool parquet;    /* else CSV */
	bool timestamps; /* instants: as ISO 8601 has them, or as Parquet's timestamps */
	struct parquet_settings settings;
};

/* "csv" or "parquet" */
const char *table_extension(const struct table_style *style);

/*
 * A file of rows. Before it is begun set its columns, which are borrowed, its name, which
 * messages have, too, and where it is open already, the file, which then stays open.
 * What is an instant to Parquet (PARQUET_TIMESTAMP_NANOS) is one to CSV as well.
 */
struct table_file {
	char *name; /* taken */
	FILE *file;
	const struct parquet_column *column;
	size_t columns;
	bool is_given;
	struct parquet_writer *writer; /* NULL: CSV */
};

/* Create it below a directory, as export_create does, unless it is open. 0, or -1 with
 * error. */
int table_file_begin(struct table_file *file, const char *directory,
		     const struct table_style *style, struct error *error);

/* Rows, one after the other; or one row with lists, of which CSV takes the cells. 0, or
 * -1 with error. */
int table_file_rows(struct table_file *file, const struct cell *row,
		    const struct parquet_list *list, size_t rows, struct error *error);

/* Write the end, and clear it. 0, or -1 with error. */
int table_file_end(struct table_file *file, struct error *error);

/* Whatever is there of it; a zeroed one is fine. */
void table_file_clear(struct table_file *file);

struct dataset_key {
	const char *name;
	size_t column;    /* of the query: is_key */
	const char *text; /* or this for all rows, NULL: by the column */
};

/* One query and where its rows go. */
struct table_job {
	struct table_query *wanted;
	char *name; /* of its file in the directory; NULL: by keys */
	FILE *file; /* instead: open, and `name` is what messages call it */
	struct dataset_key *key;
	size_t keys, most_files;
};

/*
 * Rows in a file, or in many by the values of some columns, as Hive has it: below a
 * directory, KEY=VALUE/KEY=VALUE/part-N. Readers (DuckDB, Spark, pandas) take the keys
 * from the paths, and leave out files whose keys are not asked for. The job's most_files
 * are open at a time; a key that comes again when its file is closed begins another one.
 */
struct dataset;

/* Borrows everything. Without keys the file is made, else none before the first row
 * comes. NULL with error. */
struct dataset *dataset_new(const char *directory, const struct table_job *job,
			    const struct table_style *style, struct error *error);

/* Rows, one after the other, of all of the query's columns. */
int dataset_rows(struct dataset *dataset, const struct cell *row, size_t rows,
		 struct error *error);

/* Finish all files; a given one is still open. 0, or -1 with error. */
int dataset_end(struct dataset *dataset, struct error *error);

void dataset_free(struct dataset *dataset);

/*
 * Create the file NAME, which may be "a/b", below `directory`, with the
 * directories on the way. NULL with an error that names the file.
 */
FILE *export_create(const char *directory, const char *name, struct error *error);

/* Close it; an error that came up at any write is told: "NAME: No space left ...". */
int export_close(FILE *file, const char *name, struct error *error);

#endif
