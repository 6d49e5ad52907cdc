/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CPU_H
#define CT_SIMULATE_CPU_H

#include "simulate/world.h"

/* The scheduler of activity full: which thread runs on which processor, and when. */

/* States of threads as sched_switch shows them. */
enum { STATE_RUNNING = 0, STATE_INTERRUPTIBLE = 1, STATE_DISK = 2, STATE_DEAD = 128 };

enum { PRIORITY = 20 }; /* of all */

/* Charge the time since then to what it was used for. */
void cpu_charge(struct now *now, enum cpu_use use);

/* Let a thread go on that slept; it may be another processor's. */
void cpu_wake(struct now *now, uint32_t thread);

/* The same of one that is new. */
void cpu_wake_new(struct now *now, uint32_t thread);

/* A thread that was never asleep joins those that wait for a processor. */
void cpu_add(struct world *world, uint32_t thread);

/* The current thread of the processor goes to sleep, or ends. */
void cpu_sleep(struct now *now, int state);

/* A thread's name as traces show it. */
const char *cpu_thread_name(const struct thread *thread);

/*
 * What comes to a processor from outside at world->now: with activity full it
 * interrupts what goes on there, else it is simply done.
 */
void interrupt_card(struct world *world, uint32_t node, uint32_t cpu);
void interrupt_resend(struct world *world, uint32_t flow, int side);
void interrupt_timer(struct world *world, uint32_t thread, uint32_t age);
void interrupt_disk(struct world *world, uint32_t thread);

/* Its thread has computed enough, or for so long that others get their turn. */
void interrupt_cpu(struct world *world, uint32_t node, uint32_t cpu, uint32_t age);

/* The node's tracer begins, with activity full. */
void interrupt_dump(struct world *world, uint32_t node);

/* Nobody looks any more at what a daemon's last child left: a grace period ended. */
void interrupt_free(struct world *world, uint32_t daemon);

/* Another processor woke a thread for it. */
void interrupt_kick(struct world *world, uint32_t node, uint32_t cpu);

#endif
