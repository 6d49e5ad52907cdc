/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between nodes, and the tables of everything else. */

#include "analyze/report/report.h"
#include "base/problem.h"

enum { FEW_PAIRS = 20, TOP = 60 };

/* ---- messages */

/*
 * What the script draws, as JSON in an attribute: the table. A few pairs are rows, more
 * are a matrix.
 */
static void put_pairs(const struct report *report, const struct result_table *pairs)
{
	const struct scope *scope = &report->question->scope;
	FILE *page = report->page;

	if (pairs->rows <= FEW_PAIRS)
		fputs(
		    "<figure id=\"latency\"><figcaption><b>Latency by pair of nodes</b> "
		    "<span class=\"key net\">least to 95&#8239;%</span> <span "
		    "class=\"key "
		    "net light\">to 99&#8239;%</span> <span class=\"key whisker\">to the "
		    "greatest</span> <span class=\"key median\">median</span> "
		    "<span>logarithmic; right: median, and the clocks&#8217; bound on "
		    "each latency</span></figcaption>",
		    page);
	else
		fputs(
		    "<figure id=\"latency\"><figcaption><b>Median latency from node "
		    "(row) "
		    "to node (column)</b> <span>the darker, the longer, on a logarithmic "
		    "scale; empty: no message</span></figcaption>",
		    page);
	fputs("<div id=\"matrix\" class=\"drawn\" data-pairs='{\"nodes\":[", page);
	for (size_t i = 0; i < scope->nodes; i++) {
		fputs(i ? "," : "", page);
		html_json(page, scope->node[i].name);
	}
	fprintf(page, "],\"few\":%d,\"columns\":[", pairs->rows <= FEW_PAIRS);
	for (size_t i = 0; i < pairs->columns; i++)
		fprintf(page, "%s\"%s\"", i ? "," : "", pairs->column[i].key);
	fputs("],\"rows\":[", page);
	html_rows(page, pairs);
	fputs("]}'></div></figure>\n", page);
}

void report_messages(struct report *report)
{
	const struct result_table *pairs = report_table(report, ANSWER_MESSAGES, "pairs");
	const struct result *result = &report->answer[ANSWER_MESSAGES].result;

	html_section(report->page, "messages", "Messages between nodes");
	if (pairs && pairs->rows)
		put_pairs(report, pairs);
	html_table(report, pairs && pairs->rows > FEW_PAIRS
			       ? result_find(&report->own, "slow_pairs")
			       : pairs);
	html_table(report, report_table(report, ANSWER_MESSAGES, "slowest"));
	for (size_t i = 0; i < result->notes.count; i++)
		html_note(report->page, "%s", result->notes.item[i]);
	html_section_end(report->page);
}

/* ---- processors, threads and interrupts: what the timeline was summed from */

static struct cell share(nsec_t part, nsec_t whole)
{
	return whole > 0 ? cell_of_real(100 * (double)part / (double)whole)
			 : cell_of_null();
}

static void add_processors(const struct report *report, struct result *result)
{
	static const struct result_column columns[] = {
	    {"node", "NODE", UNIT_TEXT},
	    {"cpu", "CPU", UNIT_ID},
	    {"recorded_ns", "RECORDED", UNIT_SPAN},
	    {"busy_ns", "BUSY", UNIT_SPAN},
	    {"busy_percent", "SHARE", UNIT_PERCENT},
	    {"irq_percent", "INTERRUPTS", UNIT_PERCENT},
	    {"softirq_percent", "SOFTIRQS", UNIT_PERCENT},
	    {NULL, NULL, 0}};
	const struct activity *activity = &report->activity;
	struct result_table *table =
	    result_table_new(result, "processors", "Processors", columns);

	for (size_t i = 0; i < activity->lanes; i++) {
		const struct activity_lane *lane = &activity->lane[i];
		const struct activity_cell *sum = &lane->sum;

		if (lane->cpu < 0 || !sum->known_ns)
			continue;
		result_add(table,
			   (struct cell[]){
			       cell_of_text(question_node(report->question, lane->node)),
			       cell_of_integer(lane->cpu), cell_of_integer(sum->known_ns),
			       cell_of_integer(sum->busy_ns),
			       share(sum->busy_ns, sum->known_ns),
			       share(sum->irq_ns, sum->known_ns),
			       share(sum->softirq_ns, sum->known_ns)});
	}
}

static void add_threads(const struct report *report, struct result *result)
{
	static const struct result_column columns[] = {
	    {"comm", "THREAD", UNIT_TEXT},
	    {"node", "NODE", UNIT_TEXT},
	    {"tid", "TID", UNIT_ID},
	    {"process", "PROCESS", UNIT_TEXT},
	    {"cpu_ns", "CPU TIME", UNIT_SPAN},
	    {"waits", "WAITS FOR A CPU", UNIT_COUNT},
	    {"wait_ns", "IN ALL", UNIT_SPAN},
	    {"most_wait_ns", "LONGEST", UNIT_SPAN},
	    {NULL, NULL, 0}};
	const struct activity *activity = &report->activity;
	struct result_table *table =
	    result_table_new(result, "threads", "Threads by processor time", columns);

	result_table_sort(table, "-cpu_ns,node,tid");
	for (size_t i = 0; i < activity->threads && i < TOP; i++) {
		const struct activity_thread *thread =
		    &activity->thread[activity->order[i]];
		const struct thread_facts *facts = question_thread(
		    report->question, thread->node, thread->tid, thread->first_ns);

		result_add(
		    table,
		    (struct cell[]){
			cell_of_text(thread->name),
			cell_of_text(question_node(report->question, thread->node)),
			cell_of_integer(thread->tid),
			cell_of_text(facts ? facts->process : ""),
			cell_of_integer(thread->busy_ns), cell_of_integer(thread->waits),
			cell_of_integer(thread->wait_ns),
			cell_of_integer(thread->most_wait_ns)});
	}
	table->added = activity->threads;
}

static void add_handlers(const struct report *report, struct result *result)
{
	static const struct result_column columns[] = {{"name", "HANDLER", UNIT_TEXT},
						       {"node", "NODE", UNIT_TEXT},
						       {"kind", "KIND", UNIT_TEXT},
						       {"number", "NUMBER", UNIT_ID},
						       {"count", "COUNT", UNIT_COUNT},
						       {"sum_ns", "SUM", UNIT_SPAN},
						       {"mean_ns", "MEAN", UNIT_SPAN},
						       {"max_ns", "MAX", UNIT_SPAN},
						       {NULL, NULL, 0}};
	struct result_table *table =
	    result_table_new(result, "interrupts", "Interrupts by handler", columns);

	result_table_sort(table, "-sum_ns,node,kind,number,name");
	for (size_t i = 0; i < report->activity.handlers; i++) {
		const struct activity_handler *handler = &report->activity.handler[i];

		if (handler->count)
			result_add(
			    table,
			    (struct cell[]){cell_of_text(handler->name),
					    cell_of_text(question_node(report->question,
								       handler->node)),
					    cell_of_text(handler->soft ? "soft" : "hard"),
					    cell_of_integer(handler->number),
					    cell_of_integer(handler->count),
					    cell_of_integer(handler->sum_ns),
					    cell_of_real((double)handler->sum_ns /
							 (double)handler->count),
					    cell_of_integer(handler->most_ns)});
	}
}

/* What only C knows: how many problems are failures, and nodes without a trace. */
static void add_facts(const struct report *report, struct result *result)
{
	static const struct result_column columns[] = {
	    {"bad", NULL, UNIT_COUNT}, {"silent", NULL, UNIT_COUNT}, {NULL, NULL, 0}};
	const struct scope *scope = &report->question->scope;
	const struct result_table *problems =
	    report_table(report, ANSWER_PROBLEMS, "problems");
	int64_t bad = 0, silent = 0;

	for (size_t i = 0; problems && i < problems->rows; i++) {
		struct cell kind = report_cell(problems, i, "kind");

		bad += kind.type == CELL_TEXT && problem_is_failure(kind.bytes);
	}
	for (size_t i = 0; i < scope->nodes; i++)
		silent += scope->node[i].chosen &&
			  !question_recorded(report->question, scope->node[i].id);
	result_add(result_table_new(result, "facts", "", columns),
		   (struct cell[]){cell_of_integer(bad), cell_of_integer(silent)});
}

/* The pairs with the longest medians, where there are too many to show all. */
static void add_slow_pairs(const struct report *report, struct result *result)
{
	const struct result_table *pairs = report_table(report, ANSWER_MESSAGES, "pairs");
	struct result_table *table;

	if (!pairs)
		return;
	table = result_table_new(result, "slow_pairs",
				 "The pairs with the longest medians", pairs->column);
	result_table_sort(table, "-p50_ns");
	result_table_limit(table, FEW_PAIRS);
	for (size_t i = 0; i < pairs->rows; i++)
		result_add(table, &pairs->cell[i * pairs->columns]);
}

int report_sum(struct report *report, struct error *error)
{
	struct result *own = &report->own;

	result_init(own, report->question->request);
	add_slow_pairs(report, own);
	add_processors(report, own);
	add_threads(report, own);
	add_handlers(report, own);
	add_facts(report, own);
	return result_finish(own, error);
}

/* ---- the input */

static void put_problems(const struct report *report)
{
	fputs("<div id=\"problems\">\n", report->page);
	html_table(report, report_table(report, ANSWER_OWN, "folded"));
	html_table(report, report_table(report, ANSWER_PROBLEMS, "lost"));
	fputs("</div>\n", report->page);
}

void report_tables(struct report *report)
{
	static const enum report_answer_name resources[] = {ANSWER_SYSCALLS, ANSWER_IO,
							    ANSWER_NET, ANSWER_MEMORY};
	html_section(report->page, "clocks", "Clocks");
	html_note(report->page,
		  "What happened at a node at a time of this page truly happened, by the "
		  "reference clock, within these bounds around it.");
	html_answer(report, ANSWER_CLOCKS);
	html_table(report, report_table(report, ANSWER_PROBLEMS, "clocks"));
	html_section_end(report->page);
	html_section(report->page, "resources", "Resources");
	fputs("<div id=\"processors\">", report->page);
	html_table(report, result_find(&report->own, "processors"));
	fputs("</div>\n", report->page);
	html_table(report, result_find(&report->own, "threads"));
	html_table(report, result_find(&report->own, "interrupts"));
	for (size_t i = 0; i < sizeof(resources) / sizeof(*resources); i++)
		html_answer(report, resources[i]);
	html_section_end(report->page);
	html_section(report->page, "nodes", "Run and nodes");
	put_problems(report);
	html_answer(report, ANSWER_NODES);
	html_section_end(report->page);
}
