/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TASK_H
#define CT_SIMULATE_TASK_H

#include "simulate/world.h"

/* Threads with activity full: what they do shows as system calls. */

/* What a thread is inside of while it sleeps. */
enum task_call {
	CALL_NONE,
	CALL_SLEEP,
	CALL_READ,
	CALL_RECVFROM,
	CALL_WRITE, /* it could not send yet */
	CALL_PREAD,
	CALL_FSYNC,
	CALL_CLONE, /* that made it */
	CALL_WAIT4,
};

/* The next step of the thread that runs on this processor. */
void task_step(struct now *now, uint32_t thread);

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

/* What the kernel kept of the child is freed, behind a grace period. */
void process_free(struct now *now, uint32_t daemon);

/* A thread that ends by itself: the call, and what the kernel says of it. */
void process_end_thread(struct now *now, uint32_t thread);

#endif
