/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "merge/sent_packets.h"
#include "merge/texts.h"

enum { TCP_SYN = 2, TCP_ACK = 16 };

/* Linux gives ports from here on to who connects (ip_local_port_range). */
enum { FIRST_EPHEMERAL = 32768 };

/*
 * What of one end's data came. Numbers wrap around (RFC 793, 3.3). A segment that was
 * lost is no message, so it leaves a hole until it is sent again.
 */
enum { HOLES = 8 };
struct stream {
	bool begun;
	uint32_t high; /* one past the last byte */
	struct hole {
		uint32_t from, to;
	} hole[HOLES]; /* the later ones first */
	size_t holes;
};

struct flow {
	size_t protocol, address[2];       /* texts */
	int64_t port[2];                   /* -1: none */
	uint64_t messages[2], carriers[2]; /* from each end */
	int client;                        /* the end that asks; -1: not known */
	enum { SILENT, ASKED, ANSWERED } phase;
	struct stream stream[2]; /* from each end */
	struct request_row now;
};

struct pairing {
	const struct merge_run *run;
	struct texts texts; /* protocols and addresses */
	struct texts keys;  /* of the flows, numbered as these */
	struct flow *flow;
	size_t flow_room;
	struct request_row *row;
	size_t count, room;
	uint64_t carriers; /* messages of tunnels, that carry others */
};

/* The columns of message_sql. */
enum {
	ID,
	SEND_EVENT,
	SEND_NS,
	RECV_NS,
	SRC_NODE,
	DST_NODE,
	PROTOCOL,
	SRC,
	SPORT,
	DST,
	DPORT,
	SEQ,
	BYTES,
	SEND_BY,
	SEND_TID,
	SEND_SOURCE,
	RECV_SOURCE
};

/*
 * Where no event says which source saw a message it is its node's kernel trace, else the
 * node's first, and where nodes have one source each no event need be asked. What a
 * capture saw beside a kernel trace that has messages is a second view of its packets.
 */
static const char message_sql[] =
    "WITH main AS (SELECT node, coalesce(min(id) FILTER (WHERE kind = 'kernel'), min(id))"
    " AS source, count(*) > 1 AS many FROM source GROUP BY node),"
    " second AS (SELECT s.id FROM source AS s JOIN main ON main.node = s.node"
    " JOIN source AS k ON k.id = main.source WHERE s.kind <> 'kernel'"
    " AND k.kind = 'kernel' AND (k.id IN (SELECT a FROM clock_pair)"
    " OR k.id IN (SELECT b FROM clock_pair))), "
    "seen AS (SELECT m.*,"
    " coalesce(iif(s.many, (SELECT source FROM event WHERE id = m.send_event), NULL),"
    "  s.source) AS send_source,"
    " coalesce(iif(d.many, (SELECT source FROM event WHERE id = m.recv_event), NULL),"
    "  d.source) AS recv_source"
    " FROM message AS m LEFT JOIN main AS s ON s.node = m.src_node"
    " LEFT JOIN main AS d ON d.node = m.dst_node"
    " WHERE m.send_event IS NOT NULL AND m.recv_ns IS NOT NULL"
    " AND m.src IS NOT NULL AND m.dst IS NOT NULL AND m.protocol IS NOT NULL) "
    "SELECT id, send_event, send_ns, recv_ns, src_node, dst_node, protocol, src, sport,"
    " dst, dport, seq, bytes, send_by,"
    " coalesce(send_tid, (SELECT tid FROM event WHERE id = send_event)),"
    " send_source, recv_source FROM seen"
    " WHERE coalesce(send_source, 0) NOT IN (SELECT id FROM second)"
    " AND coalesce(recv_source, 0) NOT IN (SELECT id FROM second)"
    " ORDER BY send_event, id";

/* A message, and its packet as it was sent. */
struct message {
	const struct cell *cell;
	const struct sent_packet *packet; /* NULL: not known */
	bool is_tcp;
	int64_t seq, data; /* bytes of data */
};

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static size_t text_number(struct texts *texts, const struct cell *cell)
{
	char *text = mem_strndup(cell->bytes, cell->size);
	size_t number = texts_put(texts, text);

	free(text);
	return number;
}

/* Data of a TCP segment: what is behind the headers. Where these were not recorded they
 * are taken to be as long as Linux's with time stamps. */
static int64_t data_of(const struct message *message)
{
	const struct cell *cell = message->cell;
	int64_t header = message->packet ? message->packet->header : -1;
	int64_t bytes = integer(&cell[BYTES], 0);

	if (!message->is_tcp)
		return bytes;
	if (header < 0)
		header = memchr(cell[SRC].bytes, ':', cell[SRC].size) ? 72 : 52;
	return bytes > header ? bytes - header : 0;
}

/* Which end asks, where the ports tell: 0, 1; else -1. */
static int client_by_ports(const int64_t port[2])
{
	for (int i = 0; i < 2; i++)
		if (port[i] >= FIRST_EPHEMERAL && port[!i] >= 0 &&
		    port[!i] < FIRST_EPHEMERAL)
			return i;
	return -1;
}

/* Which of a message's ends is a flow's first: any order that both ways share. */
static int compare_ends(const struct cell *cell)
{
	uint32_t least =
	    cell[SRC].size < cell[DST].size ? cell[SRC].size : cell[DST].size;
	int order = memcmp(cell[SRC].bytes, cell[DST].bytes, least);

	if (order || cell[SRC].size != cell[DST].size)
		return order ? order : cell[SRC].size < cell[DST].size ? -1 : 1;
	return integer(&cell[SPORT], -1) < integer(&cell[DPORT], -1) ? -1 : 1;
}

/* The message's flow; `from` is which of its ends sent. */
static struct flow *find_flow(struct pairing *pairing, const struct cell *cell, int *from)
{
	const struct cell *end[2] = {&cell[SRC], &cell[DST]}; /* address, then port */
	int first = compare_ends(cell) > 0;
	int64_t port[2] = {integer(&end[first][1], -1), integer(&end[!first][1], -1)};
	size_t before = pairing->keys.count, at;
	char key[256];

	*from = first;
	snprintf(key, sizeof(key), "%.*s %.*s %lld %.*s %lld", (int)cell[PROTOCOL].size,
		 cell[PROTOCOL].bytes, (int)end[first]->size, end[first]->bytes,
		 (long long)port[0], (int)end[!first]->size, end[!first]->bytes,
		 (long long)port[1]);
	at = texts_put(&pairing->keys, key);
	if (at == before) {
		pairing->flow = mem_grow(pairing->flow, at, &pairing->flow_room,
					 sizeof(*pairing->flow));
		pairing->flow[at] = (struct flow){
		    .protocol = text_number(&pairing->texts, &cell[PROTOCOL]),
		    .address = {text_number(&pairing->texts, end[first]),
				text_number(&pairing->texts, end[!first])},
		    .port = {port[0], port[1]},
		    .client = client_by_ports(port),
		};
	}
	return &pairing->flow[at];
}

static void add_hole(struct stream *stream, uint32_t from, uint32_t to)
{
	if (stream->holes < HOLES)
		stream->holes++;
	memmove(stream->hole + 1, stream->hole,
		(stream->holes - 1) * sizeof(*stream->hole));
	stream->hole[0] = (struct hole){from, to};
}

/* Whether the data fills some of a hole; what is left of that goes on from there, as
 * segments are sent again from the first one on. */
static bool fill_hole(struct stream *stream, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < stream->holes; i++) {
		struct hole *hole = &stream->hole[i];

		if ((int32_t)(to - hole->from) <= 0 || (int32_t)(hole->to - from) <= 0)
			continue;
		hole->from = to;
		if ((int32_t)(hole->to - to) <= 0) {
			stream->holes--;
			memmove(hole, hole + 1, (stream->holes - i) * sizeof(*hole));
		}
		return true;
	}
	return false;
}

/* Whether its data is new to the receiver. */
static bool is_new_data(struct stream *stream, const struct message *message)
{
	uint32_t from = (uint32_t)message->seq, to = from + (uint32_t)message->data;

	if (!message->data)
		return false;
	if (!message->is_tcp || message->seq < 0)
		return true;
	if (stream->begun && (int32_t)(to - stream->high) <= 0)
		return fill_hole(stream, from, to);
	if (stream->begun && (int32_t)(from - stream->high) > 0)
		add_hole(stream, stream->high, from);
	stream->begun = true;
	stream->high = to;
	return true;
}

static void end_request(struct pairing *pairing, struct flow *flow)
{
	struct request_row *now = &flow->now;

	if (flow->phase == SILENT)
		return;
	if (flow->phase == ANSWERED) {
		if (now->arrived_ns > now->responded_ns)
			now->arrived_ns = now->responded_ns;
		if (now->arrived_ns < now->begin_ns) /* by clocks that contradict */
			now->arrived_ns = now->begin_ns;
		if (now->responded_ns < now->arrived_ns)
			now->responded_ns = now->arrived_ns;
		if (now->end_ns < now->responded_ns)
			now->end_ns = now->responded_ns;
	}
	pairing->row =
	    mem_grow(pairing->row, pairing->count, &pairing->room, sizeof(*pairing->row));
	pairing->row[pairing->count++] = *now;
	flow->phase = SILENT;
}

/* Who gave a message to the kernel. What was queued before, for a container or a tunnel,
 * was so by a thread, unless idle was interrupted. */
static bool find_sender(const struct message *message, int64_t *tid, int64_t *event)
{
	const struct cell *cell = message->cell, *by = &cell[SEND_BY];

	*event = cell[SEND_EVENT].integer;
	*tid = integer(&cell[SEND_TID], -1);
	if (message->packet) {
		*tid = message->packet->origin_tid;
		*event = message->packet->origin;
		if (*event != message->packet->event)
			return *tid == 0;
	}
	return by->type == CELL_TEXT &&
	       (by->size != strlen("thread") || memcmp(by->bytes, "thread", by->size));
}

static void begin_request(struct flow *flow, const struct message *message, size_t at)
{
	const struct cell *cell = message->cell;

	flow->phase = ASKED;
	flow->now = (struct request_row){
	    .id = cell[ID].integer,
	    .client = integer(&cell[SRC_NODE], -1),
	    .server = integer(&cell[DST_NODE], -1),
	    .client_source = integer(&cell[SEND_SOURCE], -1),
	    .server_source = integer(&cell[RECV_SOURCE], -1),
	    .server_tid = -1,
	    .begin_ns = cell[SEND_NS].integer,
	    .arrived_ns = cell[RECV_NS].integer,
	    .end_ns = NSEC_MIN,
	    .flow = at,
	};
	flow->now.client_by_kernel =
	    find_sender(message, &flow->now.client_tid, &flow->now.request_event);
}

static void add_request(struct request_row *now, const struct message *message)
{
	nsec_t recv_ns = message->cell[RECV_NS].integer;

	now->request_bytes = nsec_add(now->request_bytes, message->data);
	if (recv_ns > now->arrived_ns)
		now->arrived_ns = recv_ns;
}

static void add_response(struct flow *flow, const struct message *message)
{
	struct request_row *now = &flow->now;
	nsec_t recv_ns = message->cell[RECV_NS].integer;

	if (flow->phase == ASKED) {
		flow->phase = ANSWERED;
		now->responded_ns = message->cell[SEND_NS].integer;
		now->given_ns = now->responded_ns;
		now->server_by_kernel =
		    find_sender(message, &now->server_tid, &now->response_event);
		if (message->packet && message->packet->origin_ns < now->given_ns)
			now->given_ns = message->packet->origin_ns;
	}
	now->response_bytes = nsec_add(now->response_bytes, message->data);
	if (recv_ns > now->end_ns) {
		now->end_ns = recv_ns;
		now->last_message = message->cell[ID].integer;
	}
}

static void add_message(struct pairing *pairing, struct message *message)
{
	const struct sent_packet *packet = message->packet;
	int from;
	struct flow *flow = find_flow(pairing, message->cell, &from);

	flow->messages[from]++;
	flow->carriers[from] += packet && packet->is_carrier;
	if (packet && (packet->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
		end_request(pairing, flow); /* a new connection */
		memset(flow->stream, 0, sizeof(flow->stream));
		flow->client = from;
	}
	message->data = data_of(message);
	if (!is_new_data(&flow->stream[from], message))
		return;
	if (flow->client < 0)
		flow->client = from;
	if (from == flow->client) {
		if (flow->phase == ANSWERED)
			end_request(pairing, flow);
		if (flow->phase == SILENT)
			begin_request(flow, message, (size_t)(flow - pairing->flow));
		add_request(&flow->now, message);
	} else if (flow->phase != SILENT) { /* a greeting answers nothing */
		add_response(flow, message);
	}
}

static int read_messages(struct pairing *pairing, struct timeline_reader *timeline,
			 struct error *error)
{
	struct sent_packets *packets = sent_packets_new(timeline, error);
	struct timeline_query *query =
	    packets ? timeline_query_new(timeline, message_sql, error) : NULL;
	int more = query && !timeline_query_ask(query, NULL, 0, error) ? 1 : -1;

	while (more > 0 && (more = timeline_query_next(query, error)) > 0) {
		const struct cell *cell = timeline_query_row(query);
		struct message message = {.cell = cell, .seq = integer(&cell[SEQ], -1)};

		message.is_tcp =
		    cell[PROTOCOL].size == 3 && !memcmp(cell[PROTOCOL].bytes, "tcp", 3);
		if (sent_packets_find(packets, cell[SEND_EVENT].integer, &message.packet,
				      error))
			more = -1;
		else
			add_message(pairing, &message);
	}
	timeline_query_free(query);
	sent_packets_free(packets);
	for (size_t i = 0; i < pairing->keys.count; i++)
		end_request(pairing, &pairing->flow[i]);
	return more;
}

/*
 * VXLAN (RFC 7348 and Linux's own choice), Geneve, WireGuard: one that seems to carry
 * is enough. On other ports half of one end's must, since buffers come again by chance;
 * of the other end's, segmentation may have put most into buffers of their own.
 */
static bool is_tunnel(const struct flow *flow)
{
	static const int64_t ports[] = {4789, 8472, 6081, 51820};
	enum { LEAST = 8 };

	for (size_t i = 0; i < sizeof(ports) / sizeof(*ports); i++)
		if (flow->port[0] == ports[i] || flow->port[1] == ports[i])
			return flow->carriers[0] + flow->carriers[1] > 0;
	for (int end = 0; end < 2; end++)
		if (flow->carriers[end] >= LEAST &&
		    2 * flow->carriers[end] >= flow->messages[end])
			return true;
	return false;
}

static void leave_out_tunnels(struct pairing *pairing)
{
	size_t left = 0;

	for (size_t i = 0; i < pairing->keys.count; i++) {
		const struct flow *flow = &pairing->flow[i];

		if (is_tunnel(flow))
			pairing->carriers += flow->messages[0] + flow->messages[1];
	}
	for (size_t i = 0; i < pairing->count; i++)
		if (!is_tunnel(&pairing->flow[pairing->row[i].flow]))
			pairing->row[left++] = pairing->row[i];
	pairing->count = left;
}

static int compare_id(const void *a, const void *b)
{
	const struct request_row *one = a, *other = b;

	return one->id < other->id ? -1 : one->id > other->id;
}

static bool is_one_clock(const struct merge_source *a, const struct merge_source *b)
{
	return a == b || (a->facts.has_uuid && b->facts.has_uuid &&
			  !memcmp(a->facts.clock_uuid, b->facts.clock_uuid,
				  sizeof(a->facts.clock_uuid)));
}

/* a - b of two sides, of which either may be open. */
static nsec_t side(nsec_t a, nsec_t b)
{
	return a == NSEC_MIN || a == NSEC_MAX || b == NSEC_MIN || b == NSEC_MAX
		   ? NSEC_MAX
		   : nsec_sub(a, b);
}

/* How far the time from one source's instant to another's may be off; NSEC_MAX: open. */
static nsec_t bound_between(const struct merge_run *run, int64_t from, nsec_t from_ns,
			    int64_t to, nsec_t to_ns)
{
	const struct merge_source *a, *b;
	struct clock_bound begin, end;
	nsec_t low, high;

	if (from < 1 || to < 1 || from > (int64_t)run->count || to > (int64_t)run->count)
		return NSEC_MAX;
	a = &run->source[from - 1];
	b = &run->source[to - 1];
	if (is_one_clock(a, b))
		return 0;
	begin = clock_bound_at(&a->clock, clock_invert(&a->clock, from_ns), 0);
	end = clock_bound_at(&b->clock, clock_invert(&b->clock, to_ns), 0);
	low = side(begin.high_ns, end.low_ns);
	high = side(end.high_ns, begin.low_ns);
	return low > high ? low : high;
}

static struct cell number(int64_t value)
{
	return (struct cell){.type = CELL_INTEGER, .integer = value};
}

static struct cell known(int64_t value, int64_t none)
{
	return value == none ? (struct cell){.type = CELL_NULL} : number(value);
}

static struct cell text(const struct texts *texts, size_t at)
{
	const char *bytes = texts_get(texts, at);

	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(bytes), .bytes = bytes};
}

enum { FIRST_PART = 24, COLUMNS = FIRST_PART + REQUEST_PARTS + 3 };

/* The times that only a response gives. */
static void set_times(const struct pairing *pairing, const struct request_row *row,
		      bool spans, struct cell cell[COLUMNS])
{
	nsec_t there, back;

	cell[FIRST_PART] = number(nsec_sub(row->arrived_ns, row->begin_ns));
	for (size_t i = 0; i < REQUEST_PARTS && spans; i++)
		cell[FIRST_PART + 1 + i] = number(row->part[i]);
	cell[FIRST_PART + 1 + REQUEST_PARTS] =
	    number(nsec_sub(row->end_ns, row->responded_ns));
	there = bound_between(pairing->run, row->client_source, row->begin_ns,
			      row->server_source, row->arrived_ns);
	back = bound_between(pairing->run, row->server_source, row->responded_ns,
			     row->client_source, row->end_ns);
	cell[FIRST_PART + 2 + REQUEST_PARTS] =
	    known(there > back ? there : back, NSEC_MAX);
}

/* In the order of the table's columns. */
static void make_row(const struct pairing *pairing, const struct request_row *row,
		     bool spans, struct cell cell[COLUMNS])
{
	const struct flow *flow = &pairing->flow[row->flow];
	bool answered = row->end_ns != NSEC_MIN;
	int client = flow->client;
	const struct cell none = {.type = CELL_NULL},
			  head[] = {
			      number(row->id),
			      answered ? number(row->last_message) : none,
			      text(&pairing->texts, flow->protocol),
			      known(row->client, -1),
			      known(row->server, -1),
			      known(row->client_source, -1),
			      known(row->server_source, -1),
			      text(&pairing->texts, flow->address[client]),
			      known(flow->port[client], -1),
			      text(&pairing->texts, flow->address[!client]),
			      known(flow->port[!client], -1),
			      row->client_by_kernel ? none : known(row->client_tid, -1),
			      row->server_by_kernel ? none : known(row->server_tid, -1),
			      number(row->client_by_kernel),
			      answered ? number(row->server_by_kernel) : none,
			      number(row->request_event),
			      answered ? number(row->response_event) : none,
			      answered ? number(row->given_ns) : none,
			      number(row->begin_ns),
			      number(row->arrived_ns),
			      answered ? number(row->responded_ns) : none,
			      answered ? number(row->end_ns) : none,
			      number(row->request_bytes),
			      answered ? number(row->response_bytes) : none,
			  };

	_Static_assert(sizeof(head) / sizeof(*head) == FIRST_PART, "columns of request");
	for (size_t i = 0; i < COLUMNS; i++)
		cell[i] = i < FIRST_PART ? head[i] : none;
	if (answered)
		set_times(pairing, row, spans, cell);
}

static int ask_once(struct timeline_query *query, const struct cell *cell, size_t cells,
		    struct error *error)
{
	return timeline_query_ask(query, cell, cells, error) ||
		       timeline_query_next(query, error)
		   ? -1
		   : 0;
}

static int write_rows(const struct pairing *pairing, bool spans,
		      struct timeline_reader *timeline, struct error *error)
{
	struct timeline_query *insert = timeline_query_new(
	    timeline,
	    "INSERT INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
	    " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	    error);
	struct timeline_query *meta = timeline_query_new(
	    timeline, "INSERT INTO meta VALUES ('tunnel_messages', ?)", error);
	const struct cell carriers = number((int64_t)pairing->carriers);
	int status = insert && meta ? 0 : -1;

	for (size_t i = 0; i < pairing->count && !status; i++) {
		struct cell cell[COLUMNS];

		make_row(pairing, &pairing->row[i], spans, cell);
		status = ask_once(insert, cell, COLUMNS, error);
	}
	if (!status && pairing->carriers)
		status = ask_once(meta, &carriers, 1, error);
	timeline_query_free(insert);
	timeline_query_free(meta);
	return status;
}

int requests_write(const struct merge_run *run, bool spans,
		   struct timeline_reader *timeline, struct error *error)
{
	struct pairing pairing = {.run = run};
	int status = read_messages(&pairing, timeline, error);

	leave_out_tunnels(&pairing);
	if (!status && spans)
		status = request_parts(pairing.row, pairing.count, timeline, error);
	if (pairing.count)
		qsort(pairing.row, pairing.count, sizeof(*pairing.row), compare_id);
	if (!status)
		status = write_rows(&pairing, spans, timeline, error);
	texts_clear(&pairing.texts);
	texts_clear(&pairing.keys);
	free(pairing.flow);
	free(pairing.row);
	return status;
}
