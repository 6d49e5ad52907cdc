/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_TABLES_TABLE_WRITE_H
#define CT_EXPORT_TABLES_TABLE_WRITE_H

#include <stdatomic.h>

#include "export/format.h"
#include "export/tables/dataset.h"

/* One question and where its rows go. */
struct table_job {
	struct question *question;
	/* A file of this name in the directory; NULL: `file`, or the dataset. */
	char *name;
	FILE *file; /* open; `file_name` is what errors call it */
	const char *file_name;
	struct dataset_key *key; /* a dataset in the directory */
	size_t keys, most_files;
};

/* What jobs share; threads may do one each, with a reader of their own. */
struct table_work {
	const struct export *export;
	const struct table_style *style;
	bool pipe;               /* read and write in two threads */
	_Atomic uint64_t rows;   /* done up to now */
	_Atomic uint64_t mended; /* texts that were no UTF-8 */
	_Atomic bool stopped;    /* something failed: end early */
};

/* 0, or -1 with error. The job's name, question and keys stay the caller's. */
int table_write(struct table_work *work, struct table_job *job,
		struct timeline_reader *timeline, struct error *error);

#endif
