/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_DATASET_H
#define CT_TABLES_DATASET_H

#include "tables/table_file.h"

/*
 * Rows in files by the values of some columns, as Hive has it: below a directory,
 * KEY=VALUE/KEY=VALUE/part-N. Readers (DuckDB, Spark, pandas) take the keys from the
 * paths, and leave out files whose keys are not asked for. Some files are open at a time;
 * a key that comes again when its file is closed begins another one.
 */
struct dataset;

struct dataset_key {
	const char *name;
	size_t column;    /* of the question: is_key */
	const char *text; /* or this for all rows, NULL: by the column */
};

/*
 * `most` files are open at a time. Borrows everything, and copies the keys. Nothing is
 * made before the first row comes.
 */
struct dataset *dataset_new(const char *directory, const struct question *question,
			    const struct dataset_key *key, size_t keys,
			    const struct table_style *style, size_t most);

int dataset_row(struct dataset *dataset, const struct cell *row, struct error *error);

/* Finish all files. 0, or -1 with error. */
int dataset_end(struct dataset *dataset, struct error *error);

uint64_t dataset_mended(const struct dataset *dataset);

void dataset_free(struct dataset *dataset);

/*
 * A text as part of a path: control characters, and "#%'*.../ become %XX, as Hive does,
 * a dot at the begin, too. An empty one is __HIVE_DEFAULT_PARTITION__. For free().
 */
char *dataset_escape(const char *bytes, size_t size);

#endif
