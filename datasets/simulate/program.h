/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_PROGRAM_H
#define CT_SIMULATE_PROGRAM_H

#include "simulate/world.h"

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
