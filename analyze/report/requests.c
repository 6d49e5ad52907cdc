/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests between nodes, and the critical paths of the slowest ones as pictures. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/report/html.h"
#include "base/chart.h"
#include "base/mem.h"

enum {
	ALL_DRAWN = 600, /* of more segments one in each cell */
	CELLS = 300,
	NAMED_PERCENT = 6, /* as wide as a segment is that has its name in it */
	LANE_HEIGHT = 22,
};

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

static const char *comm_of(const struct drawing *drawing, const struct path_segment *at)
{
	return at->tid > 0 ? question_comm(drawing->report->question, at->node, at->tid,
					   at->begin_ns)
			   : "";
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
	fputs("</figcaption>\n<div class=\"rows\">", page);
}

static double x_of(const struct drawing *drawing, nsec_t at_ns)
{
	return 100 * (double)nsec_sub(at_ns, drawing->begin_ns) /
	       (double)drawing->span_ns;
}

/* An <svg> of its own cuts off the name where the segment ends. */
static void draw_segment(const struct drawing *drawing, const struct path_segment *at)
{
	FILE *page = drawing->report->page;
	double x = x_of(drawing, at->begin_ns), width = x_of(drawing, at->end_ns) - x;
	const char *comm = comm_of(drawing, at);
	char text[PRINT_TEXT];

	fprintf(page,
		"<svg x=\"%.3f%%\" width=\"%.3f%%\" height=\"18\" y=\"2\"><g><title>%s",
		x, fmax(width, 0.05), path_state_name(at->state));
	if (*comm) {
		fputs(": ", page);
		html_text(page, comm);
		fprintf(page, " (%" PRId64 ")", at->tid);
	}
	if (at->from_node >= 0) {
		fputs(", message from ", page);
		put_node(drawing, at->from_node);
	}
	fprintf(page, ", %s</title><rect class=\"%s\" width=\"100%%\" height=\"18\"/>",
		html_span(text, (double)nsec_sub(at->end_ns, at->begin_ns)),
		colour[at->state]);
	if (width > NAMED_PERCENT) {
		fputs("<text x=\"4\" y=\"13\">", page);
		if (at->from_node >= 0) {
			fputs("from ", page);
			put_node(drawing, at->from_node);
		} else {
			html_text(page, *comm ? comm : path_state_name(at->state));
		}
		fputs("</text>", page);
	}
	fputs("</g></svg>", page);
}

/* Of many: in each cell the segment that has the most of it. */
static void draw_cells(const struct drawing *drawing, int64_t node)
{
	const struct path *path = drawing->path;
	size_t at = 0;

	for (nsec_t cell = 0; cell < CELLS; cell++) {
		nsec_t begin = drawing->begin_ns + drawing->span_ns / CELLS * cell;
		nsec_t end = begin + drawing->span_ns / CELLS, most = 0;
		const struct path_segment *best = NULL;

		while (at + 1 < path->count && path->segment[at].end_ns <= begin)
			at++;
		for (size_t i = at; i < path->count && path->segment[i].begin_ns < end;
		     i++) {
			const struct path_segment *one = &path->segment[i];
			nsec_t from = one->begin_ns > begin ? one->begin_ns : begin;
			nsec_t to = one->end_ns < end ? one->end_ns : end;

			if (to - from > most) {
				most = to - from;
				best = one;
			}
		}
		if (best && best->node == node) {
			struct path_segment part = *best;

			part.begin_ns = begin;
			part.end_ns = end;
			draw_segment(drawing, &part);
		}
	}
}

static void draw_lane(const struct drawing *drawing, int64_t node)
{
	const struct path *path = drawing->path;
	FILE *page = drawing->report->page;
	nsec_t sum = 0;
	char text[PRINT_TEXT], percent[PRINT_TEXT];

	fputs("<div class=\"lab\">", page);
	put_node(drawing, node);
	fprintf(page,
		"</div><svg width=\"100%%\" height=\"%d\" role=\"img\" "
		"aria-label=\"critical path on ",
		LANE_HEIGHT);
	put_node(drawing, node);
	fputs("\">", page);
	for (size_t i = 0; i < path->count; i++) {
		if (path->segment[i].node != node)
			continue;
		sum = nsec_add(
		    sum, nsec_sub(path->segment[i].end_ns, path->segment[i].begin_ns));
		if (path->count <= ALL_DRAWN)
			draw_segment(drawing, &path->segment[i]);
	}
	if (path->count > ALL_DRAWN)
		draw_cells(drawing, node);
	fprintf(page, "</svg><div class=\"val\">%s <i>%s</i></div>\n",
		html_span(text, (double)sum),
		html_percent(percent, (double)sum, (double)drawing->span_ns));
}

static void draw_ticks(const struct drawing *drawing)
{
	FILE *page = drawing->report->page;
	struct chart_axis axis = {0};
	double tick[CHART_TICKS];
	char text[CHART_LABEL];
	size_t ticks;

	chart_axis_open(&axis, 0, (double)drawing->span_ns / 1e3);
	axis.to = 100;
	ticks = chart_axis_ticks(&axis, 5, tick);
	fputs("<div></div><svg class=\"axis\" width=\"100%\" height=\"18\" "
	      "aria-hidden=\"true\">",
	      page);
	for (size_t i = 0; i < ticks; i++) {
		double x = 100 * tick[i] * 1e3 / (double)drawing->span_ns;

		if (x > 96)
			continue;
		fprintf(page,
			"<line x1=\"%.3f%%\" x2=\"%.3f%%\" y2=\"4\"/><text x=\"%.3f%%\" "
			"y=\"14\"%s>%s</text>",
			x, x, x, x > 2 ? " text-anchor=\"middle\"" : "",
			chart_label_tick(text, tick[i], (double)drawing->span_ns / 1e3,
					 ticks > 1 ? tick[1] - tick[0] : tick[0]));
	}
	fputs("</svg><div></div>", page);
}

/* A lane a node, in the order in which the path comes there. */
static void draw_path(const struct drawing *drawing)
{
	const struct path *path = drawing->path;

	put_title(drawing);
	for (size_t i = 0; i < path->count; i++) {
		size_t k = 0;

		while (path->segment[k].node != path->segment[i].node)
			k++;
		if (k == i)
			draw_lane(drawing, path->segment[i].node);
	}
	draw_ticks(drawing);
	fputs("</div>", drawing->report->page);
	if (path->count > ALL_DRAWN)
		html_note(drawing->report->page,
			  "Of %zu parts the greatest in each of %d steps is drawn.",
			  path->count, CELLS);
	fputs("</figure>\n", drawing->report->page);
}

/* Only where what threads did is recorded; the tables have said so else. */
static int draw_paths(struct report *report, struct error *error)
{
	struct history_events recorded;
	struct history *history;
	int status = 0;

	if (history_events_read(&recorded, report->question, error))
		return -1;
	if (!recorded.switches || !report->requests)
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
			draw_path(&drawing);
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
