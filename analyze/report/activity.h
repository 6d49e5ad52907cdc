/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_ACTIVITY_H
#define CT_ANALYZE_ACTIVITY_H

#include "analyze/question.h"
#include "base/nsec.h"

/*
 * What processors and threads did, summed over steps of time: a lane a processor, a cell
 * a step. Each table of spans is read once, in the order in which it lies, so memory
 * depends on the lanes, steps and threads, and not on the spans.
 */
struct activity_cell {
	nsec_t known_ns; /* some thread, or idle, is known to have had the processor */
	nsec_t busy_ns;  /* a thread */
	nsec_t irq_ns, softirq_ns; /* also of what a thread had */
	nsec_t now_ns, most_ns;    /* of the thread at hand, and of who had most */
	uint32_t now, most;        /* thread + 1; 0: none */
};

struct activity_lane {
	int64_t node, cpu;               /* cpu -1: the node has no other lane */
	struct activity_cell sum, *cell; /* `cells` of them */
};

enum { ACTIVITY_STRIP = 64 }; /* steps in which a thread's own time is summed */

/* A thread under one name. */
struct activity_thread {
	int64_t node, tid;
	char *name;
	bool was_named; /* by its spans, as it had another name later */
	nsec_t busy_ns, first_ns, last_ns; /* of running */
	float strip[ACTIVITY_STRIP];       /* of the time axis: ns of running */
	int64_t waits;                     /* for a processor, after a wakeup */
	nsec_t wait_ns, most_wait_ns;
	size_t rank; /* by busy_ns; the first is 0 */
};

struct activity_handler {
	int64_t node, number;
	bool soft;
	char *name; /* NULL: not known */
	int64_t count;
	nsec_t sum_ns, most_ns;
};

/* An interrupt that is drawn by itself. */
struct activity_irq {
	int64_t node, cpu;
	size_t handler;
	nsec_t begin_ns, end_ns;
};

/* Where spans are drawn one by one. */
struct activity_window {
	nsec_t begin_ns, end_ns;
	int64_t request; /* message.id; 0: it is all of the time */
};

struct activity {
	nsec_t begin_ns, end_ns, cell_ns, strip_ns;
	size_t cells;
	struct activity_lane *lane; /* by node, then processor */
	size_t lanes, lane_capacity;
	struct activity_thread *thread; /* by node and tid */
	size_t threads, thread_capacity;
	size_t *order; /* threads by rank */
	struct activity_handler *handler;
	size_t handlers, handler_capacity;
	size_t runs, irqs; /* spans read */
	const struct activity_window *window;
	size_t windows, keep; /* at most so many interrupts are kept outside of them */
	struct activity_irq *irq; /* by handler, processor and begin */
	size_t kept, kept_capacity;
};

/* Read all; 0, or -1 with error. Borrows the windows; interrupts outside of these are
 * kept if there are no more than `keep`. */
int activity_read(struct activity *activity, struct question *question,
		  struct error *error);

/* The lane of a processor, else the node's first; SIZE_MAX: none. */
size_t activity_lane(const struct activity *activity, int64_t node, int64_t cpu);

void activity_clear(struct activity *activity);

#endif
