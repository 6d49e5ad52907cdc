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
 *   cluster.c      nodes, processes, threads, and who begot whom
 *   invocations.c  what a scheduler ran
 *   tasks.c        tasks of these, by --tasks; groups.c: control groups and sessions
 *   charge.c       whose task what a processor ran is; samples.c, pages.c: and memory
 *   schema.c       the columns of each version of the format, and files of them
 *   write.c        fragments, tasks, topology
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

/* "invocation", ...: as --tasks has it. */
const char *opendc_kind_name(enum opendc_kind kind);

#endif
