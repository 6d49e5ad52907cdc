/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/truth.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simulate/cpu.h"
#include "simulate/host.h"

/* The state of a flow's request. */
struct request_state {
	enum { ASKS_NOTHING, ASKED, ARRIVED, REPLIED } phase;
	nsec_t came_ns[2], new_ns[2]; /* at each side: the last data, the last new data */
	nsec_t asked_ns, arrived_ns, taken_ns, replied_ns;
};

enum { VECTORS = 16 }; /* softirq vectors */

/* A row of spans.csv; `kind` is NULL if there is none, middle_ns 0 if unknown. */
struct span_row {
	const char *kind, *name;
	int32_t tid;
	int64_t number;
	nsec_t begin_ns, middle_ns;
};

/* The open spans of a processor; NSEC_MIN if unknown. */
struct cpu_spans {
	nsec_t first_ns, run_ns;   /* its first event; since when its thread runs */
	nsec_t raised_ns[VECTORS]; /* or 0 */
	struct span_row interrupt;
	bool over; /* the node's tracing has ended; the last thread follows */
	int32_t last_tid;
	const char *last_name;
};

/* The open spans of a thread. */
struct thread_spans {
	struct span_row wait, call, disk;
};

struct truth {
	struct output requests, spans;
	struct request_state *flow;
	struct cpu_spans *cpu;       /* as world->cpu */
	struct thread_spans *thread; /* as world->thread */
	nsec_t *last_ns;             /* a node: of its last event */
};

static const char requests_header[] = "client,client_tid,server,server_tid,port,asked_ns,"
				      "arrived_ns,taken_ns,replied_ns,ended_ns\n";
static const char spans_header[] =
    "kind,node,cpu,tid,name,number,begin_ns,middle_ns,end_ns\n";

struct truth *truth_open(const struct world *world, const char *directory,
			 struct error *error)
{
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
	truth->cpu = mem_zalloc(world->cpus * sizeof(*truth->cpu));
	for (size_t i = 0; i < world->cpus; i++)
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

static struct request_state *state_of(const struct context *ctx,
				      const struct endpoint *end)
{
	struct truth *truth = ctx->world->truth;

	return truth && ctx->world->scenario->pattern == PATTERN_REQUEST
		   ? &truth->flow[end->flow->number]
		   : NULL;
}

void requests_sent(const struct context *ctx, const struct endpoint *end)
{
	struct request_state *state = state_of(ctx, end);

	if (!state)
		return;
	if (!end->replies && state->phase == ASKS_NOTHING) {
		state->phase = ASKED;
		state->asked_ns = ctx->ns;
	} else if (end->replies && state->phase == ARRIVED) {
		state->phase = REPLIED;
		state->replied_ns = ctx->ns;
	}
}

void requests_came(const struct context *ctx, const struct endpoint *end)
{
	struct request_state *state = state_of(ctx, end);

	if (state)
		state->came_ns[end->replies] = ctx->ns;
}

void requests_is_new(const struct context *ctx, const struct thread *thread)
{
	struct request_state *state = state_of(ctx, thread->end);
	bool side = thread->end->replies;

	if (state)
		state->new_ns[side] = state->came_ns[side];
}

static void write_request(const struct context *ctx, const struct endpoint *client,
			  const struct request_state *state)
{
	const struct endpoint *server = client->peer;

	fprintf(ctx->world->truth->requests.file,
		"%s,%" PRId32 ",%s,%" PRId32 ",%u,%" PRId64 ",%" PRId64 ",%" PRId64
		",%" PRId64 ",%" PRId64 "\n",
		client->host->name, client->writer->tid, server->host->name,
		server->writer->tid, (unsigned)server->near.port, state->asked_ns,
		state->arrived_ns, state->taken_ns, state->replied_ns, state->new_ns[0]);
}

void requests_read(const struct context *ctx, const struct thread *thread, bool whole)
{
	struct request_state *state = state_of(ctx, thread->end);

	if (!state)
		return;
	if (thread->role == ROLE_SERVER && state->phase == ASKED && whole) {
		state->phase = ARRIVED;
		state->arrived_ns = state->new_ns[1];
		state->taken_ns = ctx->ns;
	} else if (thread->role == ROLE_CLIENT) {
		if (whole && state->phase == REPLIED && !ctx->world->stopped)
			write_request(ctx, thread->end, state);
		state->phase = ASKS_NOTHING;
	}
}

static struct cpu_spans *cpu_of(const struct context *ctx)
{
	return &ctx->world->truth->cpu[ctx->cpu - ctx->world->cpu];
}

static struct thread_spans *spans_of(const struct context *ctx,
				     const struct thread *thread)
{
	return thread ? &ctx->world->truth->thread[thread - ctx->world->thread] : NULL;
}

/* Write a row that ends here, if it began and both were traced; it is over then. */
static void end_row(const struct context *ctx, struct span_row *row, nsec_t end_ns)
{
	FILE *file = ctx->world->truth->spans.file;

	if (row->kind && row->begin_ns != NSEC_MIN && end_ns != NSEC_MIN) {
		fprintf(file, "%s,%s,%" PRIu32 ",%" PRId32 ",%s,%" PRId64 ",%" PRId64 ",",
			row->kind, ctx->host->name, ctx->cpu->number, row->tid, row->name,
			row->number, row->begin_ns);
		if (row->middle_ns)
			fprintf(file, "%" PRId64, row->middle_ns);
		fprintf(file, ",%" PRId64 "\n", end_ns);
	}
	row->kind = NULL;
}

/* A row of a thread that begins; NULL: of the idle one. */
static struct span_row row_of(const struct thread *thread, const char *kind,
			      int64_t number, nsec_t at_ns)
{
	return (struct span_row){.kind = kind,
				 .tid = tid_of(thread),
				 .name = thread ? thread->name : "swapper",
				 .number = number,
				 .begin_ns = at_ns};
}

/* Add the span of the processor's thread, which ran until end_ns, before thread `next`.
 */
static void add_run(const struct context *ctx, nsec_t end_ns, int64_t next)
{
	const struct cpu_spans *cpu = cpu_of(ctx);
	struct span_row row =
	    row_of(ctx->cpu->current, "run", next,
		   cpu->run_ns == NSEC_MIN ? cpu->first_ns : cpu->run_ns);

	if (cpu->over) {
		row.tid = cpu->last_tid;
		row.name = cpu->last_name;
	}
	/* Its first event is the switch itself. */
	if (row.begin_ns == NSEC_MIN)
		row.begin_ns = end_ns;
	end_row(ctx, &row, end_ns);
}

static void add_switch(const struct context *ctx, bool preempted, nsec_t at_ns)
{
	const struct thread *last = ctx->cpu->current, *next = ctx->about;
	struct cpu_spans *cpu = cpu_of(ctx);
	struct span_row run = row_of(last, "preempted", -1, at_ns);

	if (at_ns != NSEC_MIN) {
		add_run(ctx, at_ns, tid_of(next));
		cpu->run_ns = at_ns;
	} else if (cpu->first_ns != NSEC_MIN && !cpu->over) {
		cpu->over = true;
		cpu->last_tid = run.tid;
		cpu->last_name = run.name;
	}
	if (last && preempted)
		spans_of(ctx, last)->wait = run;
	if (next)
		end_row(ctx, &spans_of(ctx, next)->wait, at_ns);
}

static void note_call(const struct context *ctx, enum event_kind kind, int64_t result,
		      nsec_t at_ns)
{
	const struct thread *thread = ctx->cpu->current;
	struct span_row *call = &spans_of(ctx, thread)->call;

	if ((kind - EVENT_CALLS) % 2) {
		call->number = result;
		end_row(ctx, call, at_ns);
	} else {
		*call = row_of(thread, "call", 0, at_ns);
		call->name = event_class(kind)->name + strlen("syscall_entry_");
	}
}

void spans_note(const struct context *ctx, enum event_kind kind,
		const union sim_value *value, nsec_t at_ns)
{
	struct truth *truth = ctx->world->truth;
	const struct thread *current = ctx->cpu->current, *about = ctx->about;
	struct thread_spans *thread = spans_of(ctx, about);
	struct cpu_spans *cpu = cpu_of(ctx);

	switch (kind) {
	case EVENT_SWITCH:
		add_switch(ctx, value[3].i == STATE_RUNNING, at_ns);
		break;
	case EVENT_WAKING:
	case EVENT_WAKEUP_NEW:
		thread->wait = row_of(about, "wait", tid_of(current), at_ns);
		break;
	case EVENT_SOFTIRQ_RAISE:
		cpu->raised_ns[value[0].u] = at_ns == NSEC_MIN ? 0 : at_ns;
		break;
	case EVENT_SOFTIRQ_ENTRY:
		cpu->interrupt = row_of(current, "softirq", value[0].i, at_ns);
		cpu->interrupt.name = "";
		cpu->interrupt.middle_ns = cpu->raised_ns[value[0].u];
		cpu->raised_ns[value[0].u] = 0;
		break;
	case EVENT_IRQ_ENTRY:
		cpu->interrupt = row_of(current, "irq", value[0].i, at_ns);
		cpu->interrupt.name = value[1].text;
		break;
	case EVENT_SOFTIRQ_EXIT:
	case EVENT_IRQ_EXIT:
		end_row(ctx, &cpu->interrupt, at_ns);
		break;
	case EVENT_BLOCK_INSERT:
		thread->disk = row_of(about, "disk", (int64_t)about->sector, at_ns);
		thread->disk.name = about->call == EVENT_FSYNC_EXIT ? "write" : "read";
		break;
	case EVENT_BLOCK_ISSUE:
		thread->disk.middle_ns = at_ns;
		break;
	case EVENT_BLOCK_COMPLETE:
		end_row(ctx, &thread->disk, at_ns);
		break;
	default:
		if (kind >= EVENT_CALLS && current)
			note_call(ctx, kind, value[0].i, at_ns);
	}
	if (at_ns == NSEC_MIN)
		return;
	if (cpu->first_ns == NSEC_MIN)
		cpu->first_ns = at_ns;
	if (at_ns > truth->last_ns[ctx->host->number])
		truth->last_ns[ctx->host->number] = at_ns;
}

/* Let the last threads on the processors run up to their node's last event. */
static void add_last_runs(struct world *world)
{
	for (size_t i = 0; i < world->cpus; i++) {
		struct host *host = world->cpu[i].host;
		struct context ctx = {
		    .world = world, .host = host, .cpu = &world->cpu[i]};

		if (cpu_of(&ctx)->first_ns != NSEC_MIN)
			add_run(&ctx, world->truth->last_ns[host->number], -1);
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
