/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the page opens with: computed, each with a link to its place. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/html.h"
#include "base/mem.h"
#include "base/problem.h"

enum grade { GOOD, NOTE, BAD };

/* Begin a finding: what follows up to finding_end is its text. */
static void finding(const struct report *report, const char *id, enum grade grade,
		    const char *title)
{
	static const char *const names[] = {"good", "info", "bad"};
	static const char *const words[] = {"", "", "Problem: "};

	fprintf(report->page,
		"<li class=\"%s\" id=\"finding-%s\"><h3><span "
		"class=\"sr\">%s</span>%s</h3><p>",
		names[grade], id, words[grade], title);
}

static void finding_end(const struct report *report)
{
	fputs("</p></li>\n", report->page);
}

static void put_text(const struct report *report, struct cell cell)
{
	if (cell.type == CELL_TEXT)
		html_text(report->page, cell.bytes);
	else if (cell.type == CELL_INTEGER)
		fprintf(report->page, "%" PRId64, cell.integer);
	else
		fputs("unknown", report->page);
}

static void put_span(const struct report *report, double ns)
{
	char text[PRINT_TEXT];

	fprintf(report->page, "<b data-v=\"%.0f\">%s</b>", ns, html_span(text, ns));
}

/* The two parts of a request's time that took most of it. */
static void put_parts(const struct report *report, const struct result_table *slowest)
{
	static const struct {
		const char *key, *text;
	} parts[] = {{"there_ns", "on the way there"},
		     {"queue_ns", "between arrival and the server's begin"},
		     {"running_ns", "running on the server"},
		     {"runnable_ns", "waiting for the server's processor"},
		     {"disk_ns", "waiting for the server's disk"},
		     {"node_ns", "waiting for other nodes"},
		     {"other_ns", "waiting for something else on the server"},
		     {"unknown_ns", "on the server, of which nothing more was recorded"},
		     {"back_ns", "on the way back"}};
	enum { PARTS = sizeof(parts) / sizeof(*parts) };
	double total = report_number(report_cell(slowest, 0, "total_ns"), 0);
	bool told[PARTS] = {false};
	char text[PRINT_TEXT];

	for (int n = 0; n < 2; n++) {
		double most = 0;
		size_t best = PARTS;

		for (size_t i = 0; i < PARTS; i++) {
			double ns =
			    report_number(report_cell(slowest, 0, parts[i].key), 0);

			if (!told[i] && ns > most) {
				most = ns;
				best = i;
			}
		}
		if (best == PARTS || (n && most < total / 20))
			return;
		told[best] = true;
		fputs(n ? ", and " : ": ", report->page);
		put_span(report, most);
		fprintf(report->page, " (%s) %s", html_percent(text, most, total),
			parts[best].text);
	}
}

static void tell_request(const struct report *report)
{
	const struct result_table *slowest =
	    report_table(report, ANSWER_REQUESTS, "slowest");
	struct cell id = report_cell(slowest, 0, "request");
	struct cell bound = report_cell(slowest, 0, "bound_ns");
	char text[PRINT_TEXT];

	if (id.type != CELL_INTEGER) {
		finding(report, "request", NOTE, "No request between nodes was seen");
		fputs("Requests are made of messages that connect nodes both ways.",
		      report->page);
		finding_end(report);
		return;
	}
	finding(report, "request", NOTE, "Slowest request");
	put_span(report, report_number(report_cell(slowest, 0, "total_ns"), 0));
	fprintf(report->page, " <span>(ways between nodes %s)</span> from ",
		html_bound(text, bound.type == CELL_INTEGER ? bound.integer : NSEC_MAX));
	put_text(report, report_cell(slowest, 0, "client"));
	fputs(" to ", report->page);
	put_text(report, report_cell(slowest, 0, "server"));
	if (report_cell(slowest, 0, "comm").type == CELL_TEXT) {
		fputs(" (", report->page);
		put_text(report, report_cell(slowest, 0, "comm"));
		fputc(')', report->page);
	}
	put_parts(report, slowest);
	fprintf(report->page,
		". <a href=\"#request-%" PRId64 "\" data-request=\"%" PRId64
		"\">Its critical path</a>",
		id.integer, id.integer);
	finding_end(report);
}

static void tell_busiest(const struct report *report)
{
	const struct activity *activity = &report->activity;
	size_t best = SIZE_MAX, node = SIZE_MAX;
	double most = -1, node_most = -1;
	char text[PRINT_TEXT];

	for (size_t i = 0; i < activity->lanes; i++) {
		const struct activity_cell *sum = &activity->lane[i].sum;
		double known = 0, busy = 0;

		if (sum->known_ns &&
		    (double)sum->busy_ns / (double)sum->known_ns > most) {
			most = (double)sum->busy_ns / (double)sum->known_ns;
			best = i;
		}
		for (size_t k = 0; k < activity->lanes; k++)
			if (activity->lane[k].node == activity->lane[i].node) {
				known += (double)activity->lane[k].sum.known_ns;
				busy += (double)activity->lane[k].sum.busy_ns;
			}
		if (known > 0 && busy / known > node_most) {
			node_most = busy / known;
			node = i;
		}
	}
	if (best == SIZE_MAX) {
		finding(report, "busiest", NOTE, "What processors did was not recorded");
		fputs("Enable sched_switch to see who ran where.", report->page);
		finding_end(report);
		return;
	}
	finding(report, "busiest", most > 0.98 ? BAD : NOTE,
		"Busiest node and processor");
	html_text(report->page,
		  question_node(report->question, activity->lane[node].node));
	fprintf(report->page,
		" was busy <b data-v=\"%.6f\">%s</b> of its processors' recorded time",
		100 * node_most, html_percent(text, node_most, 1));
	if (best != node ||
	    activity_lane(activity, activity->lane[node].node, -1) != best) {
		fprintf(report->page, "; processor %" PRId64 " of ",
			activity->lane[best].cpu);
		html_text(report->page,
			  question_node(report->question, activity->lane[best].node));
		fprintf(report->page, " <b data-v=\"%.6f\">%s</b>", 100 * most,
			html_percent(text, most, 1));
	}
	if (activity->threads) {
		const struct activity_thread *thread =
		    &activity->thread[activity->order[0]];

		fputs(". Most of all ran ", report->page);
		html_text(report->page, thread->name);
		fputs(" on ", report->page);
		html_text(report->page, question_node(report->question, thread->node));
		fputs(", ", report->page);
		put_span(report, (double)thread->busy_ns);
	}
	fputs(". <a href=\"#processors\">Processors</a>", report->page);
	finding_end(report);
}

/* How many clocks are not tied to the reference, and the worst of those that are. */
static void tell_clocks(const struct report *report)
{
	const struct result_table *clocks = report_table(report, ANSWER_CLOCKS, "clocks");
	const struct result_table *pairs = report_table(report, ANSWER_CLOCKS, "pairs");
	size_t open = 0, bad = 0, worst = SIZE_MAX;
	double most = -1, before = 0, after = 0;

	for (size_t i = 0; clocks && i < clocks->rows; i++) {
		struct cell bound = report_cell(clocks, i, "worst_bound_ns");
		struct cell quality = report_cell(clocks, i, "quality");

		if (bound.type != CELL_INTEGER)
			open++;
		else if ((double)bound.integer > most) {
			most = (double)bound.integer;
			worst = i;
		}
		bad += quality.type == CELL_TEXT && strcmp(quality.bytes, "exact") != 0 &&
		       strcmp(quality.bytes, "accurate") != 0;
	}
	for (size_t i = 0; pairs && i < pairs->rows; i++) {
		before += report_number(report_cell(pairs, i, "violations_before"), 0);
		after += report_number(report_cell(pairs, i, "violations_after"), 0);
	}
	finding(report, "clocks", open || bad || after > 0 ? BAD : GOOD,
		"How far to trust the clocks");
	if (open)
		fprintf(
		    report->page,
		    "<b data-v=\"%zu\">%zu</b> of %zu clocks are not bounded from both "
		    "sides: times of these nodes cannot be compared with others. ",
		    open, open, clocks->rows);
	if (worst != SIZE_MAX) {
		char text[PRINT_TEXT];

		fprintf(report->page, "%s times are within <b data-v=\"%.0f\">%s</b>",
			open ? "Of the others," : "All", most,
			html_bound(text, nsec_round(most)));
		fputs(" of the reference clock, at worst on ", report->page);
		put_text(report, report_cell(clocks, worst, "node"));
		if ((double)report->home_bound_ns < 0.9 * most)
			fprintf(report->page,
				"; while all nodes were recorded, within <b>%s</b>",
				html_bound(text, report->home_bound_ns));
		fputc('.', report->page);
	}
	if (before > 0 || after > 0)
		fprintf(
		    report->page,
		    " By the nodes' own clocks %.0f messages came before they were sent, "
		    "as corrected %.0f.",
		    before, after);
	fputs(" <a href=\"#clocks\">Clocks</a>", report->page);
	finding_end(report);
}

/* Kinds of which something given was not used, and events that tracers lost. */
static void tell_lost(const struct report *report)
{
	const struct result_table *problems =
	    report_table(report, ANSWER_PROBLEMS, "problems");
	const struct result_table *lost = report_table(report, ANSWER_PROBLEMS, "lost");
	const struct scope *scope = &report->question->scope;
	double discarded = 0, bad = 0;
	size_t notes = problems ? problems->rows : 0, silent = 0;
	char text[PRINT_TEXT];

	for (size_t i = 0; lost && i < lost->rows; i++)
		discarded += report_number(report_cell(lost, i, "discarded"), 0);
	for (size_t i = 0; problems && i < problems->rows; i++) {
		struct cell kind = report_cell(problems, i, "kind");

		if (kind.type == CELL_TEXT && problem_is_failure(kind.bytes))
			bad += 1;
	}
	for (size_t i = 0; i < scope->nodes; i++)
		silent += scope->node[i].chosen &&
			  !question_recorded(report->question, scope->node[i].id);
	finding(report, "lost",
		discarded > 0 || bad > 0 || silent ? BAD
		: notes                            ? NOTE
						   : GOOD,
		discarded > 0 || bad > 0 || silent ? "Something was lost"
						   : "Nothing was lost");
	fprintf(report->page, "Tracers discarded <b data-v=\"%.0f\">%.0f</b> events",
		discarded, discarded);
	fprintf(report->page,
		"; <b data-v=\"%.0f\">%.0f</b> input%s could not be used as given", bad,
		bad, bad > 1 || bad < 1 ? "s" : "");
	if (notes > (size_t)bad)
		fprintf(report->page, "; %zu note%s on the input", notes - (size_t)bad,
			notes - (size_t)bad > 1 ? "s" : "");
	if (silent)
		fprintf(report->page, "; of %zu nodes no kernel trace is there", silent);
	fputs(". All nodes were recorded together for ", report->page);
	fprintf(report->page, "%s of %s.",
		html_span(text, (double)(report->home_end_ns - report->home_begin_ns)),
		html_span((char[PRINT_TEXT]){0},
			  (double)(report->end_ns - report->begin_ns)));
	if (notes)
		fputs(" <a href=\"#problems\">Problems and notes</a>", report->page);
	finding_end(report);
}

static void tell_message(const struct report *report)
{
	const struct result_table *slowest =
	    report_table(report, ANSWER_MESSAGES, "slowest");
	double latency = report_number(report_cell(slowest, 0, "latency_ns"), -1);
	double low = report_number(report_cell(slowest, 0, "least_ns"), (double)NAN);
	double high = report_number(report_cell(slowest, 0, "most_ns"), (double)NAN);
	char text[PRINT_TEXT], more[PRINT_TEXT];

	if (latency < 0)
		return;
	finding(report, "message", NOTE, "Slowest message");
	put_span(report, latency);
	if (!isnan(low) && !isnan(high))
		fprintf(report->page, " (surely %s to %s)", html_span(text, low),
			html_span(more, high));
	fputs(" from ", report->page);
	put_text(report, report_cell(slowest, 0, "from"));
	fputs(" to ", report->page);
	put_text(report, report_cell(slowest, 0, "to"));
	fputs(". <a href=\"#messages\">Messages</a>", report->page);
	finding_end(report);
}

void report_findings(const struct report *report)
{
	fputs("<section id=\"findings\">\n<h2 class=\"sr\">Findings</h2>\n<ul>\n",
	      report->page);
	tell_lost(report);
	tell_clocks(report);
	tell_request(report);
	tell_message(report);
	tell_busiest(report);
	fputs("</ul>\n</section>\n", report->page);
}
