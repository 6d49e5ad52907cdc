/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_OPENDC_H
#define CT_EXPORT_OPENDC_OPENDC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"

/*
 * Workload traces and topologies of OpenDC, a simulator of data centers. What each
 * number is stands in docs/opendc.md.
 *
 *   opendc.c             the options, and the order of what follows
 *   opendc/cluster.c     nodes, processes, threads, and who begot whom
 *   opendc/invocations.c what a scheduler ran
 *   opendc/tasks.c       tasks of these, by --tasks
 *   opendc/charge.c      whose task a stretch of processor time is
 *   opendc/switches.c    processor time by the scheduler's events
 *   opendc/samples.c     processor time and memory by samples of processes
 *   opendc/pages.c       memory by events of pages
 *   opendc/usage.c       processor time by task and interval, sorted outside of memory
 *   opendc/schema.c      the columns of each version of the format
 *   opendc/write.c, opendc/topology.c   the files
 */
enum opendc_kind {
	OPENDC_INVOCATIONS,
	OPENDC_PROCESSES,
	OPENDC_CGROUPS,
	OPENDC_SESSIONS,
	OPENDC_COMMS,
	OPENDC_ANY, /* invocations if there are any, else processes */
};

enum opendc_capacity { OPENDC_MAX, OPENDC_P95, OPENDC_ALLOCATED };

/* The options as they are typed. */
struct opendc_options {
	char *tasks, *capacity, *schema, *format;
	double interval_s, cpu_mhz;
	int memory_mib;
	bool no_kernel_threads, no_parents;
};

/* And what they mean. */
struct opendc_choice {
	enum opendc_kind kind;
	enum opendc_capacity capacity;
	int schema;          /* 1 to 5 */
	bool csv;            /* else Parquet */
	int64_t interval_ms; /* length of a fragment */
	double cpu_mhz;      /* where nothing says it */
	int64_t memory_kb;   /* of a task of which nothing tells; 1000 bytes each */
	bool kernel_threads, parents;
};

/* 0, or -1 with error. */
int opendc_choose(const struct opendc_options *options, struct opendc_choice *choice,
		  struct error *error);

/* "invocation", ...: as --tasks has it. */
const char *opendc_kind_name(enum opendc_kind kind);

#endif
