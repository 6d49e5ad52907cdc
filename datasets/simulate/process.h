/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_PROCESS_H
#define CT_SIMULATE_PROCESS_H

#include "simulate/now.h"

/* A node's tracer begins: it tells which threads there are, and what they do. */
void statedump(struct now *now);

/*
 * Processes that begin and end during a run: a daemon on each node makes one
 * after the other, each of which executes a program, computes and ends. There
 * is one at a time, so that a single thread of the model can be all of them.
 */

#define DAEMON_NAME "cron"

/* A grace period, and how long a daemon sleeps at least: a child is freed by then. */
enum {
	GRACE_LEAST_NS = 3 * NSEC_PER_MSEC,
	GRACE_MOST_NS = 20 * NSEC_PER_MSEC,
	DAEMON_REST_NS = 30 * NSEC_PER_MSEC,
};

/* A daemon and the thread that is its children, with activity full. */
void process_add_daemon(struct world *world, uint32_t node);

/* The name that traces show for a child. */
const char *process_name(const struct thread *child);

/* System calls of the thread that runs on this processor. */
void process_fork(struct now *now, uint32_t daemon);
void process_exec(struct now *now, uint32_t child);
void process_exit(struct now *now, uint32_t child);

/* Wait for the child's end; the call is over as soon as it has ended. */
void process_wait(struct now *now, uint32_t daemon);
void process_end_wait(struct now *now, uint32_t daemon);

/* What the kernel kept of the child is freed, behind a grace period. */
void process_free(struct now *now, uint32_t daemon);

/* A thread that ends by itself: the call, and what the kernel says of it. */
void process_end_thread(struct now *now, uint32_t thread);

#endif
