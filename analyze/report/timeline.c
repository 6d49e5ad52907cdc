/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster's timeline as data for the page's script, and what stands around it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/report.h"
#include "base/mem.h"

enum {
	MOST_THREADS = 2000, /* with a name in the page; they are ranked by time */
};

/* 6 bits each. */
static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* 12 bits, as the script reads them; more than 4094 is not known. */
static void put_pair(FILE *page, double value)
{
	int number = value >= 0 && value < 4094.5 ? (int)(value + 0.5) : 4095;

	fputc(digits[number / 64], page);
	fputc(digits[number % 64], page);
}

/* ---- the sums of all time */

enum quantity { BUSY, IRQ, SOFTIRQ, WHO };

/* The last cell may be shorter than the others. */
static double quantity_of(const struct report *report, const struct activity_cell *cell,
			  size_t index, enum quantity quantity)
{
	const struct activity *activity = &report->activity;
	nsec_t left =
	    activity->end_ns - activity->begin_ns - (nsec_t)index * activity->cell_ns;
	double width = (double)(left < activity->cell_ns ? left : activity->cell_ns);
	size_t rank;

	switch (quantity) {
	case BUSY:
		return (double)cell->known_ns * 2 < width
			   ? -1
			   : 4000 * (double)cell->busy_ns / (double)cell->known_ns;
	case IRQ:
		return 4000 * fmin(1, (double)cell->irq_ns / width);
	case SOFTIRQ:
		return 4000 * fmin(1, (double)cell->softirq_ns / width);
	case WHO:
		break;
	}
	rank = cell->most ? activity->thread[cell->most - 1].rank : SIZE_MAX;
	return rank < MOST_THREADS ? (double)rank : -1;
}

static void put_quantity(const struct report *report, const struct activity_lane *lane,
			 const char *name, enum quantity quantity)
{
	fprintf(report->page, ",\"%s\":\"", name);
	for (size_t i = 0; i < report->activity.cells; i++)
		put_pair(report->page, quantity_of(report, &lane->cell[i], i, quantity));
	fputc('"', report->page);
}

static void put_lanes(const struct report *report)
{
	const struct activity *activity = &report->activity;
	const struct scope *scope = &report->question->scope;
	const char *before = "";

	fputs(",\n\"nodes\":[", report->page);
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
			report_node_index(report, lane->node), lane->cpu);
		put_quantity(report, lane, "busy", BUSY);
		put_quantity(report, lane, "irq", IRQ);
		put_quantity(report, lane, "soft", SOFTIRQ);
		put_quantity(report, lane, "who", WHO);
		fputc('}', report->page);
	}
	fputc(']', report->page);
}

/* [node, tid, name, process, ran, first, last, strip]: by rank. */
static void put_threads(const struct report *report)
{
	const struct activity *activity = &report->activity;
	FILE *page = report->page;

	fprintf(page, ",\n\"stripNs\":%" PRId64 ",\"threads\":[", activity->strip_ns);
	for (size_t i = 0; i < activity->threads && i < MOST_THREADS; i++) {
		const struct activity_thread *thread =
		    &activity->thread[activity->order[i]];
		const struct thread_facts *facts = question_thread(
		    report->question, thread->node, thread->tid, thread->first_ns);

		fprintf(page, "%s[%zu,%" PRId64 ",", i ? ",\n" : "",
			report_node_index(report, thread->node), thread->tid);
		html_json(page, thread->name);
		fputc(',', page);
		html_json(page, facts ? facts->process : "");
		fprintf(page, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",\"", thread->busy_ns,
			report_offset(report, thread->first_ns),
			report_offset(report, thread->last_ns));
		for (size_t k = 0; k < ACTIVITY_STRIP; k++) {
			float share = thread->strip[k] / (float)activity->strip_ns;

			fputc(digits[share > 0 ? 1 + (int)(fminf(share, 1) * 62) : 0],
			      page);
		}
		fputs("\"]", page);
	}
	fputc(']', page);
}

/* ---- spans one by one, in some windows of time */

struct spans {
	const struct report *report;
	nsec_t begin_ns, end_ns; /* the window */
	FILE *page;              /* of the window */
	struct timeline_query *query;
	nsec_t at_ns; /* what was put ends here */
	size_t count, most, lists;
};

/* Of a thread, or of a handler on a processor, the spans in a window: they do not
 * overlap, so that the last one that began before it is the first. */
#define IN_WINDOW(table, key)                                                            \
	" FROM " table " WHERE " key " AND begin_ns < ?2 AND begin_ns >= coalesce("      \
	"(SELECT max(begin_ns) FROM " table " WHERE " key " AND begin_ns <= ?1), ?1)"    \
	" AND end_ns > ?1 "

#define OF_THREAD  "node = ?3 AND tid = ?4"
#define OF_HANDLER "node = ?3 AND cpu = ?4 AND number = ?5 AND kind = ?6 AND handler = ?7"

/* gap, length, state + 8 * wait, cpu, priority or waker */
static const char state_sql[] =
    "SELECT begin_ns, end_ns, state_code + 8 * CASE wait WHEN 'disk' THEN 1"
    " WHEN 'network' THEN 2 WHEN 'timer' THEN 3 WHEN 'interrupt' THEN 4 WHEN 'thread'"
    " THEN 5 ELSE 0 END, coalesce(cpu, -1), CASE state_code WHEN 1 THEN"
    " coalesce(priority, -1) ELSE coalesce(waker_tid, -1) "
    "END" IN_WINDOW("thread_state", OF_THREAD) "AND state_code < 5 ORDER BY begin_ns, id";

/* gap, length */
static const char irq_sql[] =
    "SELECT begin_ns, end_ns" IN_WINDOW("irq", OF_HANDLER) "ORDER BY begin_ns, id";

/* The spans of a key as one list behind its head; gaps and lengths as the script adds
 * them up, cut at the window's ends. 0, or -1 with error. */
static int put_list(struct spans *spans, const struct cell *key, size_t keys,
		    const char *head, struct error *error)
{
	struct timeline_query *query = spans->query;
	int more = timeline_query_ask(query, key, keys, error);
	const size_t before = spans->count;

	spans->at_ns = spans->begin_ns;
	while (!more && spans->count <= spans->most &&
	       (more = timeline_query_next(query, error)) > 0) {
		const struct cell *row = timeline_query_row(query);
		nsec_t begin_ns = row[0].integer, end_ns = row[1].integer;

		if (spans->count == before)
			fprintf(spans->page, "%s[%s", spans->lists++ ? ",\n" : "", head);
		begin_ns = begin_ns > spans->begin_ns ? begin_ns : spans->begin_ns;
		end_ns = end_ns < spans->end_ns ? end_ns : spans->end_ns;
		fprintf(spans->page, ",%" PRId64 ",%" PRId64, begin_ns - spans->at_ns,
			end_ns - begin_ns);
		for (size_t i = 2; i < timeline_query_columns(query); i++)
			fprintf(spans->page, ",%" PRId64, row[i].integer);
		spans->at_ns = end_ns;
		spans->count++;
		more = 0;
	}
	if (spans->count > before)
		fputc(']', spans->page);
	return more;
}

/* Of each thread that has a name in the page. Spans under another name of the same thread
 * are its as well: they come once. */
static int put_states(struct spans *spans, struct error *error)
{
	const struct activity *activity = &spans->report->activity;
	int status = 0;

	for (size_t i = 0; i < activity->threads && !status; i++) {
		const struct activity_thread *thread = &activity->thread[i];
		const struct cell key[] = {
		    cell_of_integer(spans->begin_ns), cell_of_integer(spans->end_ns),
		    cell_of_integer(thread->node), cell_of_integer(thread->tid)};
		const struct activity_thread *next = thread + 1;
		char head[24];

		if (thread->rank >= MOST_THREADS ||
		    (i + 1 < activity->threads && next->node == thread->node &&
		     next->tid == thread->tid && next->rank < MOST_THREADS))
			continue;
		snprintf(head, sizeof(head), "%zu", thread->rank);
		status = put_list(spans, key, 4, head, error);
	}
	return status;
}

static int put_irqs(struct spans *spans, struct error *error)
{
	const struct activity *activity = &spans->report->activity;
	int status = 0;

	for (size_t i = 0; i < activity->handlers; i++)
		for (size_t k = 0; k < activity->lanes && !status; k++) {
			const struct activity_handler *handler = &activity->handler[i];
			const struct activity_lane *lane = &activity->lane[k];
			const struct cell key[] = {
			    cell_of_integer(spans->begin_ns),
			    cell_of_integer(spans->end_ns),
			    cell_of_integer(lane->node),
			    cell_of_integer(lane->cpu),
			    cell_of_integer(handler->number),
			    cell_of_text(handler->soft ? "softirq" : "irq"),
			    cell_of_text(handler->name ? handler->name : "")};
			char head[48];

			if (lane->node != handler->node)
				continue;
			snprintf(head, sizeof(head), "%zu,%zu", i, k);
			status = put_list(spans, key, 7, head, error);
		}
	return status;
}

static int put_spans_of(struct spans *spans, const char *sql,
			int (*put)(struct spans *spans, struct error *error),
			struct error *error)
{
	int status;

	spans->lists = 0;
	spans->query = timeline_query_new(spans->report->question->reader, sql, error);
	status = spans->query ? put(spans, error) : -1;
	timeline_query_free(spans->query);
	return status;
}

/* One window; one without spans, or with more than may be put, is not. How many spans, or
 * -1. */
static int64_t put_window(struct report *report, struct spans spans, int64_t request,
			  bool first, struct error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *page = open_memstream(&text, &size);
	int status;

	if (!page)
		return error_set(error, "report: no memory for the page");
	fprintf(page,
		"%s{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"request\":%" PRId64
		",\n\"states\":[",
		first ? "" : ",\n", report_offset(report, spans.begin_ns),
		report_offset(report, spans.end_ns), request);
	spans.report = report;
	spans.page = page;
	status = put_spans_of(&spans, state_sql, put_states, error);
	fputs("],\n\"irqs\":[", page);
	if (!status)
		status = put_spans_of(&spans, irq_sql, put_irqs, error);
	fputs("]}", page);
	if (fclose(page) && !status)
		status = error_set(error, "report: no memory for the page");
	if (!status && spans.count && spans.count <= spans.most)
		fwrite(text, 1, size, report->page);
	free(text);
	return status ? -1 : spans.count <= spans.most ? (int64_t)spans.count : 0;
}

/* All spans where they are few, else those around the slowest requests that fit. */
static int put_spans(struct report *report, struct error *error)
{
	const struct activity *activity = &report->activity;
	struct spans spans = {.begin_ns = report->begin_ns,
			      .end_ns = report->end_ns,
			      .most = report->detail};
	int64_t count = 0;

	fputs(",\n\"exact\":[", report->page);
	if (activity->runs + activity->irqs <= report->detail)
		count = put_window(report, spans, 0, true, error);
	report->is_exact = count > 0;
	for (size_t i = 0, put = 0; i < report->requests && !report->is_exact; i++) {
		const struct node_request *request = &report->request[i];
		nsec_t margin = (request->end_ns - request->begin_ns) / 3 + 1000;

		/* A window around each request, with a third of it before and after. */
		spans.begin_ns = request->begin_ns - margin;
		spans.end_ns = request->end_ns + margin;
		if (spans.begin_ns < report->begin_ns)
			spans.begin_ns = report->begin_ns;
		if (spans.end_ns > report->end_ns)
			spans.end_ns = report->end_ns;
		count = put_window(report, spans, request->id, put == 0, error);
		if (count < 0)
			return -1;
		spans.most -= (size_t)count;
		put += count > 0;
	}
	fputs("],\n\"handlers\":[", report->page);
	for (size_t i = 0; i < activity->handlers; i++) {
		const struct activity_handler *handler = &activity->handler[i];

		fprintf(report->page, "%s[%" PRId64 ",%" PRId64 ",", i ? "," : "",
			handler->soft, handler->number);
		html_json(report->page, handler->name ? handler->name : "");
		fputc(']', report->page);
	}
	fputc(']', report->page);
	return count < 0 ? -1 : 0;
}

/* ---- messages, and curves: the clocks' bounds, and sar's samples */

static void put_curves(const struct report *report)
{
	static const char *const curves[][2] = {
	    {"Bound of the clocks, \xc2\xb1", "ns"},
	    {"CPU busy (sar)", "%"},
	    {"Memory in use (sar)", "bytes"},
	    {"Disks, read and written (sar)", "bytes/s"},
	    {"Network, in and out (sar)", "bytes/s"}};
	const struct result_table *rows = report_table(report, ANSWER_LINES, "curves");
	size_t row = 0;

	fputs(",\n\"curves\":[", report->page);
	for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
		fprintf(report->page, "%s{\"title\":\"%s\",\"unit\":\"%s\",\"rows\":[",
			i ? ",\n" : "", curves[i][0], curves[i][1]);
		row = html_rows_of(report->page, rows, row, (int64_t)i);
		fputs("]}", report->page);
	}
	fputc(']', report->page);
}

/* ---- the section */

static void tell_reduction(const struct report *report)
{
	const struct activity *activity = &report->activity;
	const struct result_table *messages =
	    report_table(report, ANSWER_LINES, "messages");
	const double step_ns = report_number(report_cell(messages, 0, "step_ns"), 0);
	char text[PRINT_TEXT];

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
			  report_table(report, ANSWER_LINES, "links")->rows,
			  report_number(report_cell(messages, 0, "messages"), 0),
			  html_span(text, step_ns));
}

int report_timeline(struct report *report, struct error *error)
{
	FILE *page = report->page;

	html_section(page, "timeline", "Timeline of the cluster");
	if (report->is_empty) {
		html_note(page, "nothing was recorded");
		html_section_end(page);
		return 0;
	}
	fputs(
	    "<div id=\"view\"></div>\n<noscript><p class=\"note\">Pictures are "
	    "drawn by a script, and scripts are off. Tables are below.</p></noscript>\n",
	    page);
	fprintf(page,
		"<script type=\"application/json\" id=\"data\">\n{\"span\":%" PRId64
		",\"home\":[%" PRId64 ",%" PRId64 "],\"beginMs\":%" PRId64,
		report->end_ns - report->begin_ns,
		report_offset(report, report->home_begin_ns),
		report_offset(report, report->home_end_ns), report->begin_ns / 1000000);
	put_lanes(report);
	put_threads(report);
	if (put_spans(report, error))
		return -1;
	fputs(",\n\"gaps\":[", page);
	html_rows(page, report_table(report, ANSWER_LINES, "gaps"));
	fputs("],\n\"links\":[", page);
	html_rows(page, report_table(report, ANSWER_LINES, "links"));
	fputc(']', page);
	put_curves(report);
	fputs("}\n</script>\n", page);
	tell_reduction(report);
	html_section_end(page);
	return 0;
}
