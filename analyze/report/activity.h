/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_REPORT_ACTIVITY_H
#define CT_REPORT_ACTIVITY_H

#include "analyze/analysis.h"
#include "analyze/report/bins.h"

/*
 * The activity of processors and threads, summed over steps of time: one lane per
 * processor, one cell per step. Each table of spans is read once, in its stored order,
 * so memory depends on the lanes, steps and threads, and not on the spans.
 */
struct activity_cell {
	nsec_t known_ns;           /* the processor ran a thread or was idle */
	nsec_t busy_ns;            /* a thread */
	nsec_t irq_ns, softirq_ns; /* also of what a thread had */
	nsec_t now_ns, most_ns;    /* the current thread's, and the largest */
	uint32_t now, most;        /* thread + 1, or 0 */
};

struct activity_lane {
	int64_t node, cpu;          /* cpu -1: the node has no other lane */
	struct activity_cell *cell; /* `cells` of them */
};

/* A thread under one name. */
struct activity_thread {
	int64_t node, tid;
	char *name;
	bool was_named; /* by its spans, because it had another name later */
	nsec_t busy_ns, first_ns, last_ns; /* total, first and last time of running */
	int64_t waits;                     /* for a processor, after a wakeup */
	nsec_t wait_ns, most_wait_ns;
	size_t rank; /* place among those with a name in the page */
	struct bin_series run, wait_count, wait_sum, wait_most; /* the same by steps */
};

/* A handler of interrupts or softirqs on one node. It counts those that are completely
 * within the scope. */
struct activity_handler {
	int64_t node, number;
	bool is_soft;
	char *name;
	int64_t count;
	nsec_t sum_ns, most_ns;
};

struct activity {
	struct bin_grid grid; /* grid of the sums: a step is some cells */
	nsec_t begin_ns, end_ns, cell_ns;
	size_t cells;
	struct bin_series *waiting; /* for processors: a series per node of the scope */
	struct activity_lane *lane; /* by node, then processor */
	size_t lanes, lane_capacity;
	struct activity_thread *thread; /* by node and tid */
	size_t threads, thread_capacity;
	struct activity_handler *handler; /* by node, kind, number and name */
	size_t handlers, handler_capacity;
	size_t runs, irqs; /* spans read */
};

/* Find the lanes, and how wide cells and steps are. Return 0, or -1 with error. */
int activity_begin(struct activity *activity, struct query *query, struct error *error);

/* Read everything, and add handlers to the table `interrupts`. Return 0, or -1 with
 * error. */
int activity_read(struct activity *activity, struct bin_tables *bins, struct query *query,
		  struct error *error);

/* Keep the sums as page_lane, page_thread and page_handler, for report.sql. */
int activity_keep(const struct activity *activity, struct timeline_reader *reader,
		  struct error *error);

void activity_clear(struct activity *activity, const struct scope *scope);

#endif
