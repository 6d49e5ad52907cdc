/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests between nodes, and the critical paths of the slowest ones as pictures. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/report/report.h"
#include "base/mem.h"

/* The classes of colours that the page's style has, by state. */
static const char *const colour[PATH_STATES] = {
    [PATH_RUNNING] = "run",   [PATH_RUNNABLE] = "ready", [PATH_DISK] = "disk",
    [PATH_NETWORK] = "net",   [PATH_TIMER] = "timer",    [PATH_INTERRUPT] = "irq",
    [PATH_THREAD] = "thread", [PATH_UNKNOWN] = "unknown"};

struct drawing {
	struct report *report;
	const struct node_request *request;
	const struct path *path;
	nsec_t begin_ns, span_ns;
};

static void put_node(const struct drawing *drawing, int64_t node)
{
	html_text(drawing->report->page, question_node(drawing->report->question, node));
}

/* What each state had of the whole, as the legend. */
static void put_legend(const struct drawing *drawing)
{
	nsec_t sum[PATH_STATES] = {0};
	char text[PRINT_TEXT], percent[PRINT_TEXT];

	for (size_t i = 0; i < drawing->path->count; i++) {
		const struct path_segment *at = &drawing->path->segment[i];

		sum[at->state] =
		    nsec_add(sum[at->state], nsec_sub(at->end_ns, at->begin_ns));
	}
	for (int i = 0; i < PATH_STATES; i++)
		if (sum[i])
			fprintf(drawing->report->page,
				"<span class=\"key %s\" data-v=\"%" PRId64
				"\">%s %s, %s</span> ",
				colour[i], sum[i], path_state_name((enum path_state)i),
				html_span(text, (double)sum[i]),
				html_percent(percent, (double)sum[i],
					     (double)drawing->span_ns));
}

static void put_title(const struct drawing *drawing)
{
	const struct node_request *request = drawing->request;
	struct question *question = drawing->report->question;
	const struct report *report = drawing->report;
	FILE *page = report->page;
	char text[PRINT_TEXT], bound[PRINT_TEXT];

	fprintf(page,
		"<figure class=\"path\" id=\"request-%" PRId64
		"\" data-request=\"%" PRId64 "\"><figcaption><b>%s from ",
		request->id, request->id, html_span(text, (double)drawing->span_ns));
	put_node(drawing, request->client);
	if (request->client_tid > 0) {
		fputs(" (", page);
		html_text(page, question_comm(question, request->client,
					      request->client_tid, request->begin_ns));
		fputc(')', page);
	}
	fputs(" to ", page);
	put_node(drawing, request->server);
	if (request->server_port >= 0)
		fprintf(page, ", port %" PRId64, request->server_port);
	fprintf(
	    page,
	    "</b> <span>request %" PRId64
	    ", sent at <a href=\"#timeline\" data-t=\"%" PRId64 "\" data-d=\"%" PRId64
	    "\">%s</a>, ways between nodes %s</span><br>",
	    request->id, request->begin_ns - report->begin_ns, drawing->span_ns,
	    html_human(text, report, cell_of_integer(request->begin_ns), UNIT_INSTANT),
	    html_bound(bound, request->bound_ns));
	put_legend(drawing);
	fputs("</figcaption>\n", page);
}

/*
 * What the script draws, as JSON in an attribute: the parts one after the other,
 * [node, state, took, tid, node that a message is from, thread's name], with -1 for none.
 */
static void put_path(const struct drawing *drawing)
{
	const struct path *path = drawing->path;
	struct report *report = drawing->report;

	put_title(drawing);
	fputs("<div class=\"drawn\" data-path='[", report->page);
	for (size_t i = 0; i < path->count; i++) {
		const struct path_segment *at = &path->segment[i];

		fprintf(report->page, "%s[%zu,%d,%" PRId64 ",%" PRId64 ",%d",
			i ? "," : "", report_node_index(report, at->node), at->state,
			nsec_sub(at->end_ns, at->begin_ns), at->tid,
			at->from_node < 0
			    ? -1
			    : (int)report_node_index(report, at->from_node));
		if (at->tid > 0) {
			fputc(',', report->page);
			html_json(report->page, question_comm(report->question, at->node,
							      at->tid, at->begin_ns));
		}
		fputc(']', report->page);
	}
	fputs("]'></div></figure>\n", report->page);
}

/* Only where what threads did is recorded; the tables have said so else. */
static int draw_paths(struct report *report, struct error *error)
{
	struct history *history;
	int status = 0;

	if (!report->activity.runs || !report->requests)
		return 0;
	history = history_new(report->question->reader, error);
	if (!history)
		return -1;
	fputs("<h3>Critical paths of the slowest requests</h3>\n<p class=\"note\">What "
	      "the end "
	      "of each request waited for, back to its begin: at every time one "
	      "node&#8217;s "
	      "state, and the thread that had it.</p>\n",
	      report->page);
	for (size_t i = 0; i < report->requests && !status; i++) {
		const struct node_request *request = &report->request[i];
		struct path path;
		const struct drawing drawing = {.report = report,
						.request = request,
						.path = &path,
						.begin_ns = request->begin_ns,
						.span_ns =
						    request->end_ns - request->begin_ns};

		if (drawing.span_ns <= 0)
			continue;
		status = node_request_path(&path, history, request);
		if (!status)
			put_path(&drawing);
		path_clear(&path);
	}
	history_free(history);
	return status;
}

int report_requests(struct report *report, struct error *error)
{
	int status;

	html_section(report->page, "requests", "Requests between nodes");
	status = draw_paths(report, error);
	html_answer(report, ANSWER_REQUESTS);
	html_section_end(report->page);
	return status;
}
