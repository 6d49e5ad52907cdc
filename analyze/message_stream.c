/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/message_stream.h"

#include <stdlib.h>

#include "base/mem.h"

struct stream {
	struct question *question;
	const struct bounds *bounds;
	int (*take)(void *context, const struct message_row *row);
	void *context;
};

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static int take_row(void *context, const struct cell *row)
{
	struct stream *stream = context;
	const struct scope *scope = &stream->question->scope;
	struct message_row message = {
	    .id = integer(&row[0], 0),
	    .from = integer(&row[1], 0),
	    .to = integer(&row[2], 0),
	    .send_ns = integer(&row[3], NSEC_MIN),
	    .recv_ns = integer(&row[4], NSEC_MIN),
	    .latency_ns = integer(&row[5], 0),
	    .protocol = &row[6],
	    .src = &row[7],
	    .sport = &row[8],
	    .dst = &row[9],
	    .dport = &row[10],
	    .bytes = &row[11],
	    .size = integer(&row[11], 0),
	    .send_event = integer(&row[12], 0),
	    .recv_event = integer(&row[13], 0),
	};
	int64_t sender = integer(&row[14], -1), receiver = integer(&row[15], -1);

	if (!scope_has_node(scope, message.from) && !scope_has_node(scope, message.to))
		return 0;
	if (message.send_ns == NSEC_MIN || message.recv_ns == NSEC_MIN)
		return 0;
	if (bounds_is_second_view(stream->bounds, sender) ||
	    bounds_is_second_view(stream->bounds, receiver))
		return 0;
	if (sender < 0)
		sender = bounds_source(stream->bounds, message.from);
	if (receiver < 0)
		receiver = bounds_source(stream->bounds, message.to);
	message.bound = bounds_between(stream->bounds, sender, message.send_ns, receiver,
				       message.recv_ns);
	if (message.id % 4096 == 0 && scope->end_ns > scope->begin_ns)
		question_share(stream->question,
			       (double)nsec_sub(message.send_ns, scope->begin_ns) /
				   (double)nsec_sub(scope->end_ns, scope->begin_ns));
	return stream->take(stream->context, &message);
}

int message_stream(struct question *question, const struct bounds *bounds,
		   int (*take)(void *context, const struct message_row *row),
		   void *context, struct error *error)
{
	struct stream stream = {question, bounds, take, context};
	const struct scope *scope = &question->scope;
	struct cell span[] = {{.type = CELL_INTEGER, .integer = scope->begin_ns},
			      {.type = CELL_INTEGER, .integer = scope->end_ns}};
	/* Which source an event is of needs asking only where a node has several
	 * clocks. Ids grow with send_ns, so the whole table needs no index. */
	bool by_node = bounds_are_of_nodes(bounds);
	char *sql = mem_printf(
	    "SELECT m.id, m.src_node, m.dst_node, m.send_ns, m.recv_ns, m.latency_ns,"
	    " m.protocol, m.src, m.sport, m.dst, m.dport, m.bytes, m.send_event,"
	    " m.recv_event, %s FROM message AS m %s ORDER BY %s",
	    by_node ? "NULL, NULL"
		    : "(SELECT source FROM event AS e WHERE e.id = m.send_event),"
		      " (SELECT source FROM event AS e WHERE e.id = m.recv_event)",
	    scope->all_time ? "" : "WHERE m.send_ns BETWEEN ?1 AND ?2",
	    scope->all_time ? "m.id" : "m.send_ns, m.id");
	int status = question_ask(question, sql, span, take_row, &stream, error);

	free(sql);
	return status;
}
