/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/thread.h"

#include "simulate/cpu.h"
#include "simulate/dice.h"
#include "simulate/task.h"
#include "simulate/truth.h"

/* Return a random time shortly after `begin` in a phase of `length` ns, so that flows do
 * not all start at once. */
static nsec_t draw_start(struct flow *flow, nsec_t begin, nsec_t length)
{
	nsec_t most = flow->interval_ns < length / 2 ? flow->interval_ns : length / 2;

	return begin + dice_between(&flow->dice, 0, most);
}

static nsec_t nsec_of_seconds(double value)
{
	return nsec_round(value * 1e9);
}

/* Return `due`, moved to the end of an idle time or of the pause after a burst. */
static nsec_t skip_pauses(const struct scenario *scenario, struct flow *flow, nsec_t due)
{
	const struct scenario_lines *idle = &scenario->lines[SCENARIO_IDLE];
	nsec_t on = nsec_round(scenario->burst_on_ms * 1e6);
	nsec_t off = nsec_round(scenario->burst_off_ms * 1e6);

	if (off && due % (on + off) >= on)
		due = draw_start(flow, (due / (on + off) + 1) * (on + off), on);
	for (size_t i = 0; i < idle->count; i++)
		if (due >= nsec_of_seconds(idle->item[i].value[0]) &&
		    due < nsec_of_seconds(idle->item[i].value[1]))
			due = draw_start(flow, nsec_of_seconds(idle->item[i].value[1]),
					 2 * flow->interval_ns);
	return due;
}

nsec_t thread_next_due(struct world *world, struct thread *thread, nsec_t from_ns)
{
	const struct scenario *scenario = world->scenario;
	struct flow *flow = thread->end->flow;
	nsec_t from = nsec_of_seconds(scenario->active_from_s);
	nsec_t to = nsec_of_seconds(scenario->active_to_s), due, last;

	due = from_ns - world->begin_ns +
	      dice_spread(&flow->dice, scenario->interval, flow->interval_ns,
			  2 * flow->interval_ns);
	if (!thread->begun)
		due = dice_between(&flow->dice, 0, flow->interval_ns);
	thread->begun = true;
	if (due < from)
		due = draw_start(flow, from, to - from);
	do { /* another pause can follow */
		last = due;
		due = skip_pauses(scenario, flow, last);
	} while (due != last);
	return due < to ? world->begin_ns + due : NSEC_MAX;
}

/* With activity net: continue the thread after the delay of a context switch. */
static void wake_simple(struct context *ctx, struct thread *thread)
{
	nsec_t latency = dice_between(&ctx->host->dice, 3000, 15000);

	thread_await(ctx->world, thread, WAIT_TIME, ctx->ns + latency);
}

enum { FIRST_TID = 900 };

int32_t thread_next_tid(struct host *host)
{
	return FIRST_TID + host->tids++;
}

static const char *const names[THREAD_ROLES] = {
    [ROLE_CLIENT] = "client",     [ROLE_SERVER] = "server", [ROLE_SENDER] = "producer",
    [ROLE_RECEIVER] = "consumer", [ROLE_WORKER] = "worker", [ROLE_SAMPLER] = "sadc",
    [ROLE_HOG] = "hog",           [ROLE_HOLDER] = "holder", [ROLE_DAEMON] = DAEMON_NAME,
    [ROLE_CHILD] = DAEMON_NAME, /* until it executes */
};

struct thread *thread_add(struct world *world, struct host *host, enum thread_role role,
			  struct endpoint *end)
{
	struct thread *thread = &world->thread[world->threads++];

	thread->host = host;
	thread->end = end;
	thread->role = (uint8_t)role;
	thread->name = names[role];
	thread->cpu = &host->cpu[host->threads++ % (uint32_t)world->scenario->cpus];
	thread->tid = thread_next_tid(host);
	host->alive++;
	host->members[role]++;
	/* The threads of a role are one process; its pid is its first thread's tid. */
	if (!host->pid[role])
		host->pid[role] = thread->tid;
	thread->pid = host->pid[role];
	thread->due_ns = world->begin_ns;
	thread->ready_ns = world->begin_ns;
	return thread;
}

void thread_await(struct world *world, struct thread *thread, enum thread_wait wait,
		  nsec_t until)
{
	thread->wait = (uint8_t)wait;
	thread->age++;
	if (until != NSEC_MAX)
		queue_add(&world->queue, until, PENDING_TIMER, thread, thread->age);
}

bool thread_has_data(struct context *ctx, const struct thread *thread)
{
	if (thread->end->unread < thread->left)
		return false;
	wait_until(ctx, thread->end->came_ns);
	return true;
}

void thread_wake(struct context *ctx, struct thread *thread)
{
	thread->wait = WAIT_NONE;
	thread->age++;
	if (ctx->world->full)
		cpu_wake(ctx, thread);
	else
		wake_simple(ctx, thread);
}

void thread_data_came(struct context *ctx, struct thread *thread)
{
	thread->end->came_ns = ctx->ns;
	requests_is_new(ctx, thread);
	if (thread->wait == WAIT_DATA && thread->end->unread >= thread->left)
		thread_wake(ctx, thread);
}

void thread_all_sent(struct context *ctx, struct thread *thread)
{
	thread->end->answered_ns = ctx->ns;
	if (thread->wait == WAIT_SENT)
		thread_wake(ctx, thread);
}
