/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_SCHEMA_H
#define CT_EXPORT_OPENDC_SCHEMA_H

#include "export/parquet/parquet.h"

/* The versions of OpenDC's workload traces, and the columns of each. */
enum { OPENDC_FIRST_SCHEMA = 1, OPENDC_LAST_SCHEMA = 5 };

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
	bool wanted; /* OpenDC has no trace without it; others may be left out */
};

struct opendc_table {
	const char *file; /* without its ending: "tasks", "trace/meta" */
	struct opendc_column column[16];
	size_t columns;
};

/* The tables of a version. */
struct opendc_table opendc_tasks_table(int schema);
struct opendc_table opendc_fragments_table(int schema);

#endif
