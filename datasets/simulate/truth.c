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

/* A row of spans.csv; no kind: none. middle_ns is 0 where it is not known. */
struct span_row {
	const char *kind, *name;
	int32_t tid;
	int64_t number;
	nsec_t begin_ns, middle_ns;
};

/* What a processor is at; stamps are NSEC_MIN where there is none. */
struct cpu_spans {
	nsec_t first_ns, run_ns;   /* its first event; since when its thread runs */
	nsec_t raised_ns[VECTORS]; /* or 0 */
	struct span_row interrupt;
	bool over; /* its node is traced no more; then who was the last one */
	int32_t last_tid;
	const char *last_name;
};

/* What a thread is at: rows that have begun. */
struct thread_spans {
	struct span_row wait, call, disk;
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
	truth->thread = mem_zalloc(world->threads * sizeof(*truth->thread));
	truth->cpu = mem_zalloc(cpus * sizeof(*truth->cpu));
	for (size_t i = 0; i < cpus; i++)
		truth->cpu[i].first_ns = truth->cpu[i].run_ns = NSEC_MIN;
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
		(unsigned)end[1].near.port, state->asked_ns, state->arrived_ns,
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
	return &now->world->truth->cpu[cpu_number(now->world, now->node, now->cpu)];
}

/* Write a row that ends here, if it began and both were traced; it is over then. */
static void end_row(const struct now *now, struct span_row *row, nsec_t end_ns)
{
	FILE *file = now->world->truth->spans.file;

	if (row->kind && row->begin_ns != NSEC_MIN && end_ns != NSEC_MIN) {
		fprintf(file, "%s,%s,%" PRIu32 ",%" PRId32 ",%s,%" PRId64 ",%" PRId64 ",",
			row->kind, now_host(now)->name, now->cpu, row->tid, row->name,
			row->number, row->begin_ns);
		if (row->middle_ns)
			fprintf(file, "%" PRId64, row->middle_ns);
		fprintf(file, ",%" PRId64 "\n", end_ns);
	}
	row->kind = NULL;
}

static const char *name_of(const struct now *now, uint32_t thread)
{
	return thread == NO_THREAD ? "swapper" : now->world->thread[thread].name;
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
	end_row(now, &row, end_ns);
}

/* A row of a thread that begins. */
static struct span_row row_of(const struct now *now, uint32_t thread, const char *kind,
			      int64_t number, nsec_t at_ns)
{
	return (struct span_row){.kind = kind,
				 .tid = now_tid(now, thread),
				 .name = name_of(now, thread),
				 .number = number,
				 .begin_ns = at_ns};
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
	if (last != NO_THREAD && preempted)
		thread[last].wait = row_of(now, last, "preempted", -1, at_ns);
	if (next != NO_THREAD)
		end_row(now, &thread[next].wait, at_ns);
}

static void begin_softirq(const struct now *now, struct cpu_spans *cpu, uint64_t vector,
			  nsec_t at_ns)
{
	cpu->interrupt =
	    row_of(now, now_cpu(now)->current, "softirq", (int64_t)vector, at_ns);
	cpu->interrupt.name = "";
	cpu->interrupt.middle_ns = cpu->raised_ns[vector];
	cpu->raised_ns[vector] = 0;
}

static void begin_disk(const struct now *now, struct span_row *row, nsec_t at_ns)
{
	const struct thread *thread = &now->world->thread[now->about];

	*row = row_of(now, now->about, "disk", (int64_t)thread->sector, at_ns);
	row->name = thread->call == EVENT_FSYNC_EXIT ? "write" : "read";
}

static void note_call(const struct now *now, enum event_kind kind, int64_t result,
		      nsec_t at_ns)
{
	uint32_t current = now_cpu(now)->current;
	struct span_row *call = &now->world->truth->thread[current].call;

	if ((kind - EVENT_CALLS) % 2) {
		call->number = result;
		end_row(now, call, at_ns);
	} else {
		*call = row_of(now, current, "call", 0, at_ns);
		call->name = event_class(kind)->name + strlen("syscall_entry_");
	}
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
		thread->wait =
		    row_of(now, now->about, "wait", now_tid(now, current), at_ns);
		break;
	case EVENT_SOFTIRQ_RAISE:
		cpu->raised_ns[value[0].u] = at_ns == NSEC_MIN ? 0 : at_ns;
		break;
	case EVENT_SOFTIRQ_ENTRY:
		begin_softirq(now, cpu, value[0].u, at_ns);
		break;
	case EVENT_IRQ_ENTRY:
		cpu->interrupt = row_of(now, current, "irq", value[0].i, at_ns);
		cpu->interrupt.name = value[1].text;
		break;
	case EVENT_SOFTIRQ_EXIT:
	case EVENT_IRQ_EXIT:
		end_row(now, &cpu->interrupt, at_ns);
		break;
	case EVENT_BLOCK_INSERT:
		begin_disk(now, &thread->disk, at_ns);
		break;
	case EVENT_BLOCK_ISSUE:
		thread->disk.middle_ns = at_ns;
		break;
	case EVENT_BLOCK_COMPLETE:
		end_row(now, &thread->disk, at_ns);
		break;
	default:
		if (kind >= EVENT_CALLS && current != NO_THREAD)
			note_call(now, kind, value[0].i, at_ns);
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
