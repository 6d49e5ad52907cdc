/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages between nodes, and the tables of everything else. */

#include "analyze/report/report.h"

enum { FEW_PAIRS = 20 };

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
			       ? report_table(report, ANSWER_OWN, "slow_pairs")
			       : pairs);
	html_table(report, report_table(report, ANSWER_MESSAGES, "slowest"));
	for (size_t i = 0; i < result->notes.count; i++)
		html_note(report->page, "%s", result->notes.item[i]);
	html_section_end(report->page);
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
	html_table(report, report_table(report, ANSWER_OWN, "processors"));
	fputs("</div>\n", report->page);
	html_table(report, report_table(report, ANSWER_OWN, "threads"));
	html_table(report, report_table(report, ANSWER_OWN, "interrupts"));
	for (size_t i = 0; i < sizeof(resources) / sizeof(*resources); i++)
		html_answer(report, resources[i]);
	html_section_end(report->page);
	html_section(report->page, "nodes", "Run and nodes");
	put_problems(report);
	html_answer(report, ANSWER_NODES);
	html_section_end(report->page);
}
