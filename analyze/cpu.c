/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who used the processors: by node, processor, process, thread, priority and time. */
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "analyze/analysis.h"
#include "analyze/cpu_steps.h"
#include "analyze/tally.h"
#include "analyze/who.h"
#include "base/mem.h"

static const struct result_column node_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"cpus", "CPUS", UNIT_COUNT},
    {"busy_ns", "BUSY", UNIT_SPAN},
    {"idle_ns", "IDLE", UNIT_SPAN},
    {"busy_percent", "BUSY %", UNIT_PERCENT},
    {"switches", "SWITCHES", UNIT_COUNT},
    {"migrations", "MIGRATIONS", UNIT_COUNT},
    {"recorded_ns", "RECORDED", UNIT_SPAN},
    {NULL, NULL, 0},
};

static const struct result_column cpu_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"cpu", "CPU", UNIT_ID},
    {"busy_ns", "BUSY", UNIT_SPAN},
    {"idle_ns", "IDLE", UNIT_SPAN},
    {"busy_percent", "BUSY %", UNIT_PERCENT},
    {"switches", "SWITCHES", UNIT_COUNT},
    {NULL, NULL, 0},
};

static const struct result_column use_columns[] = {
    {"cpu_ns", "CPU TIME", UNIT_SPAN},
    {"cpu_percent", "OF ONE CPU", UNIT_PERCENT},
    {"runs", "RUNS", UNIT_COUNT},
    {"mean_ns", "MEAN RUN", UNIT_SPAN},
    {"max_ns", "LONGEST RUN", UNIT_SPAN},
    {"preempted", "PREEMPTED", UNIT_COUNT},
    {"migrations", "MIGRATIONS", UNIT_COUNT},
    {NULL, NULL, 0},
};

static const struct result_column priority_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"priority", "PRIO", UNIT_ID},
};

/* What a group's sums count. */
enum { PREEMPTED, MIGRATIONS };

/* What is known of a processor, or of a thread, from span to span. */
enum { CPU_BUSY, CPU_IDLE, CPU_SWITCHES };
enum { THREAD_CPU, THREAD_PRIORITY };

struct cpu_report {
	struct question *question;
	struct result *result;
	struct tally cpus;    /* node, cpu */
	struct tally threads; /* node, tid: where it ran last, and with which priority */
	struct tally nodes;   /* node: migrations */
	struct tally who;     /* as --group says */
	struct cpu_steps steps;
	bool any;
};

static void count_processor(struct cpu_report *report, const struct thread_span *span)
{
	struct tally_group *group =
	    tally_group(&report->cpus, (struct cell[]){cell_of_integer(span->node),
						       cell_of_integer(span->cpu)});

	group->sum[span->tid == 0 ? CPU_IDLE : CPU_BUSY] =
	    nsec_add(group->sum[span->tid == 0 ? CPU_IDLE : CPU_BUSY],
		     nsec_sub(span->end_ns, span->begin_ns));
	group->sum[CPU_SWITCHES] = nsec_add(group->sum[CPU_SWITCHES], !span->cut_end);
}

/* Whether it runs elsewhere than the last time. */
static bool has_migrated(struct cpu_report *report, const struct thread_span *span)
{
	struct tally_group *group =
	    tally_group(&report->threads, (struct cell[]){cell_of_integer(span->node),
							  cell_of_integer(span->tid)});
	bool moved = group->spans.count > 0 && group->sum[THREAD_CPU] != span->cpu;

	/* Its count is all that is wanted of the distribution. */
	if (!group->spans.count)
		distribution_add(&group->spans, 0);
	group->sum[THREAD_CPU] = span->cpu;
	return moved;
}

static void count_thread(struct cpu_report *report, const struct thread_span *span)
{
	bool moved = has_migrated(report, span);
	struct cell node = cell_of_integer(span->node), head[TALLY_HEAD];
	struct tally_group *group;

	tally_group(&report->nodes, &node)->sum[MIGRATIONS] += moved;
	if (!question_has_thread(report->question, span->node, span->tid, span->comm,
				 span->begin_ns))
		return;
	report->who.heads = who_span_head(report->question, span, head);
	group = tally_group(&report->who, head);
	distribution_add(&group->spans, nsec_sub(span->end_ns, span->begin_ns));
	group->sum[MIGRATIONS] = nsec_add(group->sum[MIGRATIONS], moved);
	group->sum[PREEMPTED] = nsec_add(group->sum[PREEMPTED], span->preempted);
}

static int take(void *context, const struct thread_span *span)
{
	struct cpu_report *report = context;

	if (span->state != ACTIVITY_RUNNING ||
	    !question_has_cpu(report->question, span->cpu))
		return 0;
	report->any = true;
	count_processor(report, span);
	if (span->tid != 0)
		count_thread(report, span);
	if (report->question->request->interval_ns)
		cpu_steps_add(&report->steps, span,
			      span->tid != 0 &&
				  question_has_thread(report->question, span->node,
						      span->tid, span->comm,
						      span->begin_ns));
	return 0;
}

static void show_share(void *context, double share)
{
	question_share(((struct cpu_report *)context)->question, share);
}

static struct cell percent(int64_t part, int64_t whole)
{
	return whole > 0 ? cell_of_real(100.0 * (double)part / (double)whole)
			 : cell_of_null();
}

static void print_processors(struct cpu_report *report, struct result *result)
{
	struct result_table *table =
	    result_table_new(result, "cpus", "Processors", cpu_columns);

	result_table_sort(table, "node,cpu");
	for (size_t i = 0; i < report->cpus.count; i++) {
		const struct tally_group *group = &report->cpus.group[i];
		int64_t busy = group->sum[CPU_BUSY], idle = group->sum[CPU_IDLE];

		result_add(table, (struct cell[]){
				      cell_of_text(question_node(report->question,
								 group->head[0].integer)),
				      group->head[1], cell_of_integer(busy),
				      cell_of_integer(idle), percent(busy, busy + idle),
				      cell_of_integer(group->sum[CPU_SWITCHES])});
	}
}

static void print_nodes(struct cpu_report *report, struct result *result)
{
	struct result_table *table =
	    result_table_new(result, "nodes", "Nodes", node_columns);

	for (size_t n = 0; n < report->question->scope.nodes; n++) {
		const struct scope *scope = &report->question->scope;
		const struct scope_node *node = &scope->node[n];
		struct cell id = cell_of_integer(node->id);
		int64_t sum[3] = {0}, cpus = 0;

		if (!node->chosen || !report->any)
			continue;
		for (size_t i = 0; i < report->cpus.count; i++) {
			const struct tally_group *group = &report->cpus.group[i];

			if (group->head[0].integer != node->id)
				continue;
			cpus++;
			for (size_t k = 0; k < 3; k++)
				sum[k] = nsec_add(sum[k], group->sum[k]);
		}
		if (!cpus) { /* what it did is not known */
			result_add(table, (struct cell[8]){cell_of_text(node->name)});
			continue;
		}
		result_add(table,
			   (struct cell[]){
			       cell_of_text(node->name), cell_of_integer(cpus),
			       cell_of_integer(sum[CPU_BUSY]),
			       cell_of_integer(sum[CPU_IDLE]),
			       percent(sum[CPU_BUSY], sum[CPU_BUSY] + sum[CPU_IDLE]),
			       cell_of_integer(sum[CPU_SWITCHES]),
			       cell_of_integer(
				   tally_group(&report->nodes, &id)->sum[MIGRATIONS]),
			       cell_of_integer(recorded_within(&scope->recorded, node->id,
							       scope->begin_ns,
							       scope->end_ns))});
	}
}

static struct result_table *table_of(const struct question *question,
				     struct result *result)
{
	struct result_column more[16];
	size_t count = 0;

	if (who_is(question, "thread"))
		more[count++] = priority_columns[1];
	if (who_is(question, "priority")) {
		more[count++] = priority_columns[0];
		more[count++] = priority_columns[1];
	}
	memcpy(more + count, use_columns, sizeof(use_columns));
	if (who_is(question, "process"))
		return who_table(question, result, "processes", "Processes", more);
	if (who_is(question, "name"))
		return who_table(question, result, "names", "By name, over all nodes",
				 more);
	if (who_is(question, "priority"))
		return who_table(question, result, "priorities", "Priorities", more);
	return who_table(question, result, "threads", "Threads", more);
}

/* How long the node was recorded; of a group over all nodes the one that was longest. */
static nsec_t recorded_of(const struct question *question, const struct cell *node)
{
	const struct scope *scope = &question->scope;
	nsec_t most = 0;

	for (size_t i = 0; i < scope->nodes; i++) {
		nsec_t recorded = question_recorded(question, scope->node[i].id);

		if (who_is(question, "name") ? scope->node[i].chosen
					     : !strcmp(scope->node[i].name, node->bytes))
			most = recorded > most ? recorded : most;
	}
	return most;
}

static void print_who(struct cpu_report *report, struct result *result)
{
	struct result_table *table = table_of(report->question, result);

	result_table_sort(table, "-cpu_ns,node,tid,pid,process,priority");
	result_table_limit(table, 20);
	for (size_t i = 0; i < report->who.count; i++) {
		struct tally_group *group = &report->who.group[i];
		struct cell cells[TALLY_HEAD + TALLY_CELLS], of[TALLY_CELLS];
		struct cell *at = cells + report->who.heads;

		memcpy(cells, group->head, report->who.heads * sizeof(*cells));
		tally_cells(&group->spans, of);
		at[0] = of[7];
		at[1] = percent(of[7].integer,
				recorded_of(report->question, &group->head[0]));
		at[2] = of[0];
		at[3] = of[2];
		at[4] = of[6];
		at[5] = cell_of_integer(group->sum[PREEMPTED]);
		at[6] = cell_of_integer(group->sum[MIGRATIONS]);
		result_add(table, cells);
	}
}

static void clear(struct cpu_report *report)
{
	cpu_steps_clear(&report->steps);
	tally_clear(&report->cpus);
	tally_clear(&report->threads);
	tally_clear(&report->nodes);
	tally_clear(&report->who);
	free(report);
}

static int begin_cpu(struct question *question, struct result *result,
		     struct activity_ops *ops, void **kept, struct error *error)
{
	struct cpu_report *report = mem_zalloc(sizeof(*report));

	*report = (struct cpu_report){.question = question,
				      .result = result,
				      .cpus = {.heads = 2},
				      .threads = {.heads = 2},
				      .nodes = {.heads = 1}};
	if (cpu_steps_init(&report->steps, question, error)) {
		clear(report);
		return -1;
	}
	*ops = (struct activity_ops){
	    .thread = take, .share = show_share, .without = ACTIVITY_ONLY_RUNNING};
	*kept = report;
	return 0;
}

/* Whether anything was, of the time asked for; or that is not known. */
static bool is_recorded(const struct question *question)
{
	const struct scope *scope = &question->scope;

	for (size_t i = 0; i < scope->nodes; i++)
		if (scope->node[i].chosen &&
		    question_recorded(question, scope->node[i].id))
			return true;
	return !scope->recorded.count;
}

static int end_cpu(void *kept, int status, struct error *error)
{
	struct cpu_report *report = kept;
	struct result *result = report->result;

	(void)error;
	if (!status) {
		print_nodes(report, result);
		print_processors(report, result);
		print_who(report, result);
		if (report->question->request->interval_ns)
			cpu_steps_print(&report->steps, result);
		if (!report->any && is_recorded(report->question))
			result_missing(result, "use of processors", "sched_switch");
	}
	clear(report);
	return status;
}

static const struct analysis_walk cpu_walk = {begin_cpu, end_cpu};

const struct analysis analysis_cpu = {
    .name = "cpu",
    .summary = "who used the processors: nodes, processes, threads, in time",
    .description =
	"Tables: nodes; cpus; threads (or processes, names, priorities: --group); with\n"
	"--interval also intervals, the use of each processor over time. A thread's "
	"time\n"
	"is from the switch that brings it in to the next; interrupts meanwhile count "
	"as\n"
	"its own (see irq). --tid, --pid and --procname choose threads for the table of\n"
	"threads and the intervals. Needs: sched_switch.",
    .heeds = HEEDS_CPU | HEEDS_THREAD | HEEDS_GROUP | HEEDS_INTERVAL,
    .groups = "thread process name priority",
    .run = walk_run,
    .walk = &cpu_walk,
};
