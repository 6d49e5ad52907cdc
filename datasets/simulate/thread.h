/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_THREAD_H
#define CT_SIMULATE_THREAD_H

#include "simulate/now.h"

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

#endif
