/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long threads waited for a processor after they were woken, by whom, and who had it
 * meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "analyze/analysis.h"
#include "analyze/tally.h"
#include "analyze/wait_name.h"
#include "analyze/who.h"
#include "base/mem.h"

static const struct result_column latency_columns[] = {TALLY_COLUMNS, {NULL, NULL, 0}};

static const struct result_column waker_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"waker", "WAKER", UNIT_TEXT},
    {"source", "FROM", UNIT_TEXT},
    TALLY_COLUMNS,
    {NULL, NULL, 0},
};

static const struct result_column holder_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"holder", "HOLDER", UNIT_TEXT},
    TALLY_COLUMNS,
    {NULL, NULL, 0},
};

static const struct result_column wait_columns[] = {
    {"begin_ns", "WOKEN", UNIT_INSTANT},
    {"latency_ns", "LATENCY", UNIT_SPAN},
    WHO_THREAD_COLUMNS,
    {"priority", "PRIO", UNIT_ID},
    {"cpu", "CPU", UNIT_ID},
    {"source", "FROM", UNIT_TEXT},
    {"waker_tid", "WAKER TID", UNIT_ID},
    {"waker", "WAKER", UNIT_TEXT},
    {"holder_tid", "HOLDER TID", UNIT_ID},
    {"holder", "HOLDER", UNIT_TEXT},
    {NULL, NULL, 0},
};

struct sched_report {
	struct question *question;
	struct result *result;
	struct tally woken, preempted; /* as --group says */
	struct tally wakers, holders;
	struct tally_lists lists;
	bool any, any_switch;
};

/* Name of a thread that is not the span's own; idle has none that is of use. */
static const char *name_of(struct sched_report *report, const struct thread_span *span,
			   int64_t tid)
{
	struct who who = {span->node, tid, "", span->begin_ns};

	return tid < 0 ? NULL : tid == 0 ? "(idle)" : who_comm(report->question, &who);
}

static void add_wait(struct sched_report *report, struct result_table *table,
		     const struct thread_span *span)
{
	struct question *question = report->question;
	struct who who = {span->node, span->tid, span->comm, span->begin_ns};

	result_add(table, (struct cell[]){
			      cell_of_integer(span->begin_ns),
			      cell_of_integer(nsec_sub(span->end_ns, span->begin_ns)),
			      cell_of_text(question_node(question, span->node)),
			      cell_of_integer(span->tid),
			      cell_of_known(who_pid(question, &who), -1),
			      cell_of_text(who_comm(question, &who)),
			      cell_of_known(span->priority, INT64_MIN),
			      cell_of_known(span->cpu, -1),
			      cell_of_text(wait_name(span->wait)),
			      cell_of_known(span->waker_tid, -1),
			      cell_of_text(name_of(report, span, span->waker_tid)),
			      cell_of_known(span->prev_tid, -1),
			      cell_of_text(name_of(report, span, span->prev_tid)),
			  });
}

/* Who wakes from an interrupt does so by chance: only its kind tells something. */
static void count_waker(struct sched_report *report, const struct thread_span *span,
			nsec_t latency)
{
	bool by_thread = span->wait == WAIT_THREAD || span->wait == WAIT_UNKNOWN;
	struct cell head[] = {
	    cell_of_text(question_node(report->question, span->node)),
	    cell_of_text(by_thread ? name_of(report, span, span->waker_tid) : NULL),
	    cell_of_text(wait_name(span->wait)),
	};

	distribution_add(&tally_group(&report->wakers, head)->spans, latency);
}

static void count_holder(struct sched_report *report, const struct thread_span *span,
			 nsec_t latency)
{
	struct cell head[] = {
	    cell_of_text(question_node(report->question, span->node)),
	    cell_of_text(name_of(report, span, span->prev_tid)),
	};

	if (span->prev_tid > 0)
		distribution_add(&tally_group(&report->holders, head)->spans, latency);
}

static int take(void *context, const struct thread_span *span)
{
	struct sched_report *report = context;
	struct question *question = report->question;
	nsec_t latency = nsec_sub(span->end_ns, span->begin_ns);
	struct cell head[TALLY_HEAD];
	struct tally *tally = span->preempted ? &report->preempted : &report->woken;

	report->any_switch = true;
	if (span->state != ACTIVITY_RUNNABLE || span->cut_begin || span->cut_end)
		return 0;
	report->any |= !span->preempted;
	if (!question_has_cpu(question, span->cpu) ||
	    !question_has_span(question, latency) ||
	    !question_has_thread(question, span->node, span->tid, span->comm,
				 span->begin_ns))
		return 0;
	tally->heads = who_span_head(report->question, span, head);
	distribution_add(&tally_group(tally, head)->spans, latency);
	count_holder(report, span, latency);
	if (span->preempted)
		return 0;
	count_waker(report, span, latency);
	if (report->lists.top)
		add_wait(report, report->lists.top, span);
	if (report->lists.log)
		add_wait(report, report->lists.log, span);
	return 0;
}

static void show_share(void *context, double share)
{
	question_share(((struct sched_report *)context)->question, share);
}

static void print_latencies(struct sched_report *report, struct result *result,
			    struct tally *tally, const char *key, const char *title)
{
	struct result_column columns[16];
	size_t count = 0;
	struct result_table *table;

	if (who_is(report->question, "priority") || who_is(report->question, "cpu"))
		columns[count++] = (struct result_column){"node", "NODE", UNIT_TEXT};
	if (who_is(report->question, "priority") || who_is(report->question, "thread"))
		columns[count++] = (struct result_column){"priority", "PRIO", UNIT_ID};
	if (who_is(report->question, "cpu"))
		columns[count++] = (struct result_column){"cpu", "CPU", UNIT_ID};
	memcpy(columns + count, latency_columns, sizeof(latency_columns));
	table = who_table(report->question, result, key, title, columns);
	result_table_sort(table, "-max_ns,node,tid,pid,process,priority,cpu");
	result_table_limit(table, 20);
	tally_print(tally, table);
}

static void print_stats(struct sched_report *report, struct result *result)
{
	struct result_table *table;

	print_latencies(report, result, &report->woken, "latencies",
			"From wakeup to running");
	print_latencies(report, result, &report->preempted, "preempted",
			"From losing the processor to running again");
	table = result_table_new(result, "wakers", "By what woke", waker_columns);
	result_table_sort(table, "-sum_ns,node,waker,source");
	result_table_limit(table, 20);
	tally_print(&report->wakers, table);
	table = result_table_new(result, "holders", "By who had the processor until then",
				 holder_columns);
	result_table_sort(table, "-sum_ns,node,holder");
	result_table_limit(table, 20);
	tally_print(&report->holders, table);
}

static const struct tally_lists_form lists_form = {
    wait_columns, "The longest waits", "-latency_ns,begin_ns", "Every wait, by its end"};

static int begin_sched(struct question *question, struct result *result,
		       struct activity_ops *ops, void **kept, struct error *error)
{
	struct sched_report *report = mem_zalloc(sizeof(*report));

	(void)error;
	*report = (struct sched_report){.question = question,
					.result = result,
					.wakers = {.heads = 3},
					.holders = {.heads = 2}};
	tally_lists_begin(&report->lists, question->forms, result, &lists_form);
	*ops = (struct activity_ops){
	    .thread = take, .share = show_share, .without = ACTIVITY_NO_SYSCALLS};
	*kept = report;
	return 0;
}

static void print(struct sched_report *report, struct result *result)
{
	if (report->question->forms & FORM_STATS)
		print_stats(report, result);
	if (report->question->forms & FORM_FREQ)
		tally_print_bins(&report->woken, result, "from wakeup to running");
	tally_lists_last(&report->lists, result);
	if (!report->any_switch)
		result_missing(result, "scheduling", "sched_switch");
	else if (!report->any)
		result_missing(result, "latency from wakeup to running",
			       "sched_waking or sched_wakeup");
}

static int end_sched(void *kept, int status, struct error *error)
{
	struct sched_report *report = kept;

	(void)error;
	if (!status)
		print(report, report->result);
	tally_clear(&report->woken);
	tally_clear(&report->preempted);
	tally_clear(&report->wakers);
	tally_clear(&report->holders);
	free(report);
	return status;
}

static const struct analysis_walk sched_walk = {begin_sched, end_sched};

const struct analysis analysis_sched = {
    .name = "sched",
    .summary = "how long threads waited for processors, who woke them",
    .description =
	"Tables: latencies, from a thread's wakeup (sched_waking, else sched_wakeup) to\n"
	"the switch that brings it in; preempted, from losing the processor to having\n"
	"it again; wakers; holders, the threads that left the processor at last; top\n"
	"and log, each wait; freq. --min and --max are of the wait. What began before\n"
	"the time asked for, or went on after it, does not count. Needs: sched_switch,\n"
	"sched_waking or sched_wakeup; to tell what woke also irq_handler_entry and\n"
	"_exit, irq_softirq_entry and _exit, timer_hrtimer_expire_entry and _exit.",
    .heeds = HEEDS_CPU | HEEDS_THREAD | HEEDS_SPAN | HEEDS_GROUP,
    .forms = FORM_STATS | FORM_TOP | FORM_FREQ | FORM_LOG,
    .default_forms = FORM_STATS | FORM_TOP,
    .groups = "thread process name priority cpu node",
    .run = walk_run,
    .walk = &sched_walk,
};
