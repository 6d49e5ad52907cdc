/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interrupts: hard and soft ones, how long, how long after they were raised, and what
 * they took of each processor. */
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "analyze/analysis.h"
#include "analyze/tally.h"
#include "base/mem.h"

static const char *const kinds[] = {"hard", "soft"};

static const struct result_column irq_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"kind", "KIND", UNIT_TEXT},
    {"number", "NUMBER", UNIT_ID},
    {"name", "NAME", UNIT_TEXT},
    TALLY_COLUMNS,
    {NULL, NULL, 0},
};

static const struct result_column raise_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"number", "NUMBER", UNIT_ID},
    {"name", "NAME", UNIT_TEXT},
    TALLY_COLUMNS,
    {NULL, NULL, 0},
};

static const struct result_column cpu_columns[] = {
    {"node", "NODE", UNIT_TEXT},
    {"cpu", "CPU", UNIT_ID},
    {"hard_ns", "HARD", UNIT_SPAN},
    {"soft_ns", "SOFT", UNIT_SPAN},
    {"percent", "OF THE TIME", UNIT_PERCENT},
    {"hard", "HARD COUNT", UNIT_COUNT},
    {"soft", "SOFT COUNT", UNIT_COUNT},
    {NULL, NULL, 0},
};

static const struct result_column log_columns[] = {
    {"begin_ns", "BEGIN", UNIT_INSTANT},
    {"duration_ns", "DURATION", UNIT_SPAN},
    {"node", "NODE", UNIT_TEXT},
    {"cpu", "CPU", UNIT_ID},
    {"kind", "KIND", UNIT_TEXT},
    {"number", "NUMBER", UNIT_ID},
    {"name", "NAME", UNIT_TEXT},
    {"raised_ns", "RAISED BEFORE", UNIT_SPAN},
    {"inner_ns", "INTERRUPTED FOR", UNIT_SPAN},
    {"tid", "TID", UNIT_ID},
    {NULL, NULL, 0},
};

enum { HARD_NS, SOFT_NS, HARD, SOFT };

struct irq_report {
	struct question *question;
	struct result *result;
	struct activity_recorded recorded;
	struct tally interrupts, raises, cpus;
	struct tally_lists lists;
	bool any;
};

static void add_interrupt(struct irq_report *report, struct result_table *table,
			  const struct interrupt_span *span)
{
	result_add(table,
		   (struct cell[]){
		       cell_of_integer(span->begin_ns),
		       cell_of_integer(nsec_sub(span->end_ns, span->begin_ns)),
		       cell_of_text(question_node(report->question, span->node)),
		       cell_of_integer(span->cpu),
		       cell_of_text(kinds[span->kind]),
		       cell_of_integer(span->number),
		       cell_of_text(span->name),
		       span->raised_ns == NSEC_MIN
			   ? cell_of_null()
			   : cell_of_integer(nsec_sub(span->begin_ns, span->raised_ns)),
		       cell_of_integer(span->inner_ns),
		       cell_of_known(span->tid, -1),
		   });
}

/* What interrupted it meanwhile counts for itself, once. */
static void count_processor(struct irq_report *report, const struct interrupt_span *span)
{
	struct tally_group *group =
	    tally_group(&report->cpus, (struct cell[]){cell_of_integer(span->node),
						       cell_of_integer(span->cpu)});

	group->sum[span->kind == INTERRUPT_HARD ? HARD_NS : SOFT_NS] =
	    nsec_add(group->sum[span->kind == INTERRUPT_HARD ? HARD_NS : SOFT_NS],
		     nsec_sub(span->end_ns, span->begin_ns) - span->inner_ns);
	group->sum[span->kind == INTERRUPT_HARD ? HARD : SOFT]++;
}

static void count(struct irq_report *report, const struct interrupt_span *span)
{
	struct cell node = cell_of_text(question_node(report->question, span->node));
	struct cell number = cell_of_integer(span->number);
	struct cell name = cell_of_text(span->name);

	distribution_add(
	    &tally_group(
		 &report->interrupts,
		 (struct cell[]){node, cell_of_text(kinds[span->kind]), number, name})
		 ->spans,
	    nsec_sub(span->end_ns, span->begin_ns));
	if (span->raised_ns != NSEC_MIN)
		distribution_add(
		    &tally_group(&report->raises, (struct cell[]){node, number, name})
			 ->spans,
		    nsec_sub(span->begin_ns, span->raised_ns));
}

static int take(void *context, const struct interrupt_span *span)
{
	struct irq_report *report = context;
	struct question *question = report->question;

	report->any = true;
	if (!question_has_cpu(question, span->cpu) ||
	    !question_has_irq(question, span->kind == INTERRUPT_SOFT, span->number))
		return 0;
	count_processor(report, span);
	if (span->cut_begin || span->cut_end ||
	    !question_has_span(question, nsec_sub(span->end_ns, span->begin_ns)))
		return 0;
	count(report, span);
	if (report->lists.top)
		add_interrupt(report, report->lists.top, span);
	if (report->lists.log)
		add_interrupt(report, report->lists.log, span);
	return 0;
}

static void show_share(void *context, double share)
{
	question_share(((struct irq_report *)context)->question, share);
}

static void print_processors(struct irq_report *report, struct result *result)
{
	struct result_table *table =
	    result_table_new(result, "cpus", "Processors", cpu_columns);

	result_table_sort(table, "node,cpu");
	for (size_t i = 0; i < report->cpus.count; i++) {
		const struct tally_group *group = &report->cpus.group[i];
		double sum = (double)(group->sum[HARD_NS] + group->sum[SOFT_NS]);
		nsec_t span = question_recorded(report->question, group->head[0].integer);

		result_add(
		    table,
		    (struct cell[]){cell_of_text(question_node(report->question,
							       group->head[0].integer)),
				    group->head[1], cell_of_integer(group->sum[HARD_NS]),
				    cell_of_integer(group->sum[SOFT_NS]),
				    span > 0 ? cell_of_real(100 * sum / (double)span)
					     : cell_of_null(),
				    cell_of_integer(group->sum[HARD]),
				    cell_of_integer(group->sum[SOFT])});
	}
}

static void print_stats(struct irq_report *report, struct result *result)
{
	struct result_table *table =
	    result_table_new(result, "interrupts", "Interrupts", irq_columns);

	result_table_sort(table, "-sum_ns,node,kind,number,name");
	result_table_limit(table, 40);
	tally_print(&report->interrupts, table);
	table = result_table_new(result, "raises", "From raising a softirq to its begin",
				 raise_columns);
	result_table_sort(table, "-sum_ns,node,number");
	result_table_limit(table, 40);
	tally_print(&report->raises, table);
	print_processors(report, result);
}

static const struct tally_lists_form lists_form = {log_columns, "The longest interrupts",
						   "-duration_ns,begin_ns",
						   "Every interrupt, by its end"};

static void tell_missing(struct irq_report *report, struct result *result,
			 const struct activity_recorded *recorded)
{
	if (!recorded->interrupts)
		result_missing(result, "hard interrupts",
			       "irq_handler_entry, irq_handler_exit");
	if (!recorded->softirqs)
		result_missing(result, "softirqs", "irq_softirq_entry, irq_softirq_exit");
	if (recorded->softirqs && !recorded->raises &&
	    report->question->forms & FORM_STATS)
		result_missing(result, "when softirqs were raised", "irq_softirq_raise");
}

static int begin_irq(struct question *question, struct result *result,
		     struct activity_ops *ops, void **kept, struct error *error)
{
	struct irq_report *report;
	struct activity_recorded recorded;

	if (activity_recorded(&recorded, question->reader, error))
		return -1;
	report = mem_zalloc(sizeof(*report));
	*report = (struct irq_report){.question = question,
				      .result = result,
				      .recorded = recorded,
				      .interrupts = {.heads = 4},
				      .raises = {.heads = 3},
				      .cpus = {.heads = 2}};
	tally_lists_begin(&report->lists, question->forms, result, &lists_form);
	*ops = (struct activity_ops){.interrupt = take, .share = show_share};
	*kept = report;
	return 0;
}

static int end_irq(void *kept, int status, struct error *error)
{
	struct irq_report *report = kept;
	struct result *result = report->result;

	(void)error;
	if (!status) {
		if (report->question->forms & FORM_STATS)
			print_stats(report, result);
		if (report->question->forms & FORM_FREQ)
			tally_print_bins(&report->interrupts, result, "interrupts");
		tally_lists_last(&report->lists, result);
		tell_missing(report, result, &report->recorded);
	}
	tally_clear(&report->interrupts);
	tally_clear(&report->raises);
	tally_clear(&report->cpus);
	free(report);
	return status;
}

static const struct analysis_walk irq_walk = {begin_irq, end_irq};

const struct analysis analysis_irq = {
    .name = "irq",
    .summary = "interrupts, hard and soft: how long, how late, whose CPU time",
    .description =
	"Tables: interrupts, by handler and softirq, from entry to exit; raises, from\n"
	"raising a softirq to its begin; cpus, where the time of an interrupt inside of\n"
	"another counts once; top and log, each interrupt; freq. --min and --max are of\n"
	"the time from entry to exit. With --irq there are no softirqs, unless "
	"--softirq\n"
	"asks for some, and the other way round. Needs: irq_handler_entry and _exit,\n"
	"irq_softirq_entry and _exit, for raises irq_softirq_raise.",
    .heeds = HEEDS_CPU | HEEDS_SPAN | HEEDS_IRQ,
    .forms = FORM_STATS | FORM_TOP | FORM_FREQ | FORM_LOG,
    .default_forms = FORM_STATS,
    .run = walk_run,
    .walk = &irq_walk,
};
