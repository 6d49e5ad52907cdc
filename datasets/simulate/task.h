/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TASK_H
#define CT_SIMULATE_TASK_H

#include "simulate/world.h"

/*
 * Run the next step of the thread that is current on this processor. Activity full makes
 * system calls of it; with activity net a thread has a processor whenever it needs one.
 */
void task_step(struct context *ctx, struct thread *thread);

/* Return the current amount of a host's fault, or 0. */
double fault_now(const struct context *ctx, enum scenario_form form);

/* Start a node's tracer: record its threads and their states (the state dump). */
void statedump(struct context *ctx);

/*
 * Processes that start and end during a run: a daemon on each node forks one after the
 * other, each of which executes a program, computes and exits. One lives at a time, so
 * one thread of the model represents them all.
 */

#define DAEMON_NAME "cron"

/* Add a daemon and the thread that represents its children; activity full only. */
void process_add_daemon(struct world *world, struct host *host);

/* Free the kernel's record of the child, after a grace period. */
void process_free(struct context *ctx, const struct thread *daemon);

#endif
