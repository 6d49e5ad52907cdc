/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/thread.h"

#include <string.h>

#include "base/mem.h"
#include "simulate/cpu.h"
#include "simulate/program.h"
#include "simulate/spans.h"
#include "simulate/transport.h"

/* Let it go on a little later: the time that a kernel takes to switch to it. */
static void light_wake(struct now *now, uint32_t number)
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

enum { FIRST_TID = 900 };

int32_t thread_next_tid(struct host *host)
{
	return FIRST_TID + host->tids++;
}

uint32_t thread_add(struct world *world, uint32_t node, enum thread_role role,
		    uint32_t flow, int side)
{
	struct host *host = &world->host[node];
	struct thread *thread;

	world->thread = mem_grow(world->thread, world->threads, &world->thread_room,
				 sizeof(*world->thread));
	thread = &world->thread[world->threads];
	memset(thread, 0, sizeof(*thread));
	thread->node = node;
	thread->flow = flow;
	thread->role = (uint8_t)role;
	thread->side = (uint8_t)side;
	thread->cpu = host->threads++ % (uint32_t)world->scenario->cpus;
	thread->tid = thread_next_tid(host);
	host->alive++;
	host->members[role]++;
	/* Threads of a role are one process, whose number its first one has. */
	if (!host->pid[role])
		host->pid[role] = thread->tid;
	thread->pid = host->pid[role];
	thread->due_ns = world->begin_ns;
	thread->ready_ns = world->begin_ns;
	return (uint32_t)world->threads++;
}

void thread_await(struct world *world, uint32_t number, enum thread_wait wait,
		  nsec_t until)
{
	struct thread *thread = &world->thread[number];

	thread->wait = (uint8_t)wait;
	thread->age++;
	if (until != NSEC_MAX)
		queue_add(&world->queue, until, OCCASION_TIMER, number, thread->age);
}

static struct endpoint *end_of(struct world *world, const struct thread *thread)
{
	return &world->flow[thread->flow].end[thread->side];
}

bool thread_has_data(struct now *now, uint32_t number)
{
	const struct thread *thread = &now->world->thread[number];
	const struct endpoint *end = end_of(now->world, thread);

	if (end->unread < thread->left)
		return false;
	now_wait(now, end->came_ns);
	return true;
}

void thread_wake(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];

	thread->wait = WAIT_NONE;
	thread->age++;
	if (now->world->full)
		cpu_wake(now, number);
	else
		light_wake(now, number);
}

void thread_data_came(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];
	struct endpoint *end = end_of(now->world, thread);

	end->came_ns = now->ns;
	requests_is_new(now, number);
	if (thread->wait == WAIT_DATA && end->unread >= thread->left)
		thread_wake(now, number);
}

void thread_all_sent(struct now *now, uint32_t number)
{
	struct thread *thread = &now->world->thread[number];

	end_of(now->world, thread)->answered_ns = now->ns;
	if (thread->wait == WAIT_SENT)
		thread_wake(now, number);
}
