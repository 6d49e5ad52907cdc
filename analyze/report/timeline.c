/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cluster's timeline as data for the page's script, and what stands around it. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/html.h"
#include "base/intmap.h"
#include "base/mem.h"

enum {
	MOST_THREADS = 2000, /* with a name in the page; they are ranked by time */
	MOST_LINKS = 2000,   /* messages that are drawn */
	MOST_POINTS = 40000, /* of all curves */
	FEWEST_POINTS = 60,  /* of one */
	BOUND_POINTS = 120,
};

/* 12 bits, as the script reads them; more than 4094 is not known. */
static void put_pair(FILE *page, double value)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	int number = value >= 0 && value < 4094.5 ? (int)(value + 0.5) : 4095;

	fputc(digits[number / 64], page);
	fputc(digits[number % 64], page);
}

static nsec_t offset(const struct report *report, nsec_t at_ns)
{
	return nsec_sub(at_ns, report->begin_ns);
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

/* What was not recorded of the node: [from, until], ... */
static void put_gaps(const struct report *report, int64_t node)
{
	const struct recorded *recorded = &report->question->scope.recorded;
	nsec_t at = report->begin_ns, until;
	bool first = true;

	fputs(",\"gaps\":[", report->page);
	while (recorded_gap(recorded, node, &at, report->end_ns, &until)) {
		fprintf(report->page, "%s[%" PRId64 ",%" PRId64 "]", first ? "" : ",",
			offset(report, at), offset(report, until));
		first = false;
		at = until;
	}
	fputc(']', report->page);
}

static size_t node_index(const struct report *report, int64_t node)
{
	const struct scope *scope = &report->question->scope;
	size_t at = 0;

	for (size_t i = 0; i < scope->nodes && scope->node[i].id != node; i++)
		at += scope->node[i].chosen;
	return at;
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
			node_index(report, lane->node), lane->cpu);
		put_gaps(report, lane->node);
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
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const struct activity *activity = &report->activity;
	FILE *page = report->page;

	fprintf(page, ",\n\"stripNs\":%" PRId64 ",\"threads\":[", activity->strip_ns);
	for (size_t i = 0; i < activity->threads && i < MOST_THREADS; i++) {
		const struct activity_thread *thread =
		    &activity->thread[activity->order[i]];
		const struct thread_facts *facts = question_thread(
		    report->question, thread->node, thread->tid, thread->first_ns);

		fprintf(page, "%s[%zu,%" PRId64 ",", i ? ",\n" : "",
			node_index(report, thread->node), thread->tid);
		html_json(page, thread->name);
		fputc(',', page);
		html_json(page, facts ? facts->process : "");
		fprintf(page, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",\"", thread->busy_ns,
			offset(report, thread->first_ns),
			offset(report, thread->last_ns));
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
	struct report *report;
	const struct activity_window *window;
	FILE *page; /* of the window */
	size_t rank;
	int64_t lane;
	nsec_t at_ns; /* what was put ends here */
	size_t count, most;
	bool first_of; /* of the thread or handler at hand */
};

static const char state_sql[] =
    "SELECT begin_ns, end_ns, state_code, coalesce(cpu, -1), CASE state_code WHEN 1 THEN"
    " coalesce(priority, -1) ELSE coalesce(waker_tid, -1) END, CASE wait WHEN 'disk' "
    "THEN 1"
    " WHEN 'network' THEN 2 WHEN 'timer' THEN 3 WHEN 'interrupt' THEN 4 WHEN 'thread'"
    " THEN 5 ELSE 0 END, comm FROM thread_state WHERE node = ?1 AND tid = ?2"
    " AND begin_ns < ?4 AND begin_ns >= coalesce((SELECT begin_ns FROM thread_state"
    " WHERE node = ?1 AND tid = ?2 AND begin_ns <= ?3 ORDER BY begin_ns DESC LIMIT 1), "
    "?3)"
    " AND end_ns > ?3 AND state_code < 5 ORDER BY begin_ns, id";

/* gap, length: both as the script adds them up, cut at the window's begin. */
static void put_step(struct spans *spans, nsec_t begin_ns, nsec_t end_ns)
{
	if (begin_ns < spans->window->begin_ns)
		begin_ns = spans->window->begin_ns;
	if (end_ns > spans->window->end_ns)
		end_ns = spans->window->end_ns;
	fprintf(spans->page, ",%" PRId64 ",%" PRId64, begin_ns - spans->at_ns,
		end_ns - begin_ns);
	spans->at_ns = end_ns;
	spans->count++;
}

/* gap, length, state + 8 * wait, cpu, priority or waker */
static int put_state(void *context, const struct cell *row)
{
	struct spans *spans = context;

	if (spans->first_of) {
		fprintf(spans->page, "%s[%zu", spans->count ? ",\n" : "", spans->rank);
		spans->first_of = false;
	}
	put_step(spans, row[0].integer, row[1].integer);
	fprintf(spans->page, ",%" PRId64 ",%" PRId64 ",%" PRId64,
		row[2].integer + 8 * row[5].integer, row[3].integer, row[4].integer);
	return spans->count > spans->most;
}

/* Of each thread that has a name in the page, the spans of the window. Those under
 * another name of the same thread are its as well: they come once. */
static int put_states(struct spans *spans, struct error *error)
{
	struct report *report = spans->report;
	const struct activity *activity = &report->activity;
	struct timeline_query *query =
	    timeline_query_new(report->question->reader, state_sql, error);
	int more = query ? 0 : -1;

	for (size_t i = 0;
	     i < activity->threads && more >= 0 && spans->count <= spans->most; i++) {
		const struct activity_thread *thread = &activity->thread[i];
		const struct cell values[] = {cell_of_integer(thread->node),
					      cell_of_integer(thread->tid),
					      cell_of_integer(spans->window->begin_ns),
					      cell_of_integer(spans->window->end_ns)};
		const struct activity_thread *next = thread + 1;

		if (thread->rank >= MOST_THREADS ||
		    (i + 1 < activity->threads && next->node == thread->node &&
		     next->tid == thread->tid && next->rank < MOST_THREADS))
			continue;
		spans->rank = thread->rank;
		spans->first_of = true;
		spans->at_ns = spans->window->begin_ns;
		more = timeline_query_ask(query, values, 4, error);
		while (!more && (more = timeline_query_next(query, error)) > 0)
			more = put_state(spans, timeline_query_row(query)) ? 2 : 0;
		if (!spans->first_of)
			fputc(']', spans->page);
		more = more > 0 ? 0 : more;
	}
	timeline_query_free(query);
	return more < 0 ? -1 : 0;
}

/* [handler, lane, gap, length, ...] */
static void put_irqs(struct spans *spans)
{
	const struct activity *activity = &spans->report->activity;
	const struct activity_irq *before = NULL;

	for (size_t i = 0; i < activity->kept; i++) {
		const struct activity_irq *irq = &activity->irq[i];

		if (irq->begin_ns >= spans->window->end_ns ||
		    irq->end_ns <= spans->window->begin_ns)
			continue;
		if (!before || before->handler != irq->handler ||
		    before->cpu != irq->cpu) {
			spans->at_ns = spans->window->begin_ns;
			fprintf(spans->page, "%s[%zu,%zu", before ? "],\n" : "",
				irq->handler,
				activity_lane(activity, irq->node, irq->cpu));
		}
		put_step(spans, irq->begin_ns, irq->end_ns);
		before = irq;
	}
	if (before)
		fputc(']', spans->page);
}

/* One window; what is too much for `left` is not put. How many spans, or -1. */
static int64_t put_window(struct report *report, const struct activity_window *window,
			  size_t left, bool first, struct error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *page = open_memstream(&text, &size);
	struct spans spans = {
	    .report = report, .window = window, .page = page, .most = left};
	int status;

	if (!page)
		return error_set(error, "report: no memory for the page");
	fprintf(page,
		"%s{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"request\":%" PRId64
		",\n\"states\":[",
		first ? "" : ",\n", offset(report, window->begin_ns),
		offset(report, window->end_ns), window->request);
	status = put_states(&spans, error);
	fputs("],\n\"irqs\":[", page);
	put_irqs(&spans);
	fputs("]}", page);
	if (fclose(page) && !status)
		status = error_set(error, "report: no memory for the page");
	if (!status && spans.count <= left)
		fwrite(text, 1, size, report->page);
	free(text);
	return status ? -1 : spans.count <= left ? (int64_t)spans.count : 0;
}

/* All spans where they are few, else those around the slowest requests that fit. */
static int put_spans(struct report *report, struct error *error)
{
	const struct activity *activity = &report->activity;
	size_t left = report->detail;
	struct activity_window whole = {report->begin_ns, report->end_ns, 0};
	int64_t count = 0;

	fputs(",\n\"exact\":[", report->page);
	if (activity->runs + activity->irqs <= left)
		count = put_window(report, &whole, left, true, error);
	report->is_exact = count > 0;
	for (size_t i = 0, put = 0; i < report->requests && !report->is_exact; i++) {
		count = put_window(report, &report->window[i], left, put == 0, error);
		if (count < 0)
			return -1;
		left -= (size_t)count;
		put += count > 0;
	}
	fputs("],\n\"handlers\":[", report->page);
	for (size_t i = 0; i < activity->handlers; i++) {
		const struct activity_handler *handler = &activity->handler[i];

		fprintf(report->page, "%s[%d,%" PRId64 ",", i ? "," : "", handler->soft,
			handler->number);
		html_json(report->page, handler->name ? handler->name : "");
		fputc(']', report->page);
	}
	fputc(']', report->page);
	return count < 0 ? -1 : 0;
}

/* ---- messages */

#define SECOND_VIEW                                                                      \
	"(SELECT s.id FROM source AS s WHERE s.kind <> 'kernel' AND EXISTS ("            \
	"SELECT 1 FROM source AS k WHERE k.node = s.node AND k.kind = 'kernel'"          \
	" AND k.id IN (SELECT a FROM clock_pair UNION SELECT b FROM clock_pair)))"

/*
 * The messages between nodes that count, as `messages` has them: what a capture saw
 * besides its node's kernel trace is left out.
 */
static const char message_sql[] =
    "SELECT " TIMELINE_ROW "(id, src_node, dst_node, send_ns, recv_ns) FROM message"
    " WHERE src_node <> dst_node AND recv_ns IS NOT NULL AND send_ns BETWEEN ?1 AND ?2"
    " AND coalesce(send_source, 0) NOT IN " SECOND_VIEW
    " AND coalesce(recv_source, 0) NOT IN " SECOND_VIEW;

static const char fields_sql[] = "SELECT (SELECT cpu FROM event WHERE id = send_event),"
				 " (SELECT cpu FROM event WHERE id = recv_event), "
				 "low_ns, high_ns, bytes, sport, dport,"
				 " protocol FROM message WHERE id = ?";

static int64_t integer_of(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

/* Messages lie by send_ns: of each pair of nodes and direction the last link that was
 * added is that of the step at hand. */
struct link_reading {
	struct report *report;
	struct question *question;
	struct intmap last; /* by pair */
};

static nsec_t latency_of(const struct report_link *link)
{
	return link->recv_ns - link->send_ns;
}

static int add_link(void *context, const struct cell *row, struct error *error)
{
	struct link_reading *reading = context;
	struct report *report = reading->report;
	const struct scope *scope = &reading->question->scope;
	int64_t from = row[1].integer, to = row[2].integer;
	struct report_link link = {.id = row[0].integer,
				   .from = from,
				   .to = to,
				   .send_ns = row[3].integer,
				   .recv_ns = row[4].integer};
	uint64_t pair = (uint64_t)from << 32 | (uint64_t)to;
	nsec_t step = report->link_step_ns;
	int64_t last;

	(void)error;
	if (!scope_has_node(scope, from) && !scope_has_node(scope, to))
		return 0;
	report->messages++;
	if (step && intmap_get(&reading->last, pair, &last)) {
		struct report_link *other = &report->link[last];

		if ((other->send_ns - report->begin_ns) / step ==
		    (link.send_ns - report->begin_ns) / step) {
			if (latency_of(&link) > latency_of(other))
				*other = link;
			return 0;
		}
	}
	report->link = mem_grow(report->link, report->links, &report->link_capacity,
				sizeof(*report->link));
	intmap_put(&reading->last, pair, (int64_t)report->links);
	report->link[report->links++] = link;
	return 0;
}

static int compare_links(const void *a, const void *b)
{
	const struct report_link *x = a, *y = b;

	if (latency_of(x) != latency_of(y))
		return latency_of(x) > latency_of(y) ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* What is told of a message that is drawn. */
static int read_fields(struct report_link *link, struct timeline_query *query,
		       struct error *error)
{
	const struct cell id = cell_of_integer(link->id);
	const struct cell *row;

	if (timeline_query_ask(query, &id, 1, error) ||
	    timeline_query_next(query, error) <= 0)
		return -1;
	row = timeline_query_row(query);
	link->from_cpu = integer_of(&row[0], -1);
	link->to_cpu = integer_of(&row[1], -1);
	link->low_ns = integer_of(&row[2], NSEC_MIN);
	link->high_ns = integer_of(&row[3], NSEC_MAX);
	link->bytes = integer_of(&row[4], -1);
	link->sport = integer_of(&row[5], -1);
	link->dport = integer_of(&row[6], -1);
	if (row[7].type == CELL_TEXT)
		snprintf(link->protocol, sizeof(link->protocol), "%s", row[7].bytes);
	return 0;
}

static int take_counts(void *context, const struct cell *row)
{
	int64_t *counts = context;

	counts[0] = integer_of(&row[0], 0);
	counts[1] = integer_of(&row[1], 0);
	return 0;
}

/* Of many messages the slowest in each step. */
static int set_step(struct report *report, struct question *question, struct error *error)
{
	static const char count_sql[] =
	    "SELECT (SELECT count(*) FROM message WHERE send_ns BETWEEN ?1 AND ?2),"
	    " (SELECT count(*) FROM (SELECT DISTINCT a.node, b.node FROM clock_pair AS p"
	    " JOIN source AS a ON a.id = p.a JOIN source AS b ON b.id = p.b))";
	const struct cell values[] = {cell_of_integer(report->begin_ns),
				      cell_of_integer(report->end_ns)};
	int64_t counts[2] = {0, 1}, ways;

	if (question_ask(question, count_sql, values, take_counts, counts, error))
		return -1;
	ways = counts[1] > 0 ? 2 * counts[1] : 2;
	if (counts[0] > MOST_LINKS)
		report->link_step_ns =
		    nsec_sub(report->end_ns, report->begin_ns) / (MOST_LINKS / ways + 1) +
		    1;
	return 0;
}

int report_links_read(struct report *report, struct question *question,
		      struct error *error)
{
	struct link_reading reading = {.report = report, .question = question};
	const struct cell values[] = {cell_of_integer(report->begin_ns),
				      cell_of_integer(report->end_ns)};
	struct timeline_query *all, *fields;
	int status = set_step(report, question, error);

	if (status)
		return -1;
	all = timeline_query_new(question->reader, message_sql, error);
	fields = timeline_query_new(question->reader, fields_sql, error);
	status = !all || !fields || timeline_query_ask(all, values, 2, error) ||
			 timeline_query_each(all, add_link, &reading, error)
		     ? -1
		     : 0;
	qsort(report->link, report->links, sizeof(*report->link), compare_links);
	if (report->links > 2 * MOST_LINKS)
		report->links = 2 * MOST_LINKS;
	for (size_t i = 0; i < report->links && !status; i++)
		status = read_fields(&report->link[i], fields, error);
	timeline_query_free(fields);
	timeline_query_free(all);
	intmap_clear(&reading.last);
	return status;
}

/* [id, from lane, to lane, sent, received, low, high, bytes, port, port, protocol] */
static void put_links(const struct report *report)
{
	size_t put = 0;

	fputs(",\n\"links\":[", report->page);
	for (size_t i = 0; i < report->links; i++) {
		const struct report_link *link = &report->link[i];
		size_t from =
		    activity_lane(&report->activity, link->from, link->from_cpu);
		size_t to = activity_lane(&report->activity, link->to, link->to_cpu);

		if (from == SIZE_MAX || to == SIZE_MAX)
			continue;
		fprintf(report->page, "%s[%" PRId64 ",%zu,%zu,%" PRId64 ",%" PRId64 ",",
			put++ ? ",\n" : "", link->id, from, to,
			offset(report, link->send_ns), offset(report, link->recv_ns));
		if (link->low_ns == NSEC_MIN || link->high_ns == NSEC_MAX)
			fputs("null,null", report->page);
		else
			fprintf(report->page, "%" PRId64 ",%" PRId64, link->low_ns,
				link->high_ns);
		fprintf(report->page, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
			link->bytes, link->sport, link->dport);
		html_json(report->page, link->protocol);
		fputc(']', report->page);
	}
	fprintf(report->page, "],\"messages\":%" PRId64 ",\"linkStepNs\":%" PRId64,
		report->messages, report->link_step_ns);
}

/* ---- curves */

static const struct curve {
	const char *title, *unit;
	const char *sql; /* node, end, interval, value; by node and end */
} curves[] = {
    {"CPU busy (sar)", "%",
     "SELECT s.node, s.ts_ns, s.interval_ns, 100 - s.value FROM metric AS m "
     "JOIN sample AS s ON s.metric = m.id JOIN metric_item AS i ON i.id = s.item "
     "WHERE m.activity = 'cpu' AND m.name = '%idle' AND i.name = 'all' "
     "AND s.value IS NOT NULL ORDER BY s.node, s.ts_ns"},
    {"Memory in use (sar)", "bytes",
     "SELECT s.node, s.ts_ns, s.interval_ns, s.value * 1024 FROM metric AS m "
     "JOIN sample AS s ON s.metric = m.id WHERE m.activity = 'memory' "
     "AND m.name = 'kbmemused' AND s.value IS NOT NULL ORDER BY s.node, s.ts_ns"},
#define SUMMED(activity, names)                                                          \
	"SELECT s.node, s.ts_ns, max(s.interval_ns), sum(s.value) * 1024 "               \
	"FROM metric AS m JOIN sample AS s ON s.metric = m.id "                          \
	"JOIN metric_item AS i ON i.id = s.item WHERE m.activity = '" activity "' "      \
	"AND m.name IN (" names ") AND i.name <> 'lo' AND i.name NOT LIKE 'loop%' "      \
	"AND i.name NOT LIKE 'dm-%' AND s.value IS NOT NULL "                            \
	"GROUP BY s.node, s.ts_ns ORDER BY s.node, s.ts_ns"
    {"Disks, read and written (sar)", "bytes/s", SUMMED("disk", "'rkB/s', 'wkB/s'")},
    {"Network, in and out (sar)", "bytes/s", SUMMED("net", "'rxkB/s', 'txkB/s'")},
};

struct curve_point {
	int64_t node;
	nsec_t end_ns, interval_ns;
	double value;
};

struct curve_reading {
	const struct report *report;
	struct curve_point *point;
	size_t count, capacity;
};

static int add_point(void *context, const struct cell *row)
{
	struct curve_reading *reading = context;
	const struct report *report = reading->report;
	nsec_t end = row[1].integer, interval = integer_of(&row[2], 0);

	interval = interval > 0 ? interval : NSEC_PER_SEC;
	if (!scope_has_node(&report->question->scope, row[0].integer) ||
	    end <= report->begin_ns || end - interval >= report->end_ns)
		return 0;
	reading->point = mem_grow(reading->point, reading->count, &reading->capacity,
				  sizeof(*reading->point));
	reading->point[reading->count++] =
	    (struct curve_point){row[0].integer, end, interval, report_number(row[3], 0)};
	return 0;
}

/* Of many points `merge` at a time become their mean by time, as long as none is missing
 * between them. */
static size_t put_curve_node(const struct report *report, const struct curve_point *point,
			     size_t count, size_t merge)
{
	const char *before = "";

	fprintf(report->page, "[%zu,[", node_index(report, point->node));
	for (size_t i = 0; i < count;) {
		nsec_t begin = point[i].end_ns - point[i].interval_ns,
		       end = point[i].end_ns;
		double sum = point[i].value * (double)point[i].interval_ns;
		double weight = (double)point[i].interval_ns;
		size_t k = 1;

		while (k < merge && i + k < count &&
		       point[i + k].end_ns - point[i + k].interval_ns <=
			   end + point[i].interval_ns / 2) {
			sum += point[i + k].value * (double)point[i + k].interval_ns;
			weight += (double)point[i + k].interval_ns;
			end = point[i + k].end_ns;
			k++;
		}
		fprintf(report->page, "%s%" PRId64 ",%" PRId64 ",%.5g", before,
			offset(report, begin), offset(report, end), sum / weight);
		before = ",";
		i += k;
	}
	fputs("]]", report->page);
	return count;
}

static void put_curve(const struct curve_reading *reading, const struct curve *curve)
{
	const struct report *report = reading->report;
	size_t nodes = report->question->scope.nodes;
	size_t most = MOST_POINTS / (4 * (nodes ? nodes : 1));
	size_t merge = 1;

	most = most < FEWEST_POINTS ? FEWEST_POINTS : most;
	if (reading->count > most * nodes)
		merge = (reading->count + most * nodes - 1) / (most * nodes);
	fprintf(report->page,
		",\n{\"title\":\"%s\",\"unit\":\"%s\",\"merged\":%zu,\"series\":[",
		curve->title, curve->unit, merge);
	for (size_t i = 0, count; i < reading->count; i += count) {
		const struct curve_point *point = &reading->point[i];

		for (count = 1; i + count < reading->count &&
				reading->point[i + count].node == point->node;)
			count++;
		if (i)
			fputc(',', report->page);
		put_curve_node(report, point, count, merge);
	}
	fputs("]}", report->page);
}

/* The clocks' bounds are a curve: the wider side, over time. */
static void put_bounds(const struct report *report)
{
	const struct scope *scope = &report->question->scope;
	nsec_t span = report->end_ns - report->begin_ns;
	const char *before = "";

	fputs("{\"title\":\"Bound of the clocks, \xc2\xb1\",\"unit\":\"ns\",\"merged\":1,"
	      "\"series\":[",
	      report->page);
	for (size_t i = 0; i < scope->nodes; i++) {
		const char *comma = "";

		if (!scope->node[i].chosen)
			continue;
		fprintf(report->page, "%s[%zu,[", before,
			node_index(report, scope->node[i].id));
		for (nsec_t k = 0; k < BOUND_POINTS; k++) {
			nsec_t from = (nsec_t)((double)span / BOUND_POINTS * (double)k);
			nsec_t to =
			    (nsec_t)((double)span / BOUND_POINTS * (double)(k + 1));
			nsec_t width = bound_width(
			    bounds_of_node(report->bounds, scope->node[i].id,
					   report->begin_ns + (from + to) / 2));

			if (width == NSEC_MAX)
				continue;
			fprintf(report->page, "%s%" PRId64 ",%" PRId64 ",%" PRId64, comma,
				from, to, width);
			comma = ",";
		}
		fputs("]]", report->page);
		before = ",\n";
	}
	fputs("]}", report->page);
}

int report_curves(struct report *report, struct error *error)
{
	fputs(",\n\"curves\":[", report->page);
	put_bounds(report);
	for (size_t i = 0; i < sizeof(curves) / sizeof(*curves); i++) {
		struct curve_reading reading = {.report = report};
		int status = question_ask(report->question, curves[i].sql, NULL,
					  add_point, &reading, error);

		if (!status && reading.count)
			put_curve(&reading, &curves[i]);
		free(reading.point);
		if (status)
			return -1;
	}
	fputc(']', report->page);
	return 0;
}

/* ---- the section */

static void tell_reduction(const struct report *report)
{
	const struct activity *activity = &report->activity;
	char text[PRINT_TEXT];

	if (!report->is_exact && activity->runs + activity->irqs)
		html_note(
		    report->page,
		    "%zu spans are summed by steps of %s. Where a step is wider than "
		    "some pixels, only the windows around the slowest requests, marked "
		    "above the lanes, show spans one by one; --detail asks for more.",
		    activity->runs + activity->irqs,
		    html_span(text, (double)activity->cell_ns));
	if (report->link_step_ns)
		html_note(report->page,
			  "%zu of %" PRId64
			  " messages are drawn: of each pair of nodes and "
			  "direction the slowest in each step of %s.",
			  report->links, report->messages,
			  html_span(text, (double)report->link_step_ns));
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
	fputs("<div id=\"view\"></div>\n<noscript><p class=\"note\">The timeline is "
	      "drawn by a "
	      "script, and scripts are off. All else is below.</p></noscript>\n",
	      page);
	fprintf(page,
		"<script type=\"application/json\" id=\"data\">\n{\"span\":%" PRId64
		",\"home\":[%" PRId64 ",%" PRId64 "],\"beginMs\":%" PRId64,
		report->end_ns - report->begin_ns, offset(report, report->home_begin_ns),
		offset(report, report->home_end_ns), report->begin_ns / 1000000);
	put_lanes(report);
	put_threads(report);
	if (put_spans(report, error))
		return -1;
	put_links(report);
	if (report_curves(report, error))
		return -1;
	fputs("}\n</script>\n", page);
	tell_reduction(report);
	html_section_end(page);
	return 0;
}
