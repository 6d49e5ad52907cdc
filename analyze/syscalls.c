/* SPDX-License-Identifier: GPL-3.0-or-later */
/* System calls: how many, how long, with which errors. */
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "analyze/analysis.h"
#include "analyze/errno_name.h"
#include "analyze/tally.h"
#include "analyze/who.h"
#include "base/mem.h"

static const struct result_column call_columns[] = {
    {"syscall", "SYSCALL", UNIT_TEXT},
    TALLY_COLUMNS,
    {"errors", "ERRORS", UNIT_COUNT},
    {"unfinished", "UNFINISHED", UNIT_COUNT},
    {NULL, NULL, 0},
};

static const struct result_column error_columns[] = {
    {"syscall", "SYSCALL", UNIT_TEXT},
    {"error", "ERROR", UNIT_TEXT},
    {"errno", "ERRNO", UNIT_ID},
    {"count", "COUNT", UNIT_COUNT},
    {NULL, NULL, 0},
};

static const struct result_column log_columns[] = {
    {"begin_ns", "BEGIN", UNIT_INSTANT},
    {"duration_ns", "DURATION", UNIT_SPAN},
    WHO_THREAD_COLUMNS,
    {"cpu", "CPU", UNIT_ID},
    {"syscall", "SYSCALL", UNIT_TEXT},
    {"fd", "FD", UNIT_ID},
    {"path", "PATH", UNIT_TEXT},
    {"size_bytes", "SIZE", UNIT_BYTES},
    {"result", "RESULT", UNIT_ID},
    {"error", "ERROR", UNIT_TEXT},
    {NULL, NULL, 0},
};

enum { ERRORS, UNFINISHED };

struct syscall_report {
	struct question *question;
	struct result *result;
	struct tally calls;  /* as --group says, and the name of the call */
	struct tally errors; /* call, error */
	struct tally_lists lists;
	bool any;
};

static void add_call(struct syscall_report *report, struct result_table *table,
		     const struct syscall_span *span)
{
	struct question *question = report->question;
	struct who who = {span->node, span->tid, span->comm, span->begin_ns};
	bool failed = span->ret != INT64_MIN && errno_is(span->ret);

	result_add(table, (struct cell[]){
			      cell_of_integer(span->begin_ns),
			      cell_of_integer(nsec_sub(span->end_ns, span->begin_ns)),
			      cell_of_text(question_node(question, span->node)),
			      cell_of_integer(span->tid),
			      cell_of_known(who_pid(question, &who), -1),
			      cell_of_text(who_comm(question, &who)),
			      cell_of_known(span->cpu, -1),
			      cell_of_text(span->name),
			      cell_of_known(span->fd, -1),
			      cell_of_text(span->path),
			      cell_of_known(span->count, -1),
			      cell_of_known(span->ret, INT64_MIN),
			      cell_of_text(failed ? errno_name(span->ret) : NULL),
			  });
}

static void count_error(struct syscall_report *report, const struct syscall_span *span)
{
	const char *name = errno_name(span->ret);
	struct cell head[] = {cell_of_text(span->name), cell_of_text(name ? name : ""),
			      cell_of_integer(-span->ret)};

	tally_group(&report->errors, head)->sum[0]++;
}

/* A call that was cut has no latency, and may have an error. */
static void count(struct syscall_report *report, const struct syscall_span *span)
{
	struct who who = {span->node, span->tid, span->comm, span->begin_ns};
	bool whole = !span->cut_begin && !span->cut_end;
	bool failed = span->ret != INT64_MIN && errno_is(span->ret);
	struct cell head[TALLY_HEAD];
	size_t heads = who_head(report->question, &who, head);
	struct tally_group *group;

	head[heads++] = cell_of_text(span->name);
	report->calls.heads = heads;
	group = tally_group(&report->calls, head);
	if (whole)
		distribution_add(&group->spans, nsec_sub(span->end_ns, span->begin_ns));
	group->sum[UNFINISHED] = nsec_add(group->sum[UNFINISHED], !whole);
	group->sum[ERRORS] = nsec_add(group->sum[ERRORS], failed);
	if (failed)
		count_error(report, span);
}

static int take(void *context, const struct syscall_span *span)
{
	struct syscall_report *report = context;
	struct question *question = report->question;

	report->any = true;
	if (!question_has_cpu(question, span->cpu) ||
	    !question_has_span(question, nsec_sub(span->end_ns, span->begin_ns)) ||
	    !question_has_thread(question, span->node, span->tid, span->comm,
				 span->begin_ns))
		return 0;
	count(report, span);
	if (report->lists.top && !span->cut_begin && !span->cut_end)
		add_call(report, report->lists.top, span);
	if (report->lists.log)
		add_call(report, report->lists.log, span);
	return 0;
}

static void show_share(void *context, double share)
{
	question_share(((struct syscall_report *)context)->question, share);
}

static void print_calls(struct syscall_report *report, struct result *result)
{
	struct result_table *table =
	    who_table(report->question, result, "syscalls", "System calls", call_columns);

	result_table_sort(table, "-sum_ns,node,tid,pid,process,syscall");
	result_table_limit(table, 40);
	for (size_t i = 0; i < report->calls.count; i++) {
		struct tally_group *group = &report->calls.group[i];
		size_t heads = report->calls.heads;
		struct cell cells[TALLY_HEAD + TALLY_CELLS + 2];

		memcpy(cells, group->head, heads * sizeof(*cells));
		tally_cells(&group->spans, cells + heads);
		cells[heads + TALLY_CELLS] = cell_of_integer(group->sum[ERRORS]);
		cells[heads + TALLY_CELLS + 1] = cell_of_integer(group->sum[UNFINISHED]);
		result_add(table, cells);
	}
}

static void print_errors(struct syscall_report *report, struct result *result)
{
	struct result_table *table =
	    result_table_new(result, "errors", "Errors", error_columns);

	result_table_sort(table, "-count,syscall,errno");
	result_table_limit(table, 40);
	for (size_t i = 0; i < report->errors.count; i++) {
		const struct tally_group *group = &report->errors.group[i];

		result_add(table,
			   (struct cell[]){group->head[0], group->head[1], group->head[2],
					   cell_of_integer(group->sum[0])});
	}
}

static const struct tally_lists_form lists_form = {
    log_columns, "The longest calls", "-duration_ns,begin_ns", "Every call, by its end"};

static int begin_syscalls(struct question *question, struct result *result,
			  struct activity_ops *ops, void **kept, struct error *error)
{
	struct syscall_report *report = mem_zalloc(sizeof(*report));

	(void)error;
	*report = (struct syscall_report){
	    .question = question, .result = result, .errors = {.heads = 3}};
	tally_lists_begin(&report->lists, question->forms, result, &lists_form);
	*ops = (struct activity_ops){.syscall = take, .share = show_share};
	*kept = report;
	return 0;
}

static int end_syscalls(void *kept, int status, struct error *error)
{
	struct syscall_report *report = kept;
	struct result *result = report->result;

	(void)error;
	if (!status) {
		if (report->question->forms & FORM_STATS) {
			print_calls(report, result);
			print_errors(report, result);
		}
		if (report->question->forms & FORM_FREQ)
			tally_print_bins(&report->calls, result, "system calls");
		tally_lists_last(&report->lists, result);
		if (!report->any)
			result_missing(result, "system calls",
				       "syscall_entry_*, syscall_exit_*");
	}
	tally_clear(&report->calls);
	tally_clear(&report->errors);
	free(report);
	return status;
}

static const struct analysis_walk syscalls_walk = {begin_syscalls, end_syscalls};

const struct analysis analysis_syscalls = {
    .name = "syscalls",
    .summary = "system calls: how many, how long, with which errors",
    .description =
	"Tables: syscalls; errors, by errno; top and log, each call; freq. A call lasts\n"
	"from its entry to its exit. UNFINISHED are those of which one of the two was\n"
	"not seen: begun before the time asked for, going on after it, without an exit "
	"as\n"
	"exit_group, or lost; they have no duration. Needs: syscall_entry_*,\n"
	"syscall_exit_*.",
    .heeds = HEEDS_CPU | HEEDS_THREAD | HEEDS_SPAN | HEEDS_GROUP,
    .forms = FORM_STATS | FORM_TOP | FORM_FREQ | FORM_LOG,
    .default_forms = FORM_STATS,
    .groups = "syscall thread process name node",
    .run = walk_run,
    .walk = &syscalls_walk,
};
