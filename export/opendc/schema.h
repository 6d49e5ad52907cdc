/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_SCHEMA_H
#define CT_EXPORT_OPENDC_SCHEMA_H

#include "base/error.h"
#include "parquet/parquet.h"

/* The versions of OpenDC's workload traces, and the columns of each. */
enum { OPENDC_LAST_SCHEMA = 5 };

/* What a column holds, whatever the version calls it. */
enum opendc_field {
	OPENDC_ID,
	OPENDC_NAME,
	OPENDC_SUBMISSION, /* ms since the epoch */
	OPENDC_STOP,
	OPENDC_DURATION, /* ms */
	OPENDC_CPU_COUNT,
	OPENDC_CPU_CAPACITY, /* MHz */
	OPENDC_MEM_CAPACITY, /* KB */
	OPENDC_GPU_COUNT,
	OPENDC_GPU_CAPACITY,
	OPENDC_PARENTS, /* ids */
	OPENDC_CHILDREN,
	OPENDC_NATURE,
	OPENDC_DEFERRABLE,
	OPENDC_DEADLINE,  /* ms since the epoch */
	OPENDC_NODE,      /* ours, passed over by OpenDC: where it ran */
	OPENDC_TIMESTAMP, /* of a fragment's end */
	OPENDC_CPU_USAGE, /* MHz */
	OPENDC_GPU_USAGE,
	OPENDC_FIELDS
};

struct opendc_column {
	enum opendc_field field;
	struct parquet_column parquet;
};

struct opendc_table {
	const char *file; /* without its ending: "tasks", "trace/meta" */
	struct opendc_column column[16];
	size_t columns;
};

/* The tables of a version. */
struct opendc_table opendc_tasks_table(int schema);
struct opendc_table opendc_fragments_table(int schema);

/* A table's file while it is written, Parquet or CSV. */
struct opendc_sink;

/* Below a directory. Copies the table; NULL with error. */
struct opendc_sink *opendc_sink_new(const char *directory,
				    const struct opendc_table *table, bool csv,
				    struct error *error);

/* A fact for the file's own metadata, which CSV does not have. */
void opendc_sink_tell(struct opendc_sink *sink, const char *key, const char *value);

/* A row's cells and lists by their field (enum opendc_field); those that the table does
 * not have are not looked at. 0, or -1 with error. */
int opendc_sink_add(struct opendc_sink *sink, const struct cell *cell,
		    const struct parquet_list *list, struct error *error);

/* Write the rest; 0, or -1 with error. Frees it, as the next one does without that. */
int opendc_sink_finish(struct opendc_sink *sink, struct error *error);

void opendc_sink_free(struct opendc_sink *sink);

#endif
