/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_DATASET_H
#define CT_TABLES_DATASET_H

#include <stdio.h>

#include "parquet/parquet.h"
#include "tables/table_query.h"

/* The format of files. */
struct table_style {
	bool parquet;    /* CSV if false */
	bool timestamps; /* write instants in ISO 8601, or as Parquet's timestamps */
	struct parquet_settings settings;
};

/* Return "csv" or "parquet". */
const char *table_extension(const struct table_style *style);

/*
 * A file of rows. Before starting it, set its columns, which are borrowed, its name,
 * which is also used in messages, and, if it is open already, the file, which then stays
 * open. A Parquet instant (PARQUET_TIMESTAMP_NANOS) is an instant in CSV as well.
 */
struct table_file {
	char *name; /* taken */
	FILE *file;
	const struct parquet_column *column;
	size_t columns;
	bool is_given;
	struct parquet_writer *writer; /* NULL: CSV */
};

/* Create the file with export_create(), unless it is open already. Return 0, or -1 with
 * error. */
int table_file_begin(struct table_file *file, const char *directory,
		     const struct table_style *style, struct error *error);

/* Write consecutive rows, or one row with lists, whose cells CSV gets. Return 0, or -1
 * with error. */
int table_file_rows(struct table_file *file, const struct cell *row,
		    const struct parquet_list *list, size_t rows, struct error *error);

/* Finish the file and clear the struct. Return 0, or -1 with error. */
int table_file_end(struct table_file *file, struct error *error);

/* Free everything, without finishing the file. The struct may be zeroed. */
void table_file_clear(struct table_file *file);

struct dataset_key {
	const char *name;
	size_t column;    /* column of the query: is_key */
	const char *text; /* or this for all rows, NULL: by the column */
};

/* A query and the destination of its rows. */
struct table_job {
	struct table_query *wanted;
	char *name; /* file in the directory; NULL: determined by the keys */
	FILE *file; /* an open file to use instead, which messages call `name` */
	struct dataset_key *key;
	size_t keys, most_files;
};

/*
 * A writer of rows to one file, or to many files in Hive's layout, partitioned by the
 * values of some columns: KEY=VALUE/KEY=VALUE/part-N below a directory. Readers (DuckDB,
 * Spark, pandas) get the keys from the paths, and skip files with other keys. At most
 * most_files are open at a time; if a key appears again after its file was closed,
 * another file is begun.
 */
struct dataset;

/* Without keys, create the file; with keys, files are created when rows arrive. Borrows
 * all arguments. Return NULL with error. */
struct dataset *dataset_new(const char *directory, const struct table_job *job,
			    const struct table_style *style, struct error *error);

/* Write consecutive rows with all of the query's columns. Return 0, or -1 with error. */
int dataset_rows(struct dataset *dataset, const struct cell *row, size_t rows,
		 struct error *error);

/* Finish all files; the job's open file stays open. Return 0, or -1 with error. */
int dataset_end(struct dataset *dataset, struct error *error);

void dataset_free(struct dataset *dataset);

/* Create a file below `directory`, with the directories in `name`, such as "a/b". Return
 * NULL with error, which names the file. */
FILE *export_create(const char *directory, const char *name, struct error *error);

/* Close a file. Return 0, or -1 with error if this or an earlier write failed: "NAME: No
 * space left on device". */
int export_close(FILE *file, const char *name, struct error *error);

#endif
