/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The messages that the timeline draws. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/report/html.h"
#include "base/intmap.h"
#include "base/mem.h"

enum { MOST_LINKS = 2000 };

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
	if (report->links)
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
void report_links(const struct report *report)
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
			report_offset(report, link->send_ns),
			report_offset(report, link->recv_ns));
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
