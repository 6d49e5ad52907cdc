/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/links.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/print.h"
#include "analyze/report/chart.h"
#include "analyze/report/html.h"
#include "base/mem.h"

struct link {
	int64_t id, from, to, send_cpu, recv_cpu; /* -1: not known */
	nsec_t send_ns, recv_ns, latency_ns;
	char protocol[8];
};

struct links {
	const struct report *report;
	uint64_t messages; /* of the scope */
	nsec_t step_ns;    /* 0: all are drawn */
	struct link *link; /* the slowest first */
	size_t count, capacity, drawn;
};

/* Of each pair and direction the slowest in each step. SQLite takes the other columns of
 * the row that has the maximum. */
static const char slowest_sql[] =
    "SELECT id, src_node, dst_node, send_ns, recv_ns, latency_ns, protocol,"
    " (SELECT cpu FROM event WHERE event.id = send_event),"
    " (SELECT cpu FROM event WHERE event.id = recv_event), messages FROM ("
    "SELECT m.id, src_node, dst_node, send_ns, recv_ns, protocol, send_event, recv_event,"
    " max(latency_ns) AS latency_ns, count(*) AS messages " REPORT_MESSAGES
    " GROUP BY CASE WHEN ?3 > 0 THEN (send_ns - ?1) / ?3 ELSE m.id END, src_node,"
    " dst_node) ORDER BY latency_ns DESC, id";

static int64_t integer_of(const struct cell *cell)
{
	return cell->type == CELL_INTEGER ? cell->integer : -1;
}

static int add_link(void *context, const struct cell *row)
{
	struct links *links = context;
	const struct scope *scope = &links->report->question->scope;
	struct link *link;

	if (!scope_has_node(scope, row[1].integer) &&
	    !scope_has_node(scope, row[2].integer))
		return 0;
	links->messages += (uint64_t)row[9].integer;
	links->link =
	    mem_grow(links->link, links->count, &links->capacity, sizeof(*links->link));
	link = &links->link[links->count++];
	*link = (struct link){.id = row[0].integer,
			      .from = row[1].integer,
			      .to = row[2].integer,
			      .send_ns = row[3].integer,
			      .recv_ns = row[4].integer,
			      .latency_ns = row[5].integer,
			      .send_cpu = integer_of(&row[7]),
			      .recv_cpu = integer_of(&row[8])};
	if (row[6].type == CELL_TEXT)
		snprintf(link->protocol, sizeof(link->protocol), "%s", row[6].bytes);
	return 0;
}

static int take_number(void *context, const struct cell *row)
{
	*(int64_t *)context = row[0].type == CELL_INTEGER ? row[0].integer : -1;
	return 0;
}

static int read_links(struct links *links, struct error *error)
{
	static const char sql[] =
	    "SELECT count(*) FROM message WHERE send_ns BETWEEN ?1 AND ?2";
	static const char pair_sql[] =
	    "SELECT count(*) FROM (SELECT DISTINCT src_node, dst_node FROM message)";
	const struct report *report = links->report;
	struct cell values[] = {cell_of_integer(report->begin_ns),
				cell_of_integer(report->end_ns), cell_of_integer(0)};
	int64_t count = 0, pairs = 1;

	if (question_ask(report->question, sql, values, take_number, &count, error) ||
	    question_ask(report->question, pair_sql, NULL, take_number, &pairs, error))
		return -1;
	if (count > LINKS_ALL)
		links->step_ns = nsec_sub(report->end_ns, report->begin_ns) /
				     (LINKS_ALL / (pairs > 0 ? pairs : 1) + 1) +
				 1;
	values[2].integer = links->step_ns;
	return question_ask(report->question, slowest_sql, values, add_link, links,
			    error);
}

/* The lane of the processor, or the first of the node; NULL: none. */
static const struct lane_place *find_place(const struct lane_place *place, size_t places,
					   int64_t node, int64_t cpu)
{
	const struct lane_place *found = NULL;

	for (size_t i = 0; i < places; i++)
		if (place[i].node == node &&
		    (!found || place[i].cpu == cpu ||
		     (found->cpu != cpu && place[i].cpu < found->cpu)))
			found = &place[i];
	return found;
}

static void draw_link(struct links *links, size_t index, const struct lane_place *place,
		      size_t places)
{
	const struct link *link = &links->link[index];
	FILE *page = links->report->page;
	struct question *question = links->report->question;
	struct cell latency = cell_of_integer(link->latency_ns);
	const struct lane_place *from =
	    find_place(place, places, link->from, link->send_cpu);
	const struct lane_place *to = find_place(place, places, link->to, link->recv_cpu);
	char text[PRINT_TEXT];
	double y1, y2;

	if (!from || !to)
		return;
	links->drawn++;
	y1 = from->y + (from->y < to->y ? from->height : 0);
	y2 = to->y + (from->y < to->y ? 0 : to->height);
	fprintf(page,
		"<path class=\"%s\" data-m=\"%" PRId64 "\" d=\"M%.0f %.1fL%.0f %.1f\">"
		"<title>",
		index < LINKS_SLOWEST ? "slow" : "msg", link->id,
		chart_x(links->report, link->send_ns), y1,
		chart_x(links->report, link->recv_ns), y2);
	html_text(page, question_node(question, link->from));
	fputs(" \xe2\x86\x92 ", page);
	html_text(page, question_node(question, link->to));
	fputc(' ', page);
	html_text(page, link->protocol);
	fprintf(page, ", %s</title></path>\n",
		html_human(text, links->report, &latency, UNIT_SPAN));
}

int links_draw(const struct report *report, const struct lane_place *place, size_t places,
	       struct link_counts *counts, struct error *error)
{
	struct links links = {.report = report};
	int status = read_links(&links, error);

	for (size_t i = links.count; i-- && !status;) /* the slowest on top */
		draw_link(&links, i, place, places);
	*counts = (struct link_counts){links.messages, links.drawn, links.step_ns};
	free(links.link);
	return status;
}
