/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/light.h"

#include "simulate/program.h"
#include "simulate/thread.h"
#include "simulate/transport.h"

void light_wake(struct now *now, uint32_t number)
{
	nsec_t latency = dice_between(&now_host(now)->dice, 3000, 15000);

	thread_await(now->world, number, WAIT_TIME, now->ns + latency);
}

/* One step of its program; whether there is another. */
static bool step(struct now *now, uint32_t number)
{
	struct world *world = now->world;
	struct thread *thread = &world->thread[number];
	struct action action = program_next(world, thread, now->ns);

	switch (action.kind) {
	case ACTION_SLEEP:
		thread_await(world, number, WAIT_TIME, action.until);
		return false;
	case ACTION_COMPUTE:
		thread_await(world, number, WAIT_TIME, now->ns + action.span);
		return false;
	case ACTION_AWAIT_DATA:
		if (thread_has_data(now, number))
			return true;
		thread_await(world, number, WAIT_DATA, action.until);
		return false;
	case ACTION_AWAIT_SENT:
		thread_await(world, number, WAIT_SENT, NSEC_MAX);
		return false;
	case ACTION_SEND:
		transport_send(now, thread->flow, thread->side, action.bytes);
		return true;
	default:
		thread_await(world, number, WAIT_FOREVER, NSEC_MAX);
		return false;
	}
}

void light_timer(struct world *world, uint32_t number)
{
	struct thread *thread = &world->thread[number];
	struct now now = now_begin(world, thread->node, thread->cpu, world->now);

	thread->wait = WAIT_NONE;
	while (step(&now, number))
		continue;
	now_end(&now);
}
