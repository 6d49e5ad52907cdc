/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/program.h"

#include <netinet/in.h>

#include "simulate/process.h"
#include "simulate/transport.h"

static nsec_t draw_interval(struct flow *flow, int spread)
{
	switch (spread) {
	case SPREAD_UNIFORM:
		return dice_between(&flow->dice, 0, 2 * flow->interval_ns);
	case SPREAD_EXPONENTIAL:
		return dice_exponential(&flow->dice, flow->interval_ns);
	default:
		return flow->interval_ns;
	}
}

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
	nsec_t on = nsec_round(scenario->burst_on_ms * 1e6);
	nsec_t off = nsec_round(scenario->burst_off_ms * 1e6);

	if (off && due % (on + off) >= on)
		due = stagger(flow, (due / (on + off) + 1) * (on + off), on);
	for (size_t i = 0; i < scenario->idles; i++)
		if (due >= seconds(scenario->idle[i].from_s) &&
		    due < seconds(scenario->idle[i].to_s))
			due = stagger(flow, seconds(scenario->idle[i].to_s),
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

	due = now - world->begin_ns + draw_interval(flow, scenario->interval);
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
