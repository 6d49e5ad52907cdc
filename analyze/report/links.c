/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/report/links.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/keys.h"
#include "analyze/message_stream.h"
#include "analyze/print.h"
#include "analyze/report/chart.h"
#include "analyze/report/html.h"
#include "base/mem.h"

struct link {
	int64_t id, from, to, send_event, recv_event;
	nsec_t send_ns, recv_ns, latency_ns;
	char protocol[8];
	bool slow;
};

struct links {
	const struct report *report;
	uint64_t messages; /* of the scope */
	nsec_t step_ns;    /* 0: all are kept */
	struct keys kept;  /* step and pair, when there are steps */
	struct link *link;
	size_t count, room, drawn;
};

static struct link link_of(const struct message_row *row)
{
	struct link link = {.id = row->id,
			    .from = row->from,
			    .to = row->to,
			    .send_event = row->send_event,
			    .recv_event = row->recv_event,
			    .send_ns = row->send_ns,
			    .recv_ns = row->recv_ns,
			    .latency_ns = row->latency_ns};

	if (row->protocol->type == CELL_TEXT)
		snprintf(link.protocol, sizeof(link.protocol), "%s",
			 row->protocol->bytes);
	return link;
}

static int take(void *context, const struct message_row *row)
{
	struct links *links = context;
	size_t at = links->count;

	if (row->from == row->to)
		return 0;
	links->messages++;
	if (links->step_ns) {
		keys_begin(&links->kept);
		keys_integer(&links->kept,
			     (nsec_sub(row->send_ns, links->report->begin_ns)) /
				 links->step_ns);
		keys_integer(&links->kept, row->from);
		keys_integer(&links->kept, row->to);
		at = keys_find(&links->kept);
	}
	if (at == links->count) {
		links->link =
		    mem_grow(links->link, at, &links->room, sizeof(*links->link));
		links->link[links->count++] = link_of(row);
	} else if (row->latency_ns > links->link[at].latency_ns) {
		links->link[at] = link_of(row);
	}
	return 0;
}

static int take_number(void *context, const struct cell *row)
{
	*(int64_t *)context = row[0].type == CELL_INTEGER ? row[0].integer : -1;
	return 0;
}

static int set_step(struct links *links, struct error *error)
{
	static const char sql[] =
	    "SELECT count(*) FROM message WHERE send_ns BETWEEN ?1 AND ?2";
	static const char pair_sql[] =
	    "SELECT count(*) FROM (SELECT DISTINCT src_node, dst_node FROM message)";
	const struct report *report = links->report;
	const struct cell values[] = {cell_of_integer(report->begin_ns),
				      cell_of_integer(report->end_ns)};
	int64_t count = 0, pairs = 1;

	if (question_ask(report->question, sql, values, take_number, &count, error) ||
	    question_ask(report->question, pair_sql, NULL, take_number, &pairs, error))
		return -1;
	if (count > LINKS_ALL)
		links->step_ns = nsec_sub(report->end_ns, report->begin_ns) /
				     (LINKS_ALL / (pairs > 0 ? pairs : 1) + 1) +
				 1;
	return 0;
}

static int compare_latency(const void *a, const void *b)
{
	const struct link *x = a, *y = b;

	if (x->latency_ns != y->latency_ns)
		return x->latency_ns > y->latency_ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int cpu_of(const struct links *links, int64_t event, int64_t *cpu,
		  struct error *error)
{
	const struct cell value = cell_of_integer(event);

	*cpu = -1;
	return event ? question_ask(links->report->question,
				    "SELECT cpu FROM event WHERE id = ?1", &value,
				    take_number, cpu, error)
		     : 0;
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

static int draw_link(struct links *links, const struct link *link,
		     const struct lane_place *place, size_t places, struct error *error)
{
	FILE *page = links->report->page;
	struct question *question = links->report->question;
	struct cell latency = cell_of_integer(link->latency_ns);
	const struct lane_place *from, *to;
	char text[PRINT_TEXT];
	int64_t send_cpu, recv_cpu;
	double y1, y2;

	if (cpu_of(links, link->send_event, &send_cpu, error) ||
	    cpu_of(links, link->recv_event, &recv_cpu, error))
		return -1;
	from = find_place(place, places, link->from, send_cpu);
	to = find_place(place, places, link->to, recv_cpu);
	if (!from || !to)
		return 0;
	links->drawn++;
	y1 = from->y + (from->y < to->y ? from->height : 0);
	y2 = to->y + (from->y < to->y ? 0 : to->height);
	fprintf(page,
		"<path class=\"%s\" data-m=\"%" PRId64 "\" d=\"M%.0f %.1fL%.0f %.1f\">"
		"<title>",
		link->slow ? "slow" : "msg", link->id,
		chart_x(links->report, link->send_ns), y1,
		chart_x(links->report, link->recv_ns), y2);
	html_text(page, question_node(question, link->from));
	fputs(" \xe2\x86\x92 ", page);
	html_text(page, question_node(question, link->to));
	fputc(' ', page);
	html_text(page, link->protocol);
	fprintf(page, ", %s</title></path>\n",
		html_human(text, links->report, &latency, UNIT_SPAN));
	return 0;
}

int links_draw(const struct report *report, const struct lane_place *place, size_t places,
	       struct link_counts *counts, struct error *error)
{
	struct links links = {.report = report};
	int status = set_step(&links, error);

	if (!status)
		status =
		    message_stream(report->question, report->bounds, take, &links, error);
	if (!status && links.count) {
		qsort(links.link, links.count, sizeof(*links.link), compare_latency);
		for (size_t i = 0; i < links.count && i < LINKS_SLOWEST; i++)
			links.link[i].slow = true;
		for (size_t i = links.count; i-- && !status;)
			status = draw_link(&links, &links.link[i], place, places, error);
	}
	*counts = (struct link_counts){links.messages, links.drawn, links.step_ns};
	free(links.link);
	keys_clear(&links.kept);
	return status;
}
