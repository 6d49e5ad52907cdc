/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_TASK_H
#define CT_SIMULATE_TASK_H

#include "simulate/now.h"

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

#endif
