/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CPU_H
#define CT_SIMULATE_CPU_H

#include "simulate/now.h"

/* The scheduler of activity full: which thread runs on which processor, and when. */

/* States of threads as sched_switch shows them. */
enum { STATE_RUNNING = 0, STATE_INTERRUPTIBLE = 1, STATE_DISK = 2, STATE_DEAD = 128 };

enum { PRIORITY = 20 }; /* of all */

/* Stop what the processor's thread computes, and charge the time until now. */
void cpu_enter(struct now *now);

/* Charge the time since then to what it was used for. */
void cpu_charge(struct now *now, enum cpu_use use);

/* Go on after that: with the next thread if it is due, until something is awaited. */
void cpu_leave(struct now *now);

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

#endif
