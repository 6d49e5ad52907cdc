/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/network/clocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "sync/observe/steps.h"

void clocks_tie_step(const struct tie *tie, size_t part, nsec_t within[2])
{
	const struct tie_part *before = &tie->part[part - 1], *after = &tie->part[part];

	within[0] = nsec_add(before->to_ns, before->low_ns);
	within[1] = nsec_add(after->from_ns, after->high_ns);
}

static void report_steps(const struct trace *trace, const struct tie *tie,
			 struct problem_list *problems)
{
	for (size_t i = 1; i < tie->parts; i++) {
		nsec_t within[2];

		clocks_tie_step(tie, i, within);
		report_step(trace, tie_part_begin(tie, i),
			    tie_middle(&tie->part[i]) - tie_middle(&tie->part[i - 1]),
			    within, problems);
	}
}

/* The new numbers of the clocks as they were read. */
struct renumbering {
	const struct tie **tie; /* by clock as read; NULL if it is not tied */
	uint32_t *number;       /* new number of the clock, or of its base */
	const struct message_log *log;
	struct pair_numbers numbers;
};

static void number_clocks(const struct observations *seen,
			  struct renumbering *renumbering, struct clock_set *clocks)
{
	renumbering->tie = mem_zalloc(seen->clocks * sizeof(*renumbering->tie));
	renumbering->number = mem_zalloc(seen->clocks * sizeof(*renumbering->number));
	clocks->clock = mem_zalloc(seen->clocks * sizeof(*clocks->clock));
	for (size_t i = 0; i < clocks->ties.count; i++)
		renumbering->tie[clocks->ties.item[i].tied] = &clocks->ties.item[i];
	for (uint32_t i = 0; i < seen->clocks; i++) {
		if (renumbering->tie[i])
			continue;
		renumbering->number[i] = (uint32_t)clocks->count;
		clocks->clock[clocks->count++] = (struct run_clock){
		    .name = seen->trace[seen->first_trace[i]].name,
		    .trace = &seen->trace[seen->first_trace[i]],
		    .oscillator = -1,
		};
	}
	for (uint32_t i = 0; i < seen->clocks; i++)
		if (renumbering->tie[i])
			renumbering->number[i] =
			    renumbering->number[renumbering->tie[i]->base];
}

static void set_traces(const struct observations *seen,
		       const struct renumbering *renumbering, struct clock_set *clocks,
		       struct problem_list *problems)
{
	clocks->traces = seen->traces;
	clocks->of_trace = mem_alloc(seen->traces * sizeof(*clocks->of_trace));
	for (size_t i = 0; i < seen->traces; i++) {
		const struct trace *trace = &seen->trace[i];
		const struct tie *tie = renumbering->tie[trace->clock_index];

		clocks->of_trace[i] = (struct trace_clock){
		    renumbering->number[trace->clock_index], tie, trace,
		    trace->is_apart || (seen->first_trace[trace->clock_index] == i &&
					clocks->ties.is_apart[trace->clock_index])};
		if (tie)
			report_steps(trace, tie, problems);
	}
}

static int renumber_message(void *context, struct message *message)
{
	struct renumbering *renumbering = context;
	uint32_t from = message_from(renumbering->log, message);
	uint32_t to = message_to(renumbering->log, message);

	if (renumbering->tie[from])
		message->send_ns = tie_earliest(renumbering->tie[from], message->send_ns);
	if (renumbering->tie[to])
		message->recv_ns = tie_latest(renumbering->tie[to], message->recv_ns);
	from = renumbering->number[from];
	to = renumbering->number[to];
	message->forward = from < to;
	message->pair = pair_number(&renumbering->numbers, from, to);
	return 0;
}

static int renumber_messages(struct renumbering *renumbering, struct message_log *log,
			     struct error *error)
{
	int status;

	renumbering->log = log;
	status = message_log_change(log, renumber_message, renumbering, error);
	pair_numbers_clear(&log->numbers);
	log->numbers = renumbering->numbers;
	return status;
}

static void span_traces(const struct observations *seen, struct clock_set *clocks,
			bool tied, bool *is_spanned)
{
	for (size_t i = 0; i < seen->traces; i++) {
		const struct trace *trace = &seen->trace[i];
		const struct trace_clock *of = &clocks->of_trace[i];
		struct run_clock *clock = &clocks->clock[of->clock_index];
		nsec_t begin = trace->facts.begin_ns + trace->shift_ns;
		nsec_t end = trace->facts.end_ns + trace->shift_ns;

		if (!trace->facts.events || (of->tie != NULL) != tied)
			continue;
		if (tied) {
			begin = tie_earliest(of->tie, begin);
			end = tie_latest(of->tie, end);
		}
		if (!is_spanned[of->clock_index] || begin < clock->begin_ns)
			clock->begin_ns = begin;
		if (!is_spanned[of->clock_index] || end > clock->end_ns)
			clock->end_ns = end;
		is_spanned[of->clock_index] = true;
	}
}

/* A clock runs from the first to the last event of all traces that share it. */
static void span_clocks(const struct observations *seen, struct clock_set *clocks)
{
	AUTOFREE bool *is_spanned = mem_zalloc(clocks->count * sizeof(*is_spanned));

	span_traces(seen, clocks, false, is_spanned);
	for (size_t i = 0; i < clocks->count; i++) {
		clocks->clock[i].own_begin_ns = clocks->clock[i].begin_ns;
		clocks->clock[i].own_end_ns = clocks->clock[i].end_ns;
	}
	span_traces(seen, clocks, true, is_spanned);
}

/* One oscillator drives the clock of a capture and that of its host's trace. */
static void find_oscillators(const struct observations *seen, struct clock_set *clocks)
{
	for (size_t i = 0; i < clocks->count; i++) {
		struct run_clock *clock = &clocks->clock[i];
		const struct trace *trace = clock->trace;
		const struct trace *base =
		    observations_monotonic(seen, trace->host_index);
		uint32_t index;

		if (trace->kind != SOURCE_CAPTURE || !base ||
		    clocks->of_trace[trace - seen->trace].is_apart)
			continue;
		index = clocks->of_trace[base - seen->trace].clock_index;
		if (index != i)
			clock->oscillator = (int)index;
	}
}

int clocks_find(struct observations *seen, struct clock_set *clocks,
		struct message_log *log, struct problem_list *problems,
		struct error *error)
{
	struct renumbering renumbering = {.tie = NULL};
	int status = 0;

	*clocks = (struct clock_set){.seen = seen};
	ties_find(seen, &clocks->ties, problems);
	*log = seen->log;
	seen->log = (struct message_log){.count = 0};
	number_clocks(seen, &renumbering, clocks);
	set_traces(seen, &renumbering, clocks, problems);
	if (clocks->ties.count)
		status = renumber_messages(&renumbering, log, error);
	span_clocks(seen, clocks);
	find_oscillators(seen, clocks);
	free(renumbering.tie);
	free(renumbering.number);
	return status;
}

static int no_such_trace(const struct clock_set *clocks, const char *name,
			 struct error *error)
{
	AUTOFREE const char **names = mem_zalloc((clocks->traces + 1) * sizeof(*names));

	for (size_t i = 0; i < clocks->traces; i++)
		names[i] = clocks->of_trace[i].trace->name;
	return error_unknown_word(error, "unknown trace", name, names, clocks->traces,
				  NULL);
}

int clocks_reference(const struct clock_set *clocks, const char *name, int *reference,
		     struct problem_list *problems, struct error *error)
{
	*reference = -1;
	if (!name)
		return 0;
	for (size_t i = 0; i < clocks->traces; i++) {
		const struct trace_clock *of = &clocks->of_trace[i];

		if (strcmp(of->trace->name, name) != 0)
			continue;
		*reference = (int)of->clock_index;
		if (of->tie)
			problem_add(problems, name, PROBLEM_CLOCK, 1,
				    "it is tied to %s, whose clock is the reference",
				    clocks->clock[of->clock_index].name);
	}
	return *reference < 0 ? no_such_trace(clocks, name, error) : 0;
}

void clocks_clear(struct clock_set *clocks)
{
	free(clocks->clock);
	free(clocks->of_trace);
	ties_clear(&clocks->ties);
	memset(clocks, 0, sizeof(*clocks));
}
