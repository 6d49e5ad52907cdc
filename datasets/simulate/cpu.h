/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CPU_H
#define CT_SIMULATE_CPU_H

#include "simulate/world.h"

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
