/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_THREAD_H
#define CT_SIMULATE_THREAD_H

#include "simulate/world.h"

/* A new thread of a host, for an end of a flow or NULL. */
struct thread *thread_add(struct world *world, struct host *host, enum thread_role role,
			  struct endpoint *end);

/* Another number that no thread of the host had yet. */
int32_t thread_next_tid(struct host *host);

/* Make a thread wait, at most until `until`; NSEC_MAX: without limit. */
void thread_await(struct world *world, struct thread *thread, enum thread_wait wait,
		  nsec_t until);

/* Return true if what the thread waits for is there already, at the context's time. */
bool thread_has_data(struct context *ctx, const struct thread *thread);

/* End a thread's wait: it continues as soon as it gets a processor. */
void thread_wake(struct context *ctx, struct thread *thread);

/* Wake a thread that waits for data, or for the acknowledgement of all that it sent. */
void thread_data_came(struct context *ctx, struct thread *thread);
void thread_all_sent(struct context *ctx, struct thread *thread);

/*
 * Return the time of a flow's next request: an interval after from_ns, outside of the
 * pauses between bursts and of idle times; NSEC_MAX if there is none.
 */
nsec_t thread_next_due(struct world *world, struct thread *thread, nsec_t from_ns);

/*
 * Run the next step of the thread that is current on this processor. Activity full makes
 * system calls of it; with activity net a thread has a processor whenever it needs one.
 */
void task_step(struct context *ctx, struct thread *thread);

/* Return the current amount of a host's fault; 0 if there is none. */
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

/* The scheduler of activity full: which thread runs on which processor, and when. */

/* States of threads as sched_switch shows them. */
enum { STATE_RUNNING = 0, STATE_INTERRUPTIBLE = 1, STATE_DISK = 2, STATE_DEAD = 128 };

/* Charge the time since the last charge to a use; activity net does not read it. */
void cpu_charge(struct context *ctx, enum cpu_use use);

/* Make a sleeping thread runnable, perhaps on another processor. */
void cpu_wake(struct context *ctx, struct thread *thread);

/* Make a new thread runnable. */
void cpu_wake_new(struct context *ctx, struct thread *thread);

/* Append a thread to its processor's run queue. */
void cpu_add(struct thread *thread);

/* Switch away from the current thread, which sleeps or exits. */
void cpu_sleep(struct context *ctx, int state);

/*
 * Handle a pending event at world->now: with activity full as an interrupt of what a
 * processor does, otherwise directly.
 */
void interrupt(struct world *world, const struct pending *pending);

/* The NIC has packets for this processor. */
void interrupt_nic(struct world *world, struct cpu *cpu);

#endif
