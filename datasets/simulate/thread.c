/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/thread.h"

#include <string.h>

#include "base/mem.h"
#include "simulate/program.h"
#include "simulate/transport.h"

uint32_t thread_add(struct world *world, uint32_t node, enum thread_role role,
		    uint32_t flow, int side)
{
	struct thread *thread;

	world->thread = mem_grow(world->thread, world->threads, &world->thread_room,
				 sizeof(*world->thread));
	thread = &world->thread[world->threads];
	memset(thread, 0, sizeof(*thread));
	thread->node = node;
	thread->flow = flow;
	thread->role = (uint8_t)role;
	thread->side = (uint8_t)side;
	return (uint32_t)world->threads++;
}

static struct endpoint *end_of(struct world *world, const struct thread *thread)
{
	return &world->flow[thread->flow].end[thread->side];
}

static void wait_until(struct world *world, uint32_t number, enum thread_wait wait,
		       nsec_t until)
{
	struct thread *thread = &world->thread[number];

	thread->wait = (uint8_t)wait;
	thread->age++;
	if (until != NSEC_MAX)
		queue_add(&world->queue, until, OCCASION_TIMER, number, thread->age);
}

/* Let it go on a little later: the time that a kernel takes to switch to it. */
static void wake(struct world *world, uint32_t number, nsec_t now)
{
	struct host *host = &world->host[world->thread[number].node];

	wait_until(world, number, WAIT_TIME,
		   now + dice_between(&host->dice, 3000, 15000));
}

void thread_data_came(struct world *world, uint32_t number, nsec_t now)
{
	struct thread *thread = &world->thread[number];

	if (thread->wait == WAIT_DATA && end_of(world, thread)->unread >= thread->left)
		wake(world, number, now);
}

void thread_all_sent(struct world *world, uint32_t number, nsec_t now)
{
	if (world->thread[number].wait == WAIT_SENT)
		wake(world, number, now);
}

void thread_timer(struct world *world, uint32_t number, uint32_t age, nsec_t now)
{
	struct thread *thread = &world->thread[number];

	if ((thread->age & OCCASION_AGE) != age)
		return;
	thread->wait = WAIT_NONE;
	thread_run(world, number, now);
}

void thread_run(struct world *world, uint32_t number, nsec_t now)
{
	for (;;) {
		struct thread *thread = &world->thread[number];
		struct action action = program_next(world, thread, now);

		switch (action.kind) {
		case ACTION_SLEEP:
			wait_until(world, number, WAIT_TIME, action.until);
			return;
		case ACTION_COMPUTE:
			wait_until(world, number, WAIT_TIME, now + action.span);
			return;
		case ACTION_AWAIT_DATA:
			if (end_of(world, thread)->unread >= thread->left)
				break;
			wait_until(world, number, WAIT_DATA, action.until);
			return;
		case ACTION_AWAIT_SENT:
			wait_until(world, number, WAIT_SENT, NSEC_MAX);
			return;
		case ACTION_SEND:
			now = transport_send(world, thread->flow, thread->side,
					     action.bytes, now);
			break;
		case ACTION_END:
			wait_until(world, number, WAIT_FOREVER, NSEC_MAX);
			return;
		}
	}
}
