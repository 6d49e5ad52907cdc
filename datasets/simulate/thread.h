/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_THREAD_H
#define CT_SIMULATE_THREAD_H

#include "simulate/world.h"

/* A new thread of a host; its program begins with thread_run(). */
uint32_t thread_add(struct world *world, uint32_t node, enum thread_role role,
		    uint32_t flow, int side);

/* Go on with its program until it waits for something. */
void thread_run(struct world *world, uint32_t thread, nsec_t now);

/* What it waited for is over, unless `age` says that it went on meanwhile. */
void thread_timer(struct world *world, uint32_t thread, uint32_t age, nsec_t now);

/* Data came for it, all that it sent was acknowledged: it goes on if it waited for that.
 */
void thread_data_came(struct world *world, uint32_t thread, nsec_t now);
void thread_all_sent(struct world *world, uint32_t thread, nsec_t now);

#endif
