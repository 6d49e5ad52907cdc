/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/thread.h"

#include <netinet/in.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/network.h"
#include "simulate/truth.h"

/* A little behind the begin of a time of so many ns, so that not all begin at once. */
static nsec_t stagger(struct flow *flow, nsec_t begin, nsec_t length)
{
	nsec_t most = flow->interval_ns < length / 2 ? flow->interval_ns : length / 2;

	return begin + dice_between(&flow->dice, 0, most);
}

static nsec_t seconds(double value)
{
	return nsec_round(value * 1e9);
}

/* `due`, or later where that is in an idle time or in the pause after a burst. */
static nsec_t skip_pauses(const struct scenario *scenario, struct flow *flow, nsec_t due)
{
	const struct scenario_lines *idle = &scenario->lines[SCENARIO_IDLE];
	nsec_t on = nsec_round(scenario->burst_on_ms * 1e6);
	nsec_t off = nsec_round(scenario->burst_off_ms * 1e6);

	if (off && due % (on + off) >= on)
		due = stagger(flow, (due / (on + off) + 1) * (on + off), on);
	for (size_t i = 0; i < idle->count; i++)
		if (due >= seconds(idle->item[i].value[0]) &&
		    due < seconds(idle->item[i].value[1]))
			due = stagger(flow, seconds(idle->item[i].value[1]),
				      2 * flow->interval_ns);
	return due;
}

/*
 * When a flow's next request is due: an interval from now, outside of the
 * pauses between bursts and of idle times; NSEC_MAX when none comes any more.
 */
static nsec_t schedule_next(struct world *world, struct flow *flow, bool begun,
			    nsec_t now)
{
	const struct scenario *scenario = world->scenario;
	nsec_t from = seconds(scenario->active_from_s);
	nsec_t to = seconds(scenario->active_to_s), due, last;

	due = now - world->begin_ns +
	      dice_spread(&flow->dice, scenario->interval, flow->interval_ns,
			  2 * flow->interval_ns);
	if (!begun)
		due = dice_between(&flow->dice, 0, flow->interval_ns);
	if (due < from)
		due = stagger(flow, from, to - from);
	do { /* behind one pause another one may lie */
		last = due;
		due = skip_pauses(scenario, flow, last);
	} while (due != last);
	return due < to ? world->begin_ns + due : NSEC_MAX;
}

/* Send thread->left bytes, piece by piece; ACTION_END when nothing is left. */
static struct action send_left(const struct world *world, struct thread *thread)
{
	const struct flow *flow = &world->flow[thread->flow];
	struct action action = {.kind = ACTION_END};
	uint64_t most = transport_most(flow);

	if (!thread->left)
		return action;
	if (!transport_is_answered(flow, thread->side)) {
		action.kind = ACTION_AWAIT_SENT;
		return action;
	}
	action.kind = ACTION_SEND;
	action.bytes = thread->left < most ? thread->left : most;
	/* A datagram is all there is of a message. */
	thread->left -= flow->protocol == IPPROTO_TCP ? action.bytes : thread->left;
	return action;
}

static struct action await(struct thread *thread, uint64_t bytes, nsec_t until)
{
	thread->left = bytes;
	return (struct action){.kind = ACTION_AWAIT_DATA, .until = until};
}

/* Take what was awaited; a datagram that came late stands for all before it. */
static void take_data(struct world *world, struct thread *thread, uint64_t bytes)
{
	struct flow *flow = &world->flow[thread->flow];
	struct endpoint *end = &flow->end[thread->side];

	if (flow->protocol == IPPROTO_TCP)
		end->unread -= bytes;
	else
		end->unread = 0;
}

/* What a message of so many bytes is at the other end. */
static uint64_t arriving(const struct world *world, const struct thread *thread,
			 uint64_t bytes)
{
	const struct flow *flow = &world->flow[thread->flow];
	uint64_t most = transport_most(flow);

	return flow->protocol == IPPROTO_TCP || bytes < most ? bytes : most;
}

static struct action sleep_until_due(struct world *world, struct thread *thread,
				     nsec_t now)
{
	nsec_t due = schedule_next(world, &world->flow[thread->flow], thread->begun, now);

	thread->begun = true;
	if (due == NSEC_MAX)
		return (struct action){.kind = ACTION_END};
	thread->left = world->request_bytes;
	return (struct action){.kind = ACTION_SLEEP, .until = due};
}

/* Ask, await the reply, think, ask again. */
static struct action client_next(struct world *world, struct thread *thread, nsec_t now)
{
	const struct flow *flow = &world->flow[thread->flow];
	bool icmp = flow->protocol == IPPROTO_ICMP || flow->protocol == IPPROTO_ICMPV6;
	uint64_t reply =
	    arriving(world, thread, icmp ? world->request_bytes : world->reply_bytes);
	struct action action;

	switch (thread->stage) {
	case 1:
		action = send_left(world, thread);
		if (action.kind != ACTION_END)
			return action;
		thread->stage = 2;
		return await(thread, reply,
			     flow->protocol == IPPROTO_TCP ? NSEC_MAX
							   : now + world->timeout_ns);
	case 2:
		take_data(world, thread, reply);
		break;
	default:
		break;
	}
	thread->stage = 1;
	return sleep_until_due(world, thread, now);
}

/* Await a request, compute, reply. */
static struct action server_next(struct world *world, struct thread *thread)
{
	struct flow *flow = &world->flow[thread->flow];
	uint64_t request = arriving(world, thread, world->request_bytes);
	struct action action;

	switch (thread->stage) {
	case 1:
		take_data(world, thread, request);
		thread->left = world->reply_bytes;
		thread->stage = 2;
		return (struct action){
		    .kind = ACTION_COMPUTE,
		    .span = dice_exponential(&flow->dice, world->service_ns)};
	case 2:
		action = send_left(world, thread);
		if (action.kind != ACTION_END)
			return action;
		break;
	default:
		break;
	}
	thread->stage = 1;
	return await(thread, request, NSEC_MAX);
}

static struct action sender_next(struct world *world, struct thread *thread, nsec_t now)
{
	if (thread->stage == 1) {
		struct action action = send_left(world, thread);

		if (action.kind != ACTION_END)
			return action;
	}
	thread->stage = 1;
	return sleep_until_due(world, thread, now);
}

static struct action receiver_next(struct world *world, struct thread *thread)
{
	uint64_t bytes = arriving(world, thread, world->request_bytes);

	if (thread->stage == 1)
		take_data(world, thread, bytes);
	thread->stage = 1;
	return await(thread, bytes, NSEC_MAX);
}

/* Compute, then sleep, read or write, and so on. */
static struct action worker_next(struct world *world, struct thread *thread, nsec_t now)
{
	struct dice *dice = &world->host[thread->node].dice;
	uint64_t choice;

	thread->stage = !thread->stage;
	if (thread->stage)
		return (struct action){.kind = ACTION_COMPUTE,
				       .span = NSEC_PER_USEC +
					       dice_exponential(dice, 4 * NSEC_PER_MSEC)};
	choice = dice_below(dice, 100);
	if (choice < 40)
		return (struct action){
		    .kind = ACTION_SLEEP,
		    .until = now + dice_exponential(dice, 20 * NSEC_PER_MSEC)};
	return (struct action){.kind = choice < 80 ? ACTION_READ_DISK : ACTION_WRITE_DISK,
			       .bytes = 4096 * (1 + dice_below(dice, 32))};
}

static struct action sampler_next(struct world *world, struct thread *thread)
{
	thread->stage = !thread->stage;
	if (!thread->stage)
		return (struct action){.kind = ACTION_SAMPLE};
	thread->due_ns += nsec_round(world->scenario->sample_s * 1e9);
	return (struct action){.kind = ACTION_SLEEP, .until = thread->due_ns};
}

/* Begin a child, wait for its end, rest. */
static struct action daemon_next(struct world *world, struct thread *thread, nsec_t now)
{
	struct dice *dice = &world->host[thread->node].dice;
	nsec_t mean = nsec_round(world->scenario->spawn_ms * 1e6);

	switch (thread->stage) {
	case 1:
		thread->stage = 2;
		return (struct action){.kind = ACTION_FORK};
	case 2:
		thread->stage = 0;
		return (struct action){.kind = ACTION_WAIT};
	default:
		thread->stage = 1;
		return (struct action){.kind = ACTION_SLEEP,
				       .until = now + DAEMON_REST_NS +
						dice_exponential(dice, mean)};
	}
}

/* A program that computes, reads something, and computes on. */
static struct action child_next(struct world *world, struct thread *thread)
{
	struct dice *dice = &world->host[thread->node].dice;

	switch (thread->stage++) {
	case 0:
		return (struct action){.kind = ACTION_EXEC};
	case 2:
		return (struct action){.kind = ACTION_READ_DISK,
				       .bytes = 4096 * (1 + dice_below(dice, 32))};
	case 1:
	case 3:
		return (struct action){.kind = ACTION_COMPUTE,
				       .span = NSEC_PER_USEC +
					       dice_exponential(dice, 5 * NSEC_PER_MSEC)};
	default:
		return (struct action){.kind = ACTION_EXIT};
	}
}

struct action program_next(struct world *world, struct thread *thread, nsec_t now)
{
	switch (thread->role) {
	case ROLE_CLIENT:
		return client_next(world, thread, now);
	case ROLE_SERVER:
		return server_next(world, thread);
	case ROLE_SENDER:
		return sender_next(world, thread, now);
	case ROLE_RECEIVER:
		return receiver_next(world, thread);
	case ROLE_WORKER:
		return worker_next(world, thread, now);
	case ROLE_SAMPLER:
		return sampler_next(world, thread);
	case ROLE_DAEMON:
		return daemon_next(world, thread, now);
	case ROLE_CHILD:
		return child_next(world, thread);
	default:
		return (struct action){.kind = ACTION_END};
	}
}

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
