/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/critical/node_request.h"

const char assumed_note[] =
    "interrupts are not recorded: what follows a packet's receive on its processor, "
    "within 500 us and before a switch, is taken to be its doing, other waits stay "
    "unknown (enable irq_handler_entry and _exit, irq_softirq_entry and _exit)";

#define REQUEST                                                                          \
	"SELECT r.id, r.last_message, r.client, r.server, r.client_tid, r.server_port,"  \
	" r.begin_ns, r.end_ns, r.bound_ns FROM request AS r "

static const char slowest_sql[] =
    REQUEST "WHERE r.begin_ns >= ? AND r.responded_ns <= ?"
	    " ORDER BY r.end_ns - r.begin_ns DESC, r.begin_ns, r.id";

/* Its flow's last one before the message, unless that came after all of it. */
static const char of_message_sql[] = REQUEST
    "JOIN message AS m ON m.id = ?1 WHERE r.id <= m.id AND r.protocol = m.protocol"
    " AND ((r.client_address = m.src AND r.server_address = m.dst"
    " AND r.client_port IS m.sport AND r.server_port IS m.dport)"
    " OR (r.client_address = m.dst AND r.server_address = m.src"
    " AND r.client_port IS m.dport AND r.server_port IS m.sport))"
    " ORDER BY r.id DESC LIMIT 1";

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static struct node_request read_request(const struct cell *row)
{
	return (struct node_request){
	    .id = row[0].integer,
	    .last_message = integer(&row[1], 0),
	    .client = integer(&row[2], -1),
	    .server = integer(&row[3], -1),
	    .client_tid = integer(&row[4], -1),
	    .server_port = integer(&row[5], -1),
	    .begin_ns = row[6].integer,
	    .end_ns = integer(&row[7], NSEC_MIN),
	    .bound_ns = integer(&row[8], NSEC_MAX),
	};
}

int node_requests_slowest(struct node_request *request, int most,
			  struct question *question, struct error *error)
{
	const struct scope *scope = &question->scope;
	const struct cell span[] = {{.type = CELL_INTEGER, .integer = scope->begin_ns},
				    {.type = CELL_INTEGER, .integer = scope->end_ns}};
	struct timeline_query *query =
	    timeline_query_new(question->reader, slowest_sql, error);
	int more = query && !timeline_query_ask(query, span, 2, error) ? 1 : -1;
	int count = 0;

	while (count < most && more > 0 &&
	       (more = timeline_query_next(query, error)) > 0) {
		request[count] = read_request(timeline_query_row(query));
		count += scope_has_node(scope, request[count].client) ||
			 scope_has_node(scope, request[count].server);
	}
	timeline_query_free(query);
	return more < 0 ? -1 : count;
}

int node_request_of(struct node_request *request, int64_t message,
		    struct question *question, struct error *error)
{
	const struct cell key = {.type = CELL_INTEGER, .integer = message};
	struct timeline_query *query =
	    timeline_query_new(question->reader, of_message_sql, error);
	int more = query && !timeline_query_ask(query, &key, 1, error)
		       ? timeline_query_next(query, error)
		       : -1;

	if (more > 0) {
		*request = read_request(timeline_query_row(query));
		more = request->last_message >= message;
	}
	timeline_query_free(query);
	return more;
}

int node_request_path(struct path *path, struct history *history,
		      const struct node_request *request)
{
	const struct path_start start = {
	    .node = request->client,
	    .tid = request->client_tid,
	    .begin_ns = request->begin_ns,
	    .end_ns = request->end_ns,
	    .message = request->last_message,
	};

	return path_walk(path, history, &start);
}
