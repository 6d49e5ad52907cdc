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

bool thread_is_stream(const struct world *world, const struct thread *thread)
{
	return world->flow[thread->flow].protocol == IPPROTO_TCP;
}

/* Send thread->left bytes, piece by piece; ACTION_NONE when nothing is left. */
static struct action send_left(const struct world *world, struct thread *thread)
{
	const struct flow *flow = &world->flow[thread->flow];
	struct action action = {.kind = ACTION_SEND};
	uint64_t most = transport_most(flow);

	if (!thread->left)
		return (struct action){.kind = ACTION_NONE};
	if (!transport_is_answered(flow, thread->side))
		return (struct action){.kind = ACTION_AWAIT_SENT};
	action.bytes = thread->left < most ? thread->left : most;
	/* A datagram is all there is of a message. */
	thread->left -= thread_is_stream(world, thread) ? action.bytes : thread->left;
	return action;
}

/* Await what the other end sends as one message, which a datagram may cut. */
static struct action await(const struct world *world, struct thread *thread, nsec_t now)
{
	const struct flow *flow = &world->flow[thread->flow];
	uint64_t most = transport_most(flow);
	bool is_client = thread->role == ROLE_CLIENT,
	     stream = thread_is_stream(world, thread);

	thread->left = is_client && (stream || flow->protocol == IPPROTO_UDP)
			   ? world->reply_bytes
			   : world->request_bytes;
	if (!stream && thread->left > most)
		thread->left = most;
	return (struct action){
	    .kind = ACTION_AWAIT_DATA,
	    .until = is_client && !stream
			 ? now + nsec_round(world->scenario->timeout_ms * 1e6)
			 : NSEC_MAX};
}

/* Take what was awaited; a datagram that came late stands for all before it. */
static struct action take_data(struct world *world, const struct thread *thread)
{
	uint64_t *unread = &world->flow[thread->flow].end[thread->side].unread;

	*unread = thread_is_stream(world, thread) ? *unread - thread->left : 0;
	return (struct action){.kind = ACTION_NONE};
}

static struct action sleep_by_role(struct world *world, struct thread *thread, nsec_t now)
{
	struct action action = {.kind = ACTION_SLEEP};

	switch (thread->role) {
	case ROLE_SAMPLER:
		action.until = thread->due_ns += seconds(world->scenario->sample_s);
		break;
	case ROLE_DAEMON:
		action.until =
		    now + DAEMON_REST_NS +
		    dice_exponential(&world->host[thread->node].dice,
				     nsec_round(world->scenario->spawn_ms * 1e6));
		break;
	default:
		action.until =
		    schedule_next(world, &world->flow[thread->flow], thread->begun, now);
		thread->begun = true;
		if (action.until == NSEC_MAX)
			action.kind = ACTION_END;
	}
	return action;
}

static struct action compute(struct world *world, const struct thread *thread)
{
	struct dice *dice = &world->host[thread->node].dice;
	nsec_t mean = (thread->role == ROLE_CHILD ? 5 : 4) * NSEC_PER_MSEC;

	return (struct action){
	    .kind = ACTION_COMPUTE,
	    .span =
		thread->role == ROLE_SERVER
		    ? dice_exponential(&world->flow[thread->flow].dice, world->service_ns)
		    : NSEC_PER_USEC + dice_exponential(dice, mean)};
}

static struct action use_disk(struct dice *dice, enum action_kind kind)
{
	return (struct action){.kind = kind, .bytes = 4096 * (1 + dice_below(dice, 32))};
}

/* Sleep, read or write. */
static struct action pause_work(struct dice *dice, nsec_t now)
{
	uint64_t choice = dice_below(dice, 100);

	if (choice < 40)
		return (struct action){
		    .kind = ACTION_SLEEP,
		    .until = now + dice_exponential(dice, 20 * NSEC_PER_MSEC)};
	return use_disk(dice, choice < 80 ? ACTION_READ_DISK : ACTION_WRITE_DISK);
}

/* What threads of each role do, over and over; a child does it once. */
static const uint8_t routines[THREAD_ROLES][6] = {
    [ROLE_CLIENT] = {ACTION_SLEEP, ACTION_SEND, ACTION_AWAIT_DATA, ACTION_TAKE_DATA},
    [ROLE_SERVER] = {ACTION_AWAIT_DATA, ACTION_TAKE_DATA, ACTION_COMPUTE, ACTION_SEND},
    [ROLE_SENDER] = {ACTION_SLEEP, ACTION_SEND},
    [ROLE_RECEIVER] = {ACTION_AWAIT_DATA, ACTION_TAKE_DATA},
    [ROLE_WORKER] = {ACTION_COMPUTE, ACTION_PAUSE},
    [ROLE_SAMPLER] = {ACTION_SLEEP, ACTION_SAMPLE},
    [ROLE_DAEMON] = {ACTION_SLEEP, ACTION_FORK, ACTION_WAIT},
    [ROLE_CHILD] = {ACTION_EXEC, ACTION_COMPUTE, ACTION_READ_DISK, ACTION_COMPUTE,
		    ACTION_EXIT},
};

static struct action begin_action(struct world *world, struct thread *thread,
				  enum action_kind kind, nsec_t now)
{
	struct dice *dice = &world->host[thread->node].dice;

	switch (kind) {
	case ACTION_SLEEP:
		return sleep_by_role(world, thread, now);
	case ACTION_SEND:
		return send_left(world, thread);
	case ACTION_AWAIT_DATA:
		return await(world, thread, now);
	case ACTION_TAKE_DATA:
		return take_data(world, thread);
	case ACTION_COMPUTE:
		return compute(world, thread);
	case ACTION_READ_DISK:
		return use_disk(dice, kind);
	case ACTION_PAUSE:
		return pause_work(dice, now);
	default:
		return (struct action){.kind = kind};
	}
}

struct action program_next(struct world *world, struct thread *thread, nsec_t now)
{
	const uint8_t *routine = routines[thread->role];
	struct action action;

	do {
		enum action_kind kind = (enum action_kind)routine[thread->stage];

		action = begin_action(world, thread, kind, now);
		if (kind == ACTION_SEND && action.kind != ACTION_NONE)
			break; /* until all is sent */
		thread->stage = routine[thread->stage + 1] ? thread->stage + 1 : 0;
		if (routine[thread->stage] == ACTION_SEND)
			thread->left = thread->role == ROLE_SERVER ? world->reply_bytes
								   : world->request_bytes;
	} while (action.kind == ACTION_NONE);
	return action;
}

/* Let it go on a little later: the time that a kernel takes to switch to it. */
static void light_wake(struct now *now, uint32_t number)
{
	nsec_t latency = dice_between(&now_host(now)->dice, 3000, 15000);

	thread_await(now->world, number, WAIT_TIME, now->ns + latency);
}

enum { FIRST_TID = 900 };

int32_t thread_next_tid(struct host *host)
{
	return FIRST_TID + host->tids++;
}

static const char *const names[THREAD_ROLES] = {
    [ROLE_CLIENT] = "client",     [ROLE_SERVER] = "server",   [ROLE_SENDER] = "producer",
    [ROLE_RECEIVER] = "consumer", [ROLE_WORKER] = "worker",   [ROLE_SAMPLER] = "sadc",
    [ROLE_DAEMON] = DAEMON_NAME,  [ROLE_CHILD] = DAEMON_NAME, /* until it executes */
};

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
	thread->name = names[role];
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
