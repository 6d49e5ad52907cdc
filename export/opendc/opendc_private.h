/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_PRIVATE_H
#define CT_EXPORT_OPENDC_PRIVATE_H

#include "export/format.h"

/*
 * Workload traces and topologies of OpenDC, a simulator of data centers; docs/opendc.md
 * describes each number.
 *
 * opendc.sql finds the tasks and when they had which processors; opendc.c has the options
 * and runs the statements; trace.c has the columns and files of the format, and cuts the
 * time of tasks into fragments.
 */

/* In the order of the option's words. */
enum opendc_kind {
	OPENDC_NODE_KIND,
	OPENDC_INVOCATION,
	OPENDC_PROCESS,
	OPENDC_CGROUP,
	OPENDC_SESSION,
	OPENDC_COMM
};
enum opendc_format { OPENDC_PARQUET, OPENDC_CSV };
enum opendc_capacity { OPENDC_MAX, OPENDC_P95, OPENDC_ALLOCATED };

/* The options. */
extern struct opendc_options {
	int tasks, capacity, format;
	double interval_s, cpu_mhz;
	int memory_mib /* -1: what fits */, slots /* 0: the node's cores */;
	bool no_kernel_threads, parents;
} opendc_options;

struct opendc_task {
	nsec_t begin_ns;
	int64_t allocated, cores; /* allocated: 0 if not recorded */
	double mhz;               /* speed of one core */
	/* lengths of the first and of all fragments, and their number */
	int64_t first_ms, duration_ms;
	uint64_t fragments;
	/* computed from the fragments */
	double cpu_capacity; /* MHz */
	int64_t cpu_count;
};

/* The tasks, and the fragments of the current one. */
struct opendc_fragments {
	int64_t interval_ms;
	enum opendc_capacity capacity;
	struct opendc_task *task;
	size_t tasks, task_capacity;
	uint64_t count;           /* number of all fragments; not exact above 32 bits */
	size_t at;                /* the task whose fragments come next */
	struct opendc_work *work; /* work of that task so far */
	size_t works, work_capacity;
	struct opendc_file *file;
	struct progress *progress;
};

/* Add a task with its first members set. Its fragments cover it from its start to end_ns.
 */
void opendc_add_task(struct opendc_fragments *fragments, struct opendc_task task,
		     nsec_t end_ns);

/* Add work of a task at some MHz, and finish the tasks before it. Work before the task's
 * start counts for its first fragment, work after its end for its last one. */
int opendc_add_work(struct opendc_fragments *fragments, size_t task, nsec_t begin_ns,
		    nsec_t end_ns, double mhz, struct error *error);

/* Write the remaining fragments of all tasks before this one. */
int opendc_end_tasks(struct opendc_fragments *fragments, size_t before,
		     struct error *error);

/* Round an instant down to milliseconds since the epoch. */
int64_t opendc_floor_ms(nsec_t instant);

/* The fields of both tables. */
enum opendc_field {
	OPENDC_ID,
	OPENDC_NAME,
	OPENDC_SUBMISSION, /* ms since the epoch */
	OPENDC_DURATION,   /* ms */
	OPENDC_CPU_COUNT,
	OPENDC_CPU_CAPACITY, /* MHz */
	OPENDC_MEM_CAPACITY, /* KB */
	OPENDC_GPU_COUNT,
	OPENDC_GPU_CAPACITY,
	OPENDC_PARENTS, /* ids, "1;2;3" */
	OPENDC_CHILDREN,
	OPENDC_DEFERRABLE,
	OPENDC_DEADLINE,  /* ms since the epoch */
	OPENDC_NODE,      /* our extension, ignored by OpenDC: the node */
	OPENDC_CPU_USAGE, /* MHz */
	OPENDC_GPU_USAGE,
	OPENDC_FIELDS
};

enum opendc_table { OPENDC_TASKS, OPENDC_FRAGMENTS };

/* A file of a table, in Parquet or CSV. */
struct opendc_file;

/* Create a file below a directory; `tasks` is the kind of tasks. Return NULL with error.
 */
struct opendc_file *opendc_file_new(const char *directory, enum opendc_table table,
				    const char *tasks, struct error *error);

/* Add a row with cells by enum opendc_field; those of other tables are ignored. Return 0,
 * or -1 with error. */
int opendc_file_add(struct opendc_file *file, const struct cell *cell,
		    struct error *error);

/* Finish and free the file. Return 0, or -1 with error. */
int opendc_file_finish(struct opendc_file *file, struct error *error);

void opendc_file_free(struct opendc_file *file);

#endif
