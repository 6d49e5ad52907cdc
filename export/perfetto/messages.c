/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages: an instant where it was sent, one where it was received, and an arrow
 * between them. An end that is not within the scope is not there, and an arrow has
 * two; then the instant says where the other one is.
 */
#include <stdlib.h>

#include "export/perfetto/perfetto.h"
#include "timeline/query.h"

enum column {
	ID,
	PROTOCOL,
	SRC_NODE,
	DST_NODE,
	SEND_NS,
	RECV_NS,
	SOURCE,
	DESTINATION,
	SEQ,
	BYTES,
	SEND_EVENT,
	RECV_EVENT,
	SEND_TID,
	RECV_TID,
};

/* "10.0.0.1:80", "[fd00::1]:80", or the address alone. */
#define PEER(address, port)                                                              \
	"CASE WHEN " port " IS NULL THEN " address " WHEN instr(" address ", ':')"       \
	" THEN '[' || " address " || ']:' || " port " ELSE " address " || ':' || " port  \
	" END"

static const char messages_sql[] =
    "SELECT m.id, coalesce(nullif(m.protocol, ''), 'message'), m.src_node, m.dst_node,"
    " m.send_ns, m.recv_ns, " PEER("m.src", "m.sport") ", " PEER(
	"m.dst",
	"m.dport") ", m.seq, m.bytes, m.send_event, m.recv_event, s.tid, r.tid FROM "
		   "message AS m"
		   " LEFT JOIN event AS s ON s.id = m.send_event"
		   " LEFT JOIN event AS r ON r.id = m.recv_event"
		   " WHERE m.send_ns BETWEEN ?1 AND ?2 OR m.recv_ns BETWEEN ?1 AND ?2"
		   " ORDER BY m.id";

struct end {
	const struct scope_node *node; /* NULL: not known */
	nsec_t at_ns;
	bool inside; /* it is drawn */
};

static struct end end_of(const struct perfetto *perfetto, const struct cell *node,
			 const struct cell *at)
{
	const struct scope *scope = perfetto->scope;
	struct end end = {0};

	if (node->type != CELL_INTEGER || at->type != CELL_INTEGER)
		return end;
	end.node = scope_find(scope, node->integer);
	end.at_ns = at->integer;
	end.inside = end.node && end.node->chosen && end.at_ns >= scope->begin_ns &&
		     end.at_ns <= scope->end_ns;
	return end;
}

static void add_cell(struct perfetto_event *event, const char *name,
		     const struct cell *cell)
{
	if (cell->type == CELL_INTEGER)
		perfetto_add_integer(event, name, cell->integer);
}

static int add_end(const struct perfetto *perfetto, struct perfetto_event event,
		   bool is_send, const struct end *own, const struct end *other)
{
	event.instant = true;
	event.begin_ns = event.end_ns = own->at_ns;
	if (other->node)
		perfetto_add_text(&event, is_send ? "to" : "from", other->node->name);
	if (!other->inside)
		perfetto_add_text(&event, is_send ? "received" : "sent",
				  !other->node          ? "at a time not known"
				  : other->node->chosen ? "outside of this export's time"
							: "at a node left out");
	event.place =
	    *perfetto_rows_lane(perfetto->rows, is_send ? ROW_SENT : ROW_RECEIVED,
				own->node->id, 0, NSEC_MAX, NSEC_MIN);
	return perfetto_write_event(perfetto->writer, &event);
}

/* An arrow goes from the earlier end, or else viewers draw none. */
static int add_ends(const struct perfetto *perfetto, struct perfetto_event *event,
		    const struct end *sent, const struct end *received,
		    const struct cell *row)
{
	bool both = sent->inside && received->inside;
	bool is_backward = received->at_ns < sent->at_ns;
	struct perfetto_event end;

	if (sent->inside) {
		end = *event;
		if (both)
			end.end = is_backward ? PERFETTO_LAST_END : PERFETTO_FIRST_END;
		add_cell(&end, "tid", &row[SEND_TID]);
		add_cell(&end, "event", &row[SEND_EVENT]);
		if (add_end(perfetto, end, true, sent, received))
			return -1;
	}
	if (received->inside) {
		end = *event;
		if (both)
			end.end = is_backward ? PERFETTO_FIRST_END : PERFETTO_LAST_END;
		add_cell(&end, "tid", &row[RECV_TID]);
		add_cell(&end, "event", &row[RECV_EVENT]);
		if (add_end(perfetto, end, false, received, sent))
			return -1;
	}
	return 0;
}

static int add_message(void *context, const struct cell *row, struct error *error)
{
	const struct perfetto *perfetto = context;
	struct end sent = end_of(perfetto, &row[SRC_NODE], &row[SEND_NS]);
	struct end received = end_of(perfetto, &row[DST_NODE], &row[RECV_NS]);
	char *protocol = cell_text(&row[PROTOCOL]), *source = cell_text(&row[SOURCE]);
	char *destination = cell_text(&row[DESTINATION]);
	struct perfetto_event event = {
	    .category = "message", .name = protocol, .flow = (uint64_t)row[ID].integer};
	int status;

	(void)error;
	progress_update(perfetto->progress, "ctexport perfetto", perfetto->writer->events,
			0, 0);
	perfetto_add_integer(&event, "message", row[ID].integer);
	perfetto_add_text(&event, "source", source);
	perfetto_add_text(&event, "destination", destination);
	add_cell(&event, "bytes", &row[BYTES]);
	add_cell(&event, "seq", &row[SEQ]);
	if (sent.node && received.node)
		perfetto_add_integer(&event, "latency ns",
				     nsec_sub(received.at_ns, sent.at_ns));
	status = add_ends(perfetto, &event, &sent, &received, row);
	free(protocol);
	free(source);
	free(destination);
	return status;
}

int perfetto_add_messages(struct perfetto *perfetto, struct error *error)
{
	return query_scope(perfetto->timeline, perfetto->scope, messages_sql, add_message,
			   perfetto, error);
}
