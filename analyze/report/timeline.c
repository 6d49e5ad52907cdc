/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster's timeline as data for the page's script, and the elements around it. */
#include "analyze/report/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/activity.h"
#include "analyze/report/html.h"
#include "analyze/report/report.h"
#include "base/mem.h"

/* Write a value in 12 bits for the script; values above 4094 are unknown. */
static void put_pair(FILE *page, double value)
{
	int number = value >= 0 && value < 4094.5 ? (int)(value + 0.5) : 4095;

	fputc(bin_digits[number / 64], page);
	fputc(bin_digits[number % 64], page);
}

static nsec_t cell_sum(const struct activity_cell *cell, int quantity)
{
	return quantity == 0   ? cell->busy_ns
	       : quantity == 1 ? cell->irq_ns
			       : cell->softirq_ns;
}

/* The share that a quantity has of each cell, in 1/4000. What rounding leaves is carried
 * on, so that any sum of cells is off by less than one of these. */
static void put_shares(const struct report *report, const struct activity_lane *lane,
		       const char *name, int quantity)
{
	const struct activity *activity = &report->activity;
	double sum = 0, written = 0;

	fprintf(report->page, ",\"%s\":\"", name);
	for (size_t i = 0; i < activity->cells; i++) {
		double number;

		sum += 4000 * (double)cell_sum(&lane->cell[i], quantity) /
		       (double)activity->cell_ns;
		number = fmin(4000, floor(sum + 0.5 - written));
		written += number;
		put_pair(report->page,
			 quantity == 0 && !lane->cell[i].known_ns ? -1 : number);
	}
	fputc('"', report->page);
}

/* Write how much of each partly unknown cell is known, and the thread that had most of
 * each cell. */
static void put_lane(struct report *report, const struct activity_lane *lane)
{
	const struct activity *activity = &report->activity;
	const char *before = "";

	put_shares(report, lane, "busy", 0);
	put_shares(report, lane, "irq", 1);
	put_shares(report, lane, "soft", 2);
	fputs(",\"who\":\"", report->page);
	for (size_t i = 0; i < activity->cells; i++) {
		const uint32_t most = lane->cell[i].most;

		put_pair(report->page,
			 most ? (double)activity->thread[most - 1].rank : -1);
	}
	fputs("\",\"known\":[", report->page);
	for (size_t i = 0; i < activity->cells; i++) {
		const nsec_t known_ns = lane->cell[i].known_ns;

		if (!known_ns || known_ns >= activity->cell_ns - activity->cell_ns / 4000)
			continue;
		fprintf(report->page, "%s%zu,%.4g", before, i,
			(double)known_ns / (double)activity->cell_ns);
		before = ",";
	}
	fputs("]}", report->page);
}

/* Threads with a name in the page have their place among these, by what they ran. */
static void rank_threads(struct report *report)
{
	const struct result_table *named =
	    report_table(report, ANSWER_OWN, "threads_named");

	for (size_t i = 0; i < named->rows; i++)
		report->activity.thread[report_cell(named, i, "entry").integer].rank = i;
}

void report_lanes(struct report *report)
{
	const struct activity *activity = &report->activity;
	const struct scope *scope = &report->query->scope;
	const char *before = "";

	rank_threads(report);
	fprintf(report->page,
		"{\"span\":%" PRId64 ",\"offset\":%" PRId64 ",\"beginMs\":%" PRId64
		",\n\"file\":",
		report->is_empty ? 0 : report->end_ns - report->begin_ns,
		nsec_sub(report->begin_ns, scope->origin_ns), report->begin_ns / 1000000);
	html_json(report->page, report->query->path);
	fputs(",\"nodes\":[", report->page);
	for (size_t i = 0; i < scope->nodes; i++) {
		if (!scope->node[i].chosen)
			continue;
		fputs(before, report->page);
		html_json(report->page, scope->node[i].name);
		before = ",";
	}
	fprintf(report->page, "],\n\"cellNs\":%" PRId64 ",\"cells\":%zu,\n\"lanes\":[",
		activity->cell_ns, activity->cells);
	for (size_t i = 0; i < activity->lanes; i++) {
		const struct activity_lane *lane = &activity->lane[i];

		fprintf(report->page, "%s{\"n\":%zu,\"c\":%" PRId64, i ? ",\n" : "",
			scope_place(&report->query->scope, lane->node), lane->cpu);
		put_lane(report, lane);
	}
	fputc(']', report->page);
}

/* Sums by steps, for tables and the map. */
void report_bins(struct report *report)
{
	const struct activity *activity = &report->activity;
	const struct scope *scope = &report->query->scope;
	const char *before = "";

	fprintf(report->page, "{\"stepNs\":%" PRId64 ",\"steps\":%zu,\"waiting\":[",
		activity->grid.step_ns, activity->grid.steps);
	for (size_t i = 0; i < scope->nodes; i++) {
		AUTOFREE char *text = bin_text(
		    &activity->waiting[scope_place(scope, scope->node[i].id)], false);

		if (!scope->node[i].chosen)
			continue;
		fprintf(report->page, "%s\"%s\"", before, text);
		before = ",";
	}
	fputs("],\n", report->page);
	bin_tables_write(report->bins, scope, report->page);
	fputc('}', report->page);
}

struct spans {
	const struct report *report;
	nsec_t begin_ns, end_ns; /* the window */
	FILE *page;              /* file of the window */
	size_t count, most;
};

/* Select the spans of a thread, or of a handler on a processor, in a window. They do not
 * overlap, so the first one is the last that began before the window. The rows have the
 * order of the list's relation, and then that of the table. Nothing is sorted, because a
 * window may have many more spans than the page can hold. */
#define IN_WINDOW(table, key)                                                            \
	" CROSS JOIN " table " AS s WHERE " key(                                         \
	    "s") " AND s.begin_ns < ?2"                                                  \
		 " AND s.begin_ns >= coalesce((SELECT max(b.begin_ns) FROM " table       \
		 " AS b WHERE " key("b") " AND b.begin_ns <= ?1), ?1) AND s.end_ns > ?1"

#define OF_THREAD(s) s ".node = l.node AND " s ".tid = l.tid"
#define OF_HANDLER(s)                                                                    \
	s ".node = l.node AND " s ".kind = l.kind AND " s ".number = l.number AND " s    \
	  ".handler = l.handler AND " s ".cpu = l.cpu"

/* The list's head; begin and end; state + 8 * wait + 64 * cut, cpu, priority or waker.
 * Spans under another name of the same thread belong to it as well and are read once. */
static const char state_sql[] =
    "SELECT rank, NULL, s.begin_ns, s.end_ns, state_code + 8 * CASE wait WHEN 'disk'"
    " THEN 1 WHEN 'network' THEN 2 WHEN 'timer' THEN 3 WHEN 'interrupt' THEN 4"
    " WHEN 'thread' THEN 5 ELSE 0 END + 64 * s.cut, coalesce(cpu, -1), CASE state_code "
    "WHEN 1 THEN"
    " coalesce(priority, -1) ELSE coalesce(waker_tid, -1) END"
    " FROM (SELECT of_node AS node, tid, n - 1 AS rank, max(entry) FROM page_named"
    "  GROUP BY 1, 2) AS l" IN_WINDOW("thread_state", OF_THREAD) " AND state_code < 5";

/* In groups, of one row each, so that SQLite does not read all of irq before, for a
 * filter. */
static const char irq_sql[] =
    "SELECT handler_at, lane_at, s.begin_ns, s.end_ns FROM (SELECT h.node,"
    "  h.number, CASE h.soft WHEN 1 THEN 'softirq' ELSE 'irq' END AS kind,"
    "  h.handler, c.cpu, h.rowid - 1 AS handler_at,"
    "  c.rowid - 1 AS lane_at FROM page_handler AS h CROSS JOIN page_lane AS c"
    "  WHERE c.node = h.node GROUP BY h.rowid, c.rowid) AS l" IN_WINDOW("irq",
									OF_HANDLER);

/* Write all lists of a window: gaps and lengths, which the script adds up, cut at the
 * window's ends. Return 0, or -1 with error. */
static int put_lists(struct spans *spans, const char *sql, struct error *error)
{
	const struct cell window[] = {cell_of_integer(spans->begin_ns),
				      cell_of_integer(spans->end_ns)};
	struct timeline_query *rows =
	    query_start(spans->report->query->reader, sql, window, error);
	int more = rows ? 1 : -1;
	nsec_t at_ns = spans->begin_ns;
	int64_t of[2] = {-1, -1}; /* the list's head */

	while (more > 0 && spans->count <= spans->most &&
	       (more = timeline_query_next(rows, error)) > 0) {
		const struct cell *row = timeline_query_row(rows);
		nsec_t begin_ns = row[2].integer, end_ns = row[3].integer;

		if (of[0] != row[0].integer || of[1] != cell_integer(&row[1], -1)) {
			fprintf(spans->page, "%s[%" PRId64, of[0] < 0 ? "" : "],\n",
				row[0].integer);
			of[0] = row[0].integer;
			of[1] = cell_integer(&row[1], -1);
			if (of[1] >= 0)
				fprintf(spans->page, ",%" PRId64, of[1]);
			at_ns = spans->begin_ns;
		}
		begin_ns = begin_ns > spans->begin_ns ? begin_ns : spans->begin_ns;
		end_ns = end_ns < spans->end_ns ? end_ns : spans->end_ns;
		/* A span that lasts all of the window needs no times. */
		if (begin_ns > spans->begin_ns || end_ns < spans->end_ns)
			fprintf(spans->page, ",%" PRId64 ",%" PRId64, begin_ns - at_ns,
				end_ns - begin_ns);
		for (size_t i = 4; i < timeline_query_columns(rows); i++)
			fprintf(spans->page, ",%" PRId64, row[i].integer);
		at_ns = end_ns;
		spans->count++;
	}
	fputs(of[0] < 0 ? "" : "]", spans->page);
	timeline_query_free(rows);
	return more < 0 ? -1 : 0;
}

/* One window; one without spans, or with more than may be put, is not. How many spans, or
 * -1. */
static int64_t put_window(struct report *report, struct spans spans, int64_t request,
			  bool first, struct error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *page = mem_stream(&text, &size);
	int status;

	if (!page)
		return error_set(error, "report: no memory for the page");
	fprintf(page,
		"%s{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"request\":%" PRId64
		",\n\"states\":[",
		first ? "" : ",\n", nsec_sub(spans.begin_ns, report->begin_ns),
		nsec_sub(spans.end_ns, report->begin_ns), request);
	spans.report = report;
	spans.page = page;
	status = put_lists(&spans, state_sql, error);
	fputs("],\n\"irqs\":[", page);
	if (!status)
		status = put_lists(&spans, irq_sql, error);
	fputs("]}", page);
	if (fclose(page) && !status)
		status = error_set(error, "report: no memory for the page");
	if (!status && spans.count && spans.count <= spans.most)
		fwrite(text, 1, size, report->page);
	free(text);
	return status ? -1 : spans.count <= spans.most ? (int64_t)spans.count : 0;
}

/* Write all spans if they are few, otherwise those around the slowest requests that fit.
 */
void report_spans(struct report *report)
{
	const struct activity *activity = &report->activity;
	struct spans spans = {.begin_ns = report->begin_ns,
			      .end_ns = report->end_ns,
			      .most = report->detail};
	int64_t count = 0;

	if (activity->runs + activity->irqs <= report->detail)
		count = put_window(report, spans, 0, true, report->error);
	report->is_exact = count > 0;
	for (size_t i = 0, put = 0; i < report->requests && !report->is_exact; i++) {
		const struct node_request *request = &report->request[i];
		nsec_t margin =
		    (request->start.end_ns - request->start.begin_ns) / 3 + 1000;

		/* A window around each request, with a third of it before and after. */
		spans.begin_ns = request->start.begin_ns - margin;
		spans.end_ns = request->start.end_ns + margin;
		if (spans.begin_ns < report->begin_ns)
			spans.begin_ns = report->begin_ns;
		if (spans.end_ns > report->end_ns)
			spans.end_ns = report->end_ns;
		count = put_window(report, spans, request->id, put == 0, report->error);
		if (count < 0)
			break;
		spans.most -= (size_t)count;
		put += count > 0;
	}
	report->failed |= count < 0;
}

void report_reduction(struct report *report)
{
	const struct activity *activity = &report->activity;
	const struct result_table *messages =
	    report_table(report, ANSWER_OWN, "messages");
	const double step_ns = report_number(report_cell(messages, 0, "step_ns"));
	char text[PRINT_TEXT];

	if (report->is_empty)
		html_note(report->page, "nothing was recorded");
	if (!report->is_exact && activity->runs + activity->irqs)
		html_note(
		    report->page,
		    "%zu spans are summed by steps of %s. Where a step is wider than "
		    "some pixels, only the windows around the slowest requests, marked "
		    "above the lanes, show spans one by one; --detail asks for more.",
		    activity->runs + activity->irqs,
		    html_span(text, (double)activity->cell_ns));
	if (step_ns > 0)
		html_note(report->page,
			  "%zu of %.0f messages are drawn: of each pair of nodes and "
			  "direction the slowest in each step of %s.",
			  report_table(report, ANSWER_OWN, "links")->rows,
			  report_number(report_cell(messages, 0, "messages")),
			  html_span(text, step_ns));
}
