/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_THREAD_H
#define CT_SIMULATE_THREAD_H

#include "simulate/world.h"

/* Threads with activity net: each has a processor when it needs one. */

/* Go on with a thread whose time has come. */
void light_timer(struct world *world, uint32_t thread);

/* A new thread of a host. */
uint32_t thread_add(struct world *world, uint32_t node, enum thread_role role,
		    uint32_t flow, int side);

/* Another number that no thread of the host had yet. */
int32_t thread_next_tid(struct host *host);

/* It waits for something, and no longer than until then; NSEC_MAX: for ever. */
void thread_await(struct world *world, uint32_t thread, enum thread_wait wait,
		  nsec_t until);

/* Whether what it waits for is there already; what came later than now is awaited. */
bool thread_has_data(struct now *now, uint32_t thread);

/* What it waited for is there: it goes on as soon as it gets a processor. */
void thread_wake(struct now *now, uint32_t thread);

/* Data came for it, all that it sent was acknowledged: it goes on if it waited for that.
 */
void thread_data_came(struct now *now, uint32_t thread);
void thread_all_sent(struct now *now, uint32_t thread);

/* What a thread does next; the host says how long it takes. */
struct action {
	enum action_kind {
		ACTION_SLEEP,      /* until */
		ACTION_COMPUTE,    /* for a span of processor time */
		ACTION_SEND,       /* bytes */
		ACTION_AWAIT_DATA, /* thread->left bytes, or until */
		ACTION_AWAIT_SENT, /* all acknowledged */
		ACTION_READ_DISK,  /* bytes */
		ACTION_WRITE_DISK, /* bytes, and wait until they are there */
		ACTION_SAMPLE,     /* as sar does */
		ACTION_END,
		ACTION_FORK, /* a child, which goes on by itself */
		ACTION_WAIT, /* until it ends */
		ACTION_EXEC, /* the child: another program */
		ACTION_EXIT,
	} kind;
	nsec_t until, span;
	uint64_t bytes;
};

/* The next step of the thread's program, which takes note of it. */
struct action program_next(struct world *world, struct thread *thread, nsec_t now);

#endif
