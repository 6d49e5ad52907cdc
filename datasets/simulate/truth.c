/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/truth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/host.h"
#include "simulate/thread.h"

/* Where a flow's request is. */
struct request_state {
	enum { ASKS_NOTHING, ASKED, TAKEN, REPLIED } phase;
	nsec_t came_ns[2], new_ns[2]; /* at each side: the last data, the last new data */
	nsec_t asked_ns, arrived_ns, taken_ns, replied_ns;
};

enum { VECTORS = 16 }; /* of softirqs */

/* What a processor is at; stamps are NSEC_MIN where there is none. */
struct cpu_spans {
	nsec_t first_ns, run_ns;   /* its first event; since when its thread runs */
	nsec_t raised_ns[VECTORS]; /* or 0 */
	struct span_row interrupt;
	bool over; /* its node is traced no more; then who was the last one */
	int32_t last_tid;
	const char *last_name;
};

/* What a thread is at. */
struct thread_spans {
	nsec_t ready_ns, call_ns, queued_ns, issued_ns;
	int32_t waker; /* -1: it was preempted */
	const char *call;
};

struct truth {
	struct output requests, spans;
	struct request_state *flow;
	struct cpu_spans *cpu; /* node * cpus + cpu */
	struct thread_spans *thread;
	nsec_t *last_ns; /* a node: of its last event */
};

static const char requests_header[] = "client,client_tid,server,server_tid,port,asked_ns,"
				      "arrived_ns,taken_ns,replied_ns,ended_ns\n";
static const char spans_header[] =
    "kind,node,cpu,tid,name,number,begin_ns,middle_ns,end_ns\n";

struct truth *truth_open(const struct world *world, const char *directory,
			 struct error *error)
{
	size_t cpus = world->hosts * (size_t)world->scenario->cpus;
	struct truth *truth = mem_zalloc(sizeof(*truth));

	if (sim_output_open(&truth->spans, error, "%s/spans.csv", directory) ||
	    sim_output_open(&truth->requests, error, "%s/requests.csv", directory)) {
		truth_discard(truth);
		return NULL;
	}
	fputs(spans_header, truth->spans.file);
	fputs(requests_header, truth->requests.file);
	truth->flow = mem_zalloc((world->flows + 1) * sizeof(*truth->flow));
	truth->last_ns = mem_zalloc(world->hosts * sizeof(*truth->last_ns));
	truth->thread = mem_alloc(world->threads * sizeof(*truth->thread));
	for (size_t i = 0; i < world->threads; i++)
		truth->thread[i] = (struct thread_spans){
		    .ready_ns = NSEC_MIN, .call_ns = NSEC_MIN, .queued_ns = NSEC_MIN};
	truth->cpu = mem_zalloc(cpus * sizeof(*truth->cpu));
	for (size_t i = 0; i < cpus; i++) {
		struct cpu_spans *cpu = &truth->cpu[i];

		cpu->first_ns = cpu->run_ns = cpu->interrupt.begin_ns = NSEC_MIN;
	}
	return truth;
}

void truth_discard(struct truth *truth)
{
	if (!truth)
		return;
	output_discard(&truth->spans);
	output_discard(&truth->requests);
	free(truth->flow);
	free(truth->cpu);
	free(truth->thread);
	free(truth->last_ns);
	free(truth);
}

static struct request_state *state_of(const struct now *now, uint32_t flow)
{
	struct truth *truth = now->world->truth;

	return truth && now->world->scenario->pattern == PATTERN_REQUEST
		   ? &truth->flow[flow]
		   : NULL;
}

void requests_sent(const struct now *now, uint32_t flow, int side)
{
	struct request_state *state = state_of(now, flow);

	if (!state)
		return;
	if (side == 0 && state->phase == ASKS_NOTHING) {
		state->phase = ASKED;
		state->asked_ns = now->ns;
	} else if (side == 1 && state->phase == TAKEN) {
		state->phase = REPLIED;
		state->replied_ns = now->ns;
	}
}

void requests_came(const struct now *now, uint32_t flow, int side)
{
	struct request_state *state = state_of(now, flow);

	if (state)
		state->came_ns[side] = now->ns;
}

void requests_is_new(const struct now *now, uint32_t number)
{
	const struct thread *thread = &now->world->thread[number];
	struct request_state *state = state_of(now, thread->flow);

	if (state)
		state->new_ns[thread->side] = state->came_ns[thread->side];
}

static void write_request(const struct now *now, const struct thread *thread,
			  const struct request_state *state)
{
	const struct world *world = now->world;
	const struct endpoint *end = world->flow[thread->flow].end;

	fprintf(world->truth->requests.file,
		"%s,%" PRId32 ",%s,%" PRId32 ",%u,%" PRId64 ",%" PRId64 ",%" PRId64
		",%" PRId64 ",%" PRId64 "\n",
		world->host[end[0].node].name, world->thread[end[0].writer].tid,
		world->host[end[1].node].name, world->thread[end[1].writer].tid,
		(unsigned)end[1].port, state->asked_ns, state->arrived_ns,
		state->taken_ns, state->replied_ns, state->new_ns[0]);
}

void requests_taken(const struct now *now, uint32_t number, bool whole)
{
	const struct thread *thread = &now->world->thread[number];
	struct request_state *state = state_of(now, thread->flow);

	if (!state)
		return;
	if (thread->role == ROLE_SERVER && state->phase == ASKED && whole) {
		state->phase = TAKEN;
		state->arrived_ns = state->new_ns[1];
		state->taken_ns = now->ns;
	} else if (thread->role == ROLE_CLIENT) {
		if (whole && state->phase == REPLIED && !now->world->stopped)
			write_request(now, thread, state);
		state->phase = ASKS_NOTHING;
	}
}

static struct cpu_spans *cpu_of(const struct now *now)
{
	const struct world *world = now->world;

	return &world->truth->cpu[now->node * (size_t)world->scenario->cpus + now->cpu];
}

static void add(const struct now *now, const struct span_row *row, nsec_t end_ns)
{
	FILE *file = now->world->truth->spans.file;

	if (row->begin_ns == NSEC_MIN || end_ns == NSEC_MIN)
		return;
	fprintf(file, "%s,%s,%" PRIu32 ",%" PRId32 ",%s,%" PRId64 ",%" PRId64 ",",
		row->kind, now_host(now)->name, now->cpu, row->tid, row->name,
		row->number, row->begin_ns);
	if (row->middle_ns)
		fprintf(file, "%" PRId64, row->middle_ns);
	fprintf(file, ",%" PRId64 "\n", end_ns);
}

static const char *name_of(const struct now *now, uint32_t thread)
{
	return thread == NO_THREAD ? "swapper"
				   : cpu_thread_name(&now->world->thread[thread]);
}

/* The processor's thread ran until then; `next`: who comes. */
static void add_run(const struct now *now, nsec_t end_ns, int64_t next)
{
	const struct cpu_spans *cpu = cpu_of(now);
	uint32_t current = now_cpu(now)->current;
	struct span_row row = {
	    .kind = "run",
	    .tid = cpu->over ? cpu->last_tid : now_tid(now, current),
	    .name = cpu->over ? cpu->last_name : name_of(now, current),
	    .number = next,
	    .begin_ns = cpu->run_ns == NSEC_MIN ? cpu->first_ns : cpu->run_ns,
	};

	/* Its first event is the switch itself. */
	if (row.begin_ns == NSEC_MIN)
		row.begin_ns = end_ns;
	add(now, &row, end_ns);
}

static void add_switch(const struct now *now, bool preempted, nsec_t at_ns)
{
	struct thread_spans *thread = now->world->truth->thread;
	uint32_t last = now_cpu(now)->current, next = now->about;
	struct cpu_spans *cpu = cpu_of(now);

	if (at_ns != NSEC_MIN) {
		add_run(now, at_ns, now_tid(now, next));
		cpu->run_ns = at_ns;
	} else if (cpu->first_ns != NSEC_MIN && !cpu->over) {
		cpu->over = true;
		cpu->last_tid = now_tid(now, last);
		cpu->last_name = name_of(now, last);
	}
	if (last != NO_THREAD && preempted) {
		thread[last].ready_ns = at_ns;
		thread[last].waker = -1;
	}
	if (next == NO_THREAD)
		return;
	add(now,
	    &(struct span_row){.kind = thread[next].waker < 0 ? "preempted" : "wait",
			       .tid = now_tid(now, next),
			       .name = name_of(now, next),
			       .number = thread[next].waker,
			       .begin_ns = thread[next].ready_ns},
	    at_ns);
	thread[next].ready_ns = NSEC_MIN;
}

static void begin_interrupt(const struct now *now, const union sim_value *number,
			    const char *name, nsec_t at_ns)
{
	struct cpu_spans *cpu = cpu_of(now);

	cpu->interrupt = (struct span_row){.kind = "irq",
					   .tid = now_tid(now, now_cpu(now)->current),
					   .name = name,
					   .number = number->i,
					   .begin_ns = at_ns};
}

static void begin_softirq(const struct now *now, const union sim_value *vector,
			  nsec_t at_ns)
{
	struct cpu_spans *cpu = cpu_of(now);

	begin_interrupt(now, vector, "", at_ns);
	cpu->interrupt.kind = "softirq";
	cpu->interrupt.middle_ns = cpu->raised_ns[vector->u];
	cpu->raised_ns[vector->u] = 0;
}

static void add_call(const struct now *now, struct thread_spans *thread, int64_t result,
		     nsec_t at_ns)
{
	uint32_t current = now_cpu(now)->current;

	add(now,
	    &(struct span_row){.kind = "call",
			       .tid = now_tid(now, current),
			       .name = thread->call,
			       .number = result,
			       .begin_ns = thread->call_ns},
	    at_ns);
	thread->call_ns = NSEC_MIN;
}

static void add_disk(const struct now *now, struct thread_spans *thread, nsec_t at_ns)
{
	const struct thread *about = &now->world->thread[now->about];

	add(now,
	    &(struct span_row){.kind = "disk",
			       .tid = about->tid,
			       .name = about->call == EVENT_FSYNC_EXIT ? "write" : "read",
			       .number = (int64_t)about->sector,
			       .begin_ns = thread->queued_ns,
			       .middle_ns = thread->issued_ns},
	    at_ns);
	thread->queued_ns = NSEC_MIN;
}

void spans_note(const struct now *now, enum event_kind kind, const union sim_value *value,
		nsec_t at_ns)
{
	struct truth *truth = now->world->truth;
	uint32_t current = now_cpu(now)->current;
	struct thread_spans *thread =
	    now->about == NO_THREAD ? NULL : &truth->thread[now->about];
	struct cpu_spans *cpu = cpu_of(now);

	switch (kind) {
	case EVENT_SWITCH:
		add_switch(now, value[3].i == STATE_RUNNING, at_ns);
		break;
	case EVENT_WAKING:
	case EVENT_WAKEUP_NEW:
		thread->ready_ns = at_ns;
		thread->waker = now_tid(now, current);
		break;
	case EVENT_SOFTIRQ_RAISE:
		cpu->raised_ns[value[0].u] = at_ns == NSEC_MIN ? 0 : at_ns;
		break;
	case EVENT_SOFTIRQ_ENTRY:
		begin_softirq(now, &value[0], at_ns);
		break;
	case EVENT_IRQ_ENTRY:
		begin_interrupt(now, &value[0], value[1].text, at_ns);
		break;
	case EVENT_SOFTIRQ_EXIT:
	case EVENT_IRQ_EXIT:
		add(now, &cpu->interrupt, at_ns);
		break;
	case EVENT_BLOCK_INSERT:
		thread->queued_ns = at_ns;
		break;
	case EVENT_BLOCK_ISSUE:
		thread->issued_ns = at_ns;
		break;
	case EVENT_BLOCK_COMPLETE:
		add_disk(now, thread, at_ns);
		break;
	default:
		if (kind < EVENT_CALLS || current == NO_THREAD)
			break;
		thread = &truth->thread[current];
		if ((kind - EVENT_CALLS) % 2) {
			add_call(now, thread, value[0].i, at_ns);
			break;
		}
		thread->call_ns = at_ns;
		thread->call = event_class(kind)->name + strlen("syscall_entry_");
	}
	if (at_ns == NSEC_MIN)
		return;
	if (cpu->first_ns == NSEC_MIN)
		cpu->first_ns = at_ns;
	if (at_ns > truth->last_ns[now->node])
		truth->last_ns[now->node] = at_ns;
}

/* Who is on the processors goes on running to the node's last event. */
static void add_last_runs(struct world *world)
{
	for (uint32_t node = 0; node < world->hosts; node++)
		for (uint32_t cpu = 0; cpu < (uint32_t)world->scenario->cpus; cpu++) {
			struct now now = {
			    .world = world, .node = node, .cpu = cpu, .ns = world->now};

			if (cpu_of(&now)->first_ns != NSEC_MIN)
				add_run(&now, world->truth->last_ns[node], -1);
		}
}

int truth_close(struct world *world, struct error *error)
{
	add_last_runs(world);
	return output_commit(&world->truth->spans, error) ||
		       output_commit(&world->truth->requests, error)
		   ? -1
		   : 0;
}
