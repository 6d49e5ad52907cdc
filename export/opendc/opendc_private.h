/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_PRIVATE_H
#define CT_EXPORT_OPENDC_PRIVATE_H

#include "export/format.h"

/*
 * Workload traces and topologies of OpenDC, a simulator of data centers. What each number
 * is stands in docs/opendc.md.
 *
 *   opendc.sql    what tasks there are, and when they had which processors
 *   opendc.c      options, and its statements one after the other
 *   trace.c       the columns of the format, files of them, and the time of tasks, cut
 *                 into fragments
 */

/* In the order of their words. */
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
	int tasks, capacity, schema, format;
	double interval_s, cpu_mhz;
	int memory_mib /* -1: what fits */, slots /* 0: the node's cores */;
	bool no_kernel_threads, parents, no_parents;
} opendc_options;

struct opendc_task {
	nsec_t begin_ns;
	int64_t allocated, cores; /* allocated: 0: not recorded */
	double mhz;               /* of a core */
	/* How it is cut: lengths of its first fragment and of all, and how many there
	 * are. */
	int64_t first_ms, duration_ms;
	uint64_t fragments;
	/* What its fragments came to. */
	double cpu_capacity; /* MHz */
	int64_t cpu_count;
};

/* Tasks on their way into fragments, task by task. */
struct opendc_fragments {
	int64_t interval_ms;
	enum opendc_capacity capacity;
	struct opendc_task *task;
	size_t tasks, task_capacity;
	uint64_t count;           /* of all fragments; not beyond what exceeds 32 bits */
	size_t at;                /* whose fragments come next */
	struct opendc_work *work; /* of that one, as it comes */
	size_t works, work_capacity;
	struct opendc_file *file;
	struct progress *progress;
};

/* A task more, with its first members; it is cut from its begin to end_ns. */
void opendc_add_task(struct opendc_fragments *fragments, struct opendc_task task,
		     nsec_t end_ns);

/*
 * A task worked from begin to end at some MHz; those before it are done with. Time ahead
 * of its begin counts with its first fragment, and time after its end with its last one.
 */
int opendc_add_work(struct opendc_fragments *fragments, size_t task, nsec_t begin_ns,
		    nsec_t end_ns, double mhz, struct error *error);

/* Write the fragments of all tasks before this one that are not yet. */
int opendc_end_tasks(struct opendc_fragments *fragments, size_t before,
		     struct error *error);

/* Milliseconds since the epoch, cut. */
int64_t opendc_floor_ms(nsec_t instant);

/* What a column holds. */
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
	OPENDC_NODE,      /* ours, passed over by OpenDC: where it ran */
	OPENDC_CPU_USAGE, /* MHz */
	OPENDC_GPU_USAGE,
	OPENDC_FIELDS
};

enum opendc_table { OPENDC_TASKS, OPENDC_FRAGMENTS };

/* A table's file while it is written, Parquet or CSV. */
struct opendc_file;

/* Below a directory; `tasks` is the kind of the tasks by its word. NULL with error. */
struct opendc_file *opendc_file_new(const char *directory, enum opendc_table table,
				    const char *tasks, struct error *error);

/* A row's cells by their field (enum opendc_field); those that the table does not have
 * are not looked at. 0, or -1 with error. */
int opendc_file_add(struct opendc_file *file, const struct cell *cell,
		    struct error *error);

/* Write the rest; 0, or -1 with error. Frees it, as the next one does without that. */
int opendc_file_finish(struct opendc_file *file, struct error *error);

void opendc_file_free(struct opendc_file *file);

#endif
