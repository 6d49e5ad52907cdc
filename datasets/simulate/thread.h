/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_THREAD_H
#define CT_SIMULATE_THREAD_H

#include "simulate/world.h"

/* A new thread of a host, for an end of a flow or NULL. */
struct thread *thread_add(struct world *world, struct host *host, enum thread_role role,
			  struct endpoint *end);

/* Another number that no thread of the host had yet. */
int32_t thread_next_tid(struct host *host);

/* It waits for something, and no longer than until then; NSEC_MAX: for ever. */
void thread_await(struct world *world, struct thread *thread, enum thread_wait wait,
		  nsec_t until);

/* Whether what it waits for is there already; what came later than now is awaited. */
bool thread_has_data(struct context *ctx, const struct thread *thread);

/* What it waited for is there: it goes on as soon as it gets a processor. */
void thread_wake(struct context *ctx, struct thread *thread);

/* Data came for it, all that it sent was acknowledged: it goes on if it waited for that.
 */
void thread_data_came(struct context *ctx, struct thread *thread);
void thread_all_sent(struct context *ctx, struct thread *thread);

/*
 * When a flow's next request is due: an interval from then, outside of the pauses between
 * bursts and of idle times; NSEC_MAX when none comes any more.
 */
nsec_t thread_next_due(struct world *world, struct thread *thread, nsec_t from_ns);

/*
 * The next step of the thread that runs on this processor. With activity full it shows
 * as system calls; with activity net a thread has a processor when it needs one.
 */
void task_step(struct context *ctx, struct thread *thread);

/* A node's tracer begins: it records which threads there are, and what they do. */
void statedump(struct context *ctx);

/*
 * Processes that begin and end during a run: a daemon on each node makes one
 * after the other, each of which executes a program, computes and ends. There
 * is one at a time, so that a single thread of the model can be all of them.
 */

#define DAEMON_NAME "cron"

/* A daemon and the thread that is its children, with activity full. */
void process_add_daemon(struct world *world, struct host *host);

/* What the kernel has of the child is freed, behind a grace period. */
void process_free(struct context *ctx, const struct thread *daemon);

/* The scheduler of activity full: which thread runs on which processor, and when. */

/* States of threads as sched_switch shows them. */
enum { STATE_RUNNING = 0, STATE_INTERRUPTIBLE = 1, STATE_DISK = 2, STATE_DEAD = 128 };

/* Charge the time since then to what it was used for; with activity net nobody asks. */
void cpu_charge(struct context *ctx, enum cpu_use use);

/* Let a thread go on that slept; it may be another processor's. */
void cpu_wake(struct context *ctx, struct thread *thread);

/* The same of one that is new. */
void cpu_wake_new(struct context *ctx, struct thread *thread);

/* A thread joins those that wait for its processor. */
void cpu_add(struct thread *thread);

/* The current thread of the processor goes to sleep, or ends. */
void cpu_sleep(struct context *ctx, int state);

/*
 * What happens at world->now: with activity full it interrupts what goes on at a
 * processor, else it is simply done.
 */
void interrupt(struct world *world, const struct pending *pending);

/* The NIC has packets for this processor. */
void interrupt_nic(struct world *world, struct cpu *cpu);

#endif
