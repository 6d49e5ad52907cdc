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

/* Return true if what the thread waits for has arrived at the context's time. */
bool thread_has_data(struct context *ctx, const struct thread *thread);

/* End a thread's wait: it continues as soon as it gets a processor. */
void thread_wake(struct context *ctx, struct thread *thread);

/* Wake a thread that waits for data, or for the acknowledgement of all that it sent. */
void thread_data_came(struct context *ctx, struct thread *thread);
void thread_all_sent(struct context *ctx, struct thread *thread);

/*
 * Return the time of a flow's next request: an interval after from_ns, outside of the
 * pauses between bursts and of idle times, or NSEC_MAX.
 */
nsec_t thread_next_due(struct world *world, struct thread *thread, nsec_t from_ns);

#endif
