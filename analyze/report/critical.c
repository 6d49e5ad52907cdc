/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests between nodes, and the critical paths of the slowest ones as coloured bars. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/critical/node_request.h"
#include "analyze/print.h"
#include "analyze/report/html.h"
#include "base/mem.h"

enum {
	REQUEST_ROWS_SHOWN = 15,
	SLOWEST = 8,
	BAR_UNITS = 1000,
	ALL_DRAWN = 1500, /* of more segments one in each cell */
	CELLS = 500,
	TICKS = 4,
};

/* The colours that the page's style has, by state. */
static const int colour[PATH_STATES] = {
    [PATH_RUNNING] = 2, [PATH_RUNNABLE] = 1,  [PATH_DISK] = 7,   [PATH_NETWORK] = 0,
    [PATH_TIMER] = 4,   [PATH_INTERRUPT] = 5, [PATH_THREAD] = 3, [PATH_UNKNOWN] = 8};

struct drawing {
	struct report *report;
	const struct node_request *request;
	const struct path *path;
	nsec_t begin_ns, span_ns;
};

static const char *human(const struct drawing *drawing, char text[PRINT_TEXT],
			 nsec_t value, enum unit unit)
{
	struct cell cell = cell_of_known(value, NSEC_MAX);

	return print_human(text, drawing->report->result, &cell, unit);
}

/* What each state had of the whole, as the legend. */
static void draw_legend(const struct drawing *drawing)
{
	FILE *page = drawing->report->page;
	nsec_t sum[PATH_STATES] = {0};
	char text[PRINT_TEXT];

	for (size_t i = 0; i < drawing->path->count; i++) {
		const struct path_segment *at = &drawing->path->segment[i];

		sum[at->state] =
		    nsec_add(sum[at->state], nsec_sub(at->end_ns, at->begin_ns));
	}
	for (int i = 0; i < PATH_STATES; i++)
		if (sum[i])
			fprintf(page,
				"<span class=\"key k%d\" data-v=\"%" PRId64
				"\">%s %s, %.1f&#8239;%%</span> ",
				colour[i], sum[i], path_state_name((enum path_state)i),
				human(drawing, text, sum[i], UNIT_SPAN),
				100 * (double)sum[i] / (double)drawing->span_ns);
}

static void draw_title(const struct drawing *drawing)
{
	const struct node_request *request = drawing->request;
	struct question *question = drawing->report->question;
	FILE *page = drawing->report->page;
	char text[PRINT_TEXT];

	fprintf(page,
		"<figure class=\"path\" data-request=\"%" PRId64
		"\"><figcaption><b>Request %" PRId64 ": ",
		request->id, request->id);
	html_text(page, question_node(question, request->client));
	if (request->client_tid > 0) {
		fputs(" (", page);
		html_text(page, question_comm(question, request->client,
					      request->client_tid, request->begin_ns));
		fputc(')', page);
	}
	fputs(" \xe2\x86\x92 ", page);
	html_text(page, question_node(question, request->server));
	if (request->server_port >= 0)
		fprintf(page, ", port %" PRId64, request->server_port);
	fprintf(page, ", %s</b> ", human(drawing, text, drawing->span_ns, UNIT_SPAN));
	draw_legend(drawing);
	fprintf(page,
		"<span>times between nodes %s; sent at %s</span></figcaption>\n"
		"<div class=\"rows\">",
		human(drawing, text, request->bound_ns, UNIT_BOUND),
		human(drawing, (char[PRINT_TEXT]){0}, request->begin_ns, UNIT_INSTANT));
}

static double x_of(const struct drawing *drawing, nsec_t at_ns)
{
	return BAR_UNITS * (double)nsec_sub(at_ns, drawing->begin_ns) /
	       (double)drawing->span_ns;
}

static void draw_segment(const struct drawing *drawing, const struct path_segment *at)
{
	struct question *question = drawing->report->question;
	FILE *page = drawing->report->page;
	char text[PRINT_TEXT];

	fprintf(page, "<path class=\"k%d\" d=\"M%.2f 1H%.2fV15H%.2fz\"><title>%s",
		colour[at->state], x_of(drawing, at->begin_ns), x_of(drawing, at->end_ns),
		x_of(drawing, at->begin_ns), path_state_name(at->state));
	if (at->tid > 0) {
		fputs(": ", page);
		html_text(page, question_comm(question, at->node, at->tid, at->begin_ns));
		fprintf(page, " (%" PRId64 ")", at->tid);
	}
	if (at->from_node >= 0) {
		fputs(" from ", page);
		html_text(page, question_node(question, at->from_node));
	}
	fprintf(page, ", %s</title></path>",
		human(drawing, text, nsec_sub(at->end_ns, at->begin_ns), UNIT_SPAN));
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
	char text[PRINT_TEXT];

	fputs("<div class=\"lab\">", page);
	html_text(page, question_node(drawing->report->question, node));
	fprintf(
	    page,
	    "</div><svg viewBox=\"0 0 %d 16\" height=\"16\" "
	    "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"critical path on ",
	    BAR_UNITS);
	html_text(page, question_node(drawing->report->question, node));
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
	fprintf(page, "</svg><div class=\"val\">%s <i>%.1f&#8239;%%</i></div>\n",
		human(drawing, text, sum, UNIT_SPAN),
		100 * (double)sum / (double)drawing->span_ns);
}

static void draw_ticks(const struct drawing *drawing)
{
	FILE *page = drawing->report->page;
	char text[PRINT_TEXT];

	fputs("<div class=\"ticks fixed\" aria-hidden=\"true\">", page);
	for (int i = 0; i <= TICKS; i++)
		fprintf(page, "<i style=\"left:%d%%\"><b>%s</b></i>", 100 / TICKS * i,
			i ? human(drawing, text, drawing->span_ns / TICKS * i, UNIT_SPAN)
			  : "0");
	fputs("</div>", page);
}

/* A lane a node, in the order in which the path comes there. */
static void draw_path(const struct drawing *drawing)
{
	const struct path *path = drawing->path;

	draw_title(drawing);
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
		html_note(drawing->report->page, "note",
			  "Of %zu parts the greatest in each of %d steps is drawn.",
			  path->count, CELLS);
	fputs("</figure>\n", drawing->report->page);
}

/* Only where what threads did is recorded; the tables above have said so else. */
static int draw_paths(struct report *report, struct error *error)
{
	struct node_request request[SLOWEST];
	struct history_events recorded;
	struct history *history = NULL;
	int count, status;

	if (history_events_read(&recorded, report->question, error))
		return -1;
	count = recorded.switches
		    ? node_requests_slowest(request, SLOWEST, report->question, error)
		    : 0;
	if (count > 0) {
		history = history_new(report->question->reader, error);
		fputs(
		    "<h3>Critical paths of the slowest requests</h3>\n<p class=\"note\">"
		    "What the end of each request waited for, back to its begin: at "
		    "every time one node&#8217;s state.</p>\n",
		    report->page);
	}
	status = count < 0 || (count && !history) ? -1 : 0;
	for (int i = 0; i < count && !status; i++) {
		struct path path;
		const struct drawing drawing = {.report = report,
						.request = &request[i],
						.path = &path,
						.begin_ns = request[i].begin_ns,
						.span_ns = request[i].end_ns -
							   request[i].begin_ns};

		if (drawing.span_ns <= 0)
			continue;
		status = node_request_path(&path, history, &request[i]);
		if (!status)
			draw_path(&drawing);
		path_clear(&path);
	}
	history_free(history);
	return status;
}

int report_critical(struct report *report, struct error *error)
{
	struct report_wish wish = {.limit = REQUEST_ROWS_SHOWN};
	int status;
	const struct result *result = report_ask(report, "requests", &wish, error);

	if (!result)
		return -1;
	html_section(report->page, "requests", "Requests between nodes");
	html_result(report, result, NULL, REQUEST_ROWS_SHOWN);
	status = draw_paths(report, error);
	html_section_end(report->page);
	return status;
}
