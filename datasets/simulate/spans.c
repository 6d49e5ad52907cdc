/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/truth.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "simulate/host.h"
#include "simulate/thread.h"

/* Where a flow's request is. */
struct request_state {
	enum { ASKS_NOTHING, ASKED, TAKEN, REPLIED } phase;
	nsec_t came_ns[2], new_ns[2]; /* at each side: the last data, the last new data */
	nsec_t asked_ns, arrived_ns, taken_ns, replied_ns;
};

struct requests {
	struct output output;
	struct request_state *flow;
};

struct requests *requests_open(const struct world *world, const char *directory,
			       struct error *error)
{
	struct requests *requests = mem_zalloc(sizeof(*requests));

	if (sim_output_open(&requests->output, error, "%s/requests.csv", directory)) {
		free(requests);
		return NULL;
	}
	fputs("client,client_tid,server,server_tid,port,asked_ns,arrived_ns,"
	      "taken_ns,replied_ns,ended_ns\n",
	      requests->output.file);
	requests->flow = mem_zalloc((world->flows + 1) * sizeof(*requests->flow));
	return requests;
}

static struct request_state *state_of(const struct now *now, uint32_t flow)
{
	struct requests *requests = now->world->requests;

	return requests && now->world->scenario->pattern == PATTERN_REQUEST
		   ? &requests->flow[flow]
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

static void write_row(const struct now *now, const struct thread *thread,
		      const struct request_state *state)
{
	const struct world *world = now->world;
	const struct flow *flow = &world->flow[thread->flow];
	const struct endpoint *client = &flow->end[0], *server = &flow->end[1];

	fprintf(world->requests->output.file,
		"%s,%" PRId32 ",%s,%" PRId32 ",%u,%" PRId64 ",%" PRId64 ",%" PRId64
		",%" PRId64 ",%" PRId64 "\n",
		world->host[client->node].name, world->thread[client->writer].tid,
		world->host[server->node].name, world->thread[server->writer].tid,
		(unsigned)server->port, state->asked_ns, state->arrived_ns,
		state->taken_ns, state->replied_ns, state->new_ns[0]);
}

void requests_taken(const struct now *now, uint32_t number, bool whole)
{
	const struct thread *thread = &now->world->thread[number];
	struct request_state *state;

	if (thread->role != ROLE_CLIENT && thread->role != ROLE_SERVER)
		return;
	state = state_of(now, thread->flow);
	if (!state)
		return;
	if (thread->role == ROLE_SERVER && state->phase == ASKED && whole) {
		state->phase = TAKEN;
		state->arrived_ns = state->new_ns[1];
		state->taken_ns = now->ns;
	} else if (thread->role == ROLE_CLIENT) {
		if (whole && state->phase == REPLIED && !now->world->stopped)
			write_row(now, thread, state);
		state->phase = ASKS_NOTHING;
	}
}

int requests_close(struct world *world, struct error *error)
{
	int status = output_commit(&world->requests->output, error);

	requests_discard(world->requests);
	world->requests = NULL;
	return status;
}

void requests_discard(struct requests *requests)
{
	if (!requests)
		return;
	output_discard(&requests->output);
	free(requests->flow);
	free(requests);
}

/* What a processor is at; stamps are NSEC_MIN where there is none. */
struct cpu_spans {
	nsec_t first_ns, run_ns; /* its first event; since when its thread runs */
	nsec_t raised_ns[SPAN_VECTORS];
	enum span_interrupt kind;
	int64_t number;
	const char *name;
	nsec_t begin_ns, interrupt_raised_ns;
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

struct spans {
	struct output output;
	struct cpu_spans *cpu; /* node * cpus + cpu */
	struct thread_spans *thread;
	size_t threads, room;
	nsec_t *last_ns; /* a node: of its last event */
};

struct spans *spans_open(const struct world *world, const char *directory,
			 struct error *error)
{
	size_t cpus = world->hosts * (size_t)world->scenario->cpus;
	struct spans *spans = mem_zalloc(sizeof(*spans));

	if (sim_output_open(&spans->output, error, "%s/spans.csv", directory)) {
		free(spans);
		return NULL;
	}
	fputs("kind,node,cpu,tid,name,number,begin_ns,middle_ns,end_ns\n",
	      spans->output.file);
	spans->cpu = mem_zalloc(cpus * sizeof(*spans->cpu));
	for (size_t i = 0; i < cpus; i++) {
		struct cpu_spans *cpu = &spans->cpu[i];

		cpu->first_ns = cpu->run_ns = cpu->begin_ns = NSEC_MIN;
		for (size_t k = 0; k < SPAN_VECTORS; k++)
			cpu->raised_ns[k] = NSEC_MIN;
	}
	spans->last_ns = mem_zalloc(world->hosts * sizeof(*spans->last_ns));
	return spans;
}

static struct cpu_spans *cpu_of(const struct now *now)
{
	const struct world *world = now->world;

	return &world->spans->cpu[now->node * (size_t)world->scenario->cpus + now->cpu];
}

static struct thread_spans *thread_of(const struct now *now, uint32_t number)
{
	struct spans *spans = now->world->spans;

	while (spans->threads <= number) {
		spans->thread = mem_grow(spans->thread, spans->threads, &spans->room,
					 sizeof(*spans->thread));
		spans->thread[spans->threads++] = (struct thread_spans){
		    .ready_ns = NSEC_MIN, .call_ns = NSEC_MIN, .queued_ns = NSEC_MIN};
	}
	return &spans->thread[number];
}

/* Its stamp, or NSEC_MIN where nothing is recorded. */
static nsec_t stamp_of(struct now *now)
{
	struct host *host = now_host(now);

	return now->world->stopped || !host_is_traced(host, now->ns)
		   ? NSEC_MIN
		   : sim_clock_mono(&host->clock, now->ns);
}

/* What a row is about; stamps that are NSEC_MIN are not known. */
struct row {
	const char *kind, *name;
	int32_t tid;
	int64_t number;
	nsec_t begin_ns, middle_ns, end_ns;
};

static void add(const struct now *now, const struct row *row)
{
	FILE *file = now->world->spans->output.file;

	if (row->begin_ns == NSEC_MIN || row->end_ns == NSEC_MIN)
		return;
	fprintf(file, "%s,%s,%" PRIu32 ",%" PRId32 ",%s,%" PRId64 ",%" PRId64 ",",
		row->kind, now_host(now)->name, now->cpu, row->tid, row->name,
		row->number, row->begin_ns);
	if (row->middle_ns != NSEC_MIN)
		fprintf(file, "%" PRId64, row->middle_ns);
	fprintf(file, ",%" PRId64 "\n", row->end_ns);
}

void spans_note_event(struct now *now, nsec_t mono_ns)
{
	struct spans *spans = now->world->spans;
	struct cpu_spans *cpu;

	if (!spans)
		return;
	cpu = cpu_of(now);
	if (cpu->first_ns == NSEC_MIN)
		cpu->first_ns = mono_ns;
	if (mono_ns > spans->last_ns[now->node])
		spans->last_ns[now->node] = mono_ns;
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
	struct row row = {
	    .kind = "run",
	    .tid = cpu->over ? cpu->last_tid : now_tid(now, current),
	    .name = cpu->over ? cpu->last_name : name_of(now, current),
	    .number = next,
	    .begin_ns = cpu->run_ns == NSEC_MIN ? cpu->first_ns : cpu->run_ns,
	    .middle_ns = NSEC_MIN,
	    .end_ns = end_ns,
	};

	/* Its first event is the switch itself. */
	if (row.begin_ns == NSEC_MIN)
		row.begin_ns = end_ns;
	add(now, &row);
}

void spans_switch(struct now *now, uint32_t next, bool preempted)
{
	uint32_t last = now_cpu(now)->current;
	struct cpu_spans *cpu;
	nsec_t at_ns;

	if (!now->world->spans)
		return;
	at_ns = stamp_of(now);
	cpu = cpu_of(now);
	if (at_ns != NSEC_MIN) {
		add_run(now, at_ns, now_tid(now, next));
		cpu->run_ns = at_ns;
	} else if (cpu->first_ns != NSEC_MIN && !cpu->over) {
		cpu->over = true;
		cpu->last_tid = now_tid(now, last);
		cpu->last_name = name_of(now, last);
	}
	if (last != NO_THREAD && preempted) {
		struct thread_spans *thread = thread_of(now, last);

		thread->ready_ns = at_ns;
		thread->waker = -1;
	}
	if (next != NO_THREAD) {
		struct thread_spans *thread = thread_of(now, next);

		add(now, &(struct row){.kind = thread->waker < 0 ? "preempted" : "wait",
				       .tid = now_tid(now, next),
				       .name = name_of(now, next),
				       .number = thread->waker,
				       .begin_ns = thread->ready_ns,
				       .middle_ns = NSEC_MIN,
				       .end_ns = at_ns});
		thread->ready_ns = NSEC_MIN;
	}
}

void spans_wake(struct now *now, uint32_t number)
{
	struct thread_spans *thread;

	if (!now->world->spans)
		return;
	thread = thread_of(now, number);
	thread->ready_ns = stamp_of(now);
	thread->waker = now_tid(now, now_cpu(now)->current);
}

void spans_raise(struct now *now, uint32_t vector)
{
	if (now->world->spans && vector < SPAN_VECTORS)
		cpu_of(now)->raised_ns[vector] = stamp_of(now);
}

void spans_interrupt(struct now *now, enum span_interrupt kind, int64_t number,
		     const char *name)
{
	struct cpu_spans *cpu;

	if (!now->world->spans)
		return;
	cpu = cpu_of(now);
	cpu->kind = kind;
	cpu->number = number;
	cpu->name = name;
	cpu->begin_ns = stamp_of(now);
	cpu->interrupt_raised_ns = NSEC_MIN;
	if (kind == SPAN_SOFTIRQ && number < SPAN_VECTORS) {
		cpu->interrupt_raised_ns = cpu->raised_ns[number];
		cpu->raised_ns[number] = NSEC_MIN;
	}
}

void spans_interrupt_end(struct now *now)
{
	const struct cpu_spans *cpu;

	if (!now->world->spans)
		return;
	cpu = cpu_of(now);
	add(now, &(struct row){.kind = cpu->kind == SPAN_IRQ ? "irq" : "softirq",
			       .tid = now_tid(now, now_cpu(now)->current),
			       .name = cpu->name,
			       .number = cpu->number,
			       .begin_ns = cpu->begin_ns,
			       .middle_ns = cpu->interrupt_raised_ns,
			       .end_ns = stamp_of(now)});
}

void spans_call(struct now *now, const char *name)
{
	uint32_t current = now_cpu(now)->current;
	struct thread_spans *thread;

	if (!now->world->spans || current == NO_THREAD)
		return;
	thread = thread_of(now, current);
	thread->call_ns = stamp_of(now);
	thread->call = name;
}

void spans_call_end(struct now *now, int64_t result)
{
	uint32_t current = now_cpu(now)->current;
	struct thread_spans *thread;

	if (!now->world->spans || current == NO_THREAD)
		return;
	thread = thread_of(now, current);
	if (thread->call_ns != NSEC_MIN)
		add(now, &(struct row){.kind = "call",
				       .tid = now_tid(now, current),
				       .name = thread->call,
				       .number = result,
				       .begin_ns = thread->call_ns,
				       .middle_ns = NSEC_MIN,
				       .end_ns = stamp_of(now)});
	thread->call_ns = NSEC_MIN;
}

void spans_disk(struct now *now, uint32_t number)
{
	if (now->world->spans)
		thread_of(now, number)->queued_ns = stamp_of(now);
}

void spans_disk_issue(struct now *now, uint32_t number)
{
	if (now->world->spans)
		thread_of(now, number)->issued_ns = stamp_of(now);
}

void spans_disk_end(struct now *now, uint32_t number, bool writes)
{
	struct thread_spans *thread;

	if (!now->world->spans)
		return;
	thread = thread_of(now, number);
	add(now, &(struct row){.kind = "disk",
			       .tid = now_tid(now, number),
			       .name = writes ? "write" : "read",
			       .number = (int64_t)now->world->thread[number].sector,
			       .begin_ns = thread->queued_ns,
			       .middle_ns = thread->issued_ns,
			       .end_ns = stamp_of(now)});
	thread->queued_ns = NSEC_MIN;
}

/* Who is on the processors goes on running to the node's last event. */
static void add_last_runs(struct world *world)
{
	for (uint32_t node = 0; node < world->hosts; node++)
		for (uint32_t cpu = 0; cpu < (uint32_t)world->scenario->cpus; cpu++) {
			struct now now = {world, node, cpu, world->now, 0};

			if (cpu_of(&now)->first_ns != NSEC_MIN)
				add_run(&now, world->spans->last_ns[node], -1);
		}
}

int spans_close(struct world *world, struct error *error)
{
	int status;

	add_last_runs(world);
	status = output_commit(&world->spans->output, error);
	spans_discard(world->spans);
	world->spans = NULL;
	return status;
}

void spans_discard(struct spans *spans)
{
	if (!spans)
		return;
	output_discard(&spans->output);
	free(spans->cpu);
	free(spans->thread);
	free(spans->last_ns);
	free(spans);
}
