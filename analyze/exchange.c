/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/packet_origin.h"
#include "base/mem.h"
#include "timeline/events.h"

#define TCP4 "network_header_ipv4_transport_header_tcp_"
#define TCP6 "network_header_ipv6_transport_header_tcp_"

enum { TCP_SYN = 2, TCP_ACK = 16 };

/* Linux gives ports from here on to who connects (ip_local_port_range). */
enum { FIRST_EPHEMERAL = 32768 };

/* The fields of what sent; see wishes. */
enum { V4_IHL = PACKET_ORIGIN_COUNT, V4_OFFSET, V4_FLAGS, V6_OFFSET, V6_FLAGS };
enum { CAPTURED_LENGTH, CAPTURED_PAYLOAD, CAPTURED_FLAGS };
enum { QUEUE, LOCAL, CAPTURE, WISHES };

static const struct events_wish wishes[WISHES] = {
    [QUEUE] = {"net_dev_queue",
	       {PACKET_ORIGIN_FIELDS, "network_header_ipv4_ihl", TCP4 "data_offset",
		TCP4 "flags", TCP6 "data_offset", TCP6 "flags"},
	       QUEUE},
    [LOCAL] = {"inet_sock_local_out", {NULL}, LOCAL},
    [CAPTURE] = {"packet", {"length", "payload", "flags"}, CAPTURE},
};

/*
 * What of one end's data came. Numbers go round (RFC 793, 3.3). A segment that was lost
 * is no message, so it leaves a hole until it is sent again.
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

/* Where a flow is. */
struct exchange_state {
	enum { SILENT, ASKED, ANSWERED } phase;
	int client;              /* the end that asks; -1: not known */
	struct stream stream[2]; /* from each end */
	struct exchange now;
};

/* What a message's packet was as it was sent. */
struct sending {
	int64_t event;
	struct packet_origin origin;
	int64_t header; /* bytes of IP's and TCP's headers; -1: not known */
	int64_t flags;
};

struct message {
	int64_t id, send_event, src_node, dst_node, source[2], sport, dport, seq, bytes;
	nsec_t send_ns, recv_ns;
	const struct cell *protocol, *src, *dst;
	bool is_tcp;
	int64_t data; /* bytes of it */
};

struct reading {
	struct exchanges *exchanges;
	const struct bounds *bounds;
	struct question *question;
	struct events *events;
	struct sending sending; /* the last one that was read */
	struct packet_origins origins;
	bool ended;
	struct error *error;
};

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

static void read_sending(struct reading *reading, const struct event_row *row)
{
	struct sending *sending = &reading->sending;
	const struct cell *field = row->field;
	int64_t offset, payload;

	*sending = (struct sending){.event = row->id, .header = -1};
	sending->origin = row->tag == QUEUE ? packet_origin_of(&reading->origins, row)
					    : (struct packet_origin){row->id, row->tid,
								     row->ts_ns, false};
	if (row->tag == QUEUE) {
		offset = integer(&field[V4_OFFSET], -1);
		if (offset >= 0)
			sending->header =
			    4 * ((integer(&field[V4_IHL], 5) & 15) + (offset & 15));
		else if ((offset = integer(&field[V6_OFFSET], -1)) >= 0)
			sending->header = 40 + 4 * (offset & 15);
		sending->flags = integer(&field[V4_FLAGS], integer(&field[V6_FLAGS], 0));
	} else if (row->tag == CAPTURE) {
		payload = integer(&field[CAPTURED_PAYLOAD], -1);
		if (payload >= 0)
			sending->header =
			    nsec_sub(integer(&field[CAPTURED_LENGTH], 0), payload);
		sending->flags = integer(&field[CAPTURED_FLAGS], 0);
	}
}

/* Go on to the event that sent; both come by event.id. 0, or -1 with error. */
static int find_sending(struct reading *reading, int64_t event)
{
	struct event_row row;
	int more;

	while (!reading->ended && reading->sending.event < event) {
		more = events_next(reading->events, &row, reading->error);
		if (more < 0)
			return -1;
		if (more)
			read_sending(reading, &row);
		reading->ended = !more;
	}
	return 0;
}

/* Data of a TCP segment: what is behind the headers. Where these were not recorded they
 * are taken to be as long as Linux's with time stamps. */
static int64_t data_of(const struct message *message, const struct sending *sending)
{
	bool is_v6 = memchr(message->src->bytes, ':', message->src->size);
	int64_t header = sending->event == message->send_event ? sending->header : -1;

	if (!message->is_tcp)
		return message->bytes;
	if (header < 0)
		header = is_v6 ? 72 : 52;
	return message->bytes > header ? message->bytes - header : 0;
}

static int compare_ends(const struct message *message)
{
	uint32_t least = message->src->size < message->dst->size ? message->src->size
								 : message->dst->size;
	int order = memcmp(message->src->bytes, message->dst->bytes, least);

	if (order)
		return order;
	if (message->src->size != message->dst->size)
		return message->src->size < message->dst->size ? -1 : 1;
	return message->sport < message->dport ? -1 : message->sport > message->dport;
}

static char *copy(const struct cell *cell)
{
	return mem_strndup(cell->bytes, cell->size);
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

static void set_client(struct exchanges *exchanges, size_t flow, int client)
{
	exchanges->state[flow].client = client;
	exchanges->flow[flow].turned = client == 1;
}

/* The flow's number; `from` is which of its ends sent. */
static size_t find_flow(struct exchanges *exchanges, const struct message *message,
			int *from)
{
	const struct cell *address[2] = {message->src, message->dst};
	int64_t port[2] = {message->sport, message->dport};
	size_t before = exchanges->keys.count, at;
	int first = compare_ends(message) > 0;

	*from = first;
	keys_begin(&exchanges->keys);
	keys_text(&exchanges->keys, message->protocol->bytes, message->protocol->size);
	for (int i = 0; i < 2; i++) {
		keys_text(&exchanges->keys, address[i ^ first]->bytes,
			  address[i ^ first]->size);
		keys_integer(&exchanges->keys, port[i ^ first]);
	}
	at = keys_find(&exchanges->keys);
	if (at < before)
		return at;
	exchanges->flow = mem_grow(exchanges->flow, at, &exchanges->flow_room,
				   sizeof(*exchanges->flow));
	exchanges->state = mem_grow(exchanges->state, at, &exchanges->state_room,
				    sizeof(*exchanges->state));
	exchanges->flow[at] = (struct exchange_flow){
	    .protocol = copy(message->protocol),
	    .address = {copy(address[first]), copy(address[!first])},
	    .port = {port[first], port[!first]},
	};
	exchanges->state[at] = (struct exchange_state){.client = -1};
	set_client(exchanges, at, client_by_ports(exchanges->flow[at].port));
	return at;
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

/* Whether its data is news to the receiver. */
static bool is_news(struct stream *stream, const struct message *message)
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

static void close_exchange(struct exchanges *exchanges, struct exchange_state *state)
{
	struct exchange *now = &state->now;

	if (state->phase == ASKED)
		exchanges->flow[now->flow].unanswered++;
	if (state->phase == ANSWERED) {
		if (now->arrived_ns > now->replied_ns)
			now->arrived_ns = now->replied_ns;
		if (now->arrived_ns < now->begin_ns) /* by clocks that contradict */
			now->arrived_ns = now->begin_ns;
		if (now->replied_ns < now->arrived_ns)
			now->replied_ns = now->arrived_ns;
		if (now->end_ns < now->replied_ns)
			now->end_ns = now->replied_ns;
		exchanges->item = mem_grow(exchanges->item, exchanges->count,
					   &exchanges->room, sizeof(*exchanges->item));
		exchanges->item[exchanges->count++] = *now;
	}
	state->phase = SILENT;
}

static void begin_request(struct exchange_state *state, const struct message *message,
			  const struct sending *sending, size_t flow)
{
	bool is_known = sending->event == message->send_event;

	state->phase = ASKED;
	state->now = (struct exchange){
	    .number = message->id,
	    .client = message->src_node,
	    .server = message->dst_node,
	    .client_source = message->source[0],
	    .server_source = message->source[1],
	    .client_tid = is_known ? sending->origin.tid : -1,
	    .server_tid = -1,
	    .ask_event = is_known ? sending->origin.event : message->send_event,
	    .begin_ns = message->send_ns,
	    .arrived_ns = message->recv_ns,
	    .end_ns = NSEC_MIN,
	    .flow = (uint32_t)flow,
	};
}

static void add_request(struct exchange_state *state, const struct message *message)
{
	state->now.asked_bytes = nsec_add(state->now.asked_bytes, message->data);
	if (message->recv_ns > state->now.arrived_ns)
		state->now.arrived_ns = message->recv_ns;
}

static void add_response(struct exchange_state *state, const struct message *message,
			 const struct sending *sending)
{
	struct exchange *now = &state->now;

	if (state->phase == ASKED) {
		state->phase = ANSWERED;
		now->replied_ns = message->send_ns;
		now->reply_event = message->send_event;
		now->given_ns = message->send_ns;
		if (sending->event == message->send_event) {
			now->reply_event = sending->origin.event;
			now->server_tid = sending->origin.tid;
			if (sending->origin.ts_ns < now->given_ns)
				now->given_ns = sending->origin.ts_ns;
		}
	}
	now->replied_bytes = nsec_add(now->replied_bytes, message->data);
	if (message->recv_ns > now->end_ns) {
		now->end_ns = message->recv_ns;
		now->last_message = message->id;
	}
}

static void take_message(struct reading *reading, struct message *message)
{
	struct exchanges *exchanges = reading->exchanges;
	const struct sending *sending = &reading->sending;
	struct exchange_state *state;
	int from;
	size_t flow = find_flow(exchanges, message, &from);

	state = &exchanges->state[flow];
	exchanges->flow[flow].messages[from]++;
	if (sending->event == message->send_event && sending->origin.is_carrier)
		exchanges->flow[flow].carriers[from]++;
	if (sending->event == message->send_event &&
	    (sending->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
		close_exchange(exchanges, state); /* a new connection */
		*state = (struct exchange_state){.client = from};
		set_client(exchanges, flow, from);
	}
	message->data = data_of(message, sending);
	if (!is_news(&state->stream[from], message))
		return;
	if (state->client < 0)
		set_client(exchanges, flow, from);
	if (from == state->client) {
		if (state->phase == ANSWERED)
			close_exchange(exchanges, state);
		if (state->phase == SILENT)
			begin_request(state, message, sending, flow);
		add_request(state, message);
	} else if (state->phase != SILENT) { /* a greeting answers nothing */
		add_response(state, message, sending);
	}
	if (message->id == exchanges->wanted)
		state->now.wanted = true;
}

static int take_row(void *context, const struct cell *row)
{
	struct reading *reading = context;
	struct message message = {
	    .id = integer(&row[0], 0),
	    .send_event = integer(&row[1], 0),
	    .send_ns = integer(&row[2], NSEC_MIN),
	    .recv_ns = integer(&row[3], NSEC_MIN),
	    .src_node = integer(&row[4], -1),
	    .dst_node = integer(&row[5], -1),
	    .protocol = &row[6],
	    .src = &row[7],
	    .sport = integer(&row[8], -1),
	    .dst = &row[9],
	    .dport = integer(&row[10], -1),
	    .seq = integer(&row[11], -1),
	    .bytes = integer(&row[12], 0),
	    .source = {integer(&row[13], -1), integer(&row[14], -1)},
	};

	if (message.send_ns == NSEC_MIN || message.recv_ns == NSEC_MIN ||
	    row[6].type != CELL_TEXT || row[7].type != CELL_TEXT ||
	    row[9].type != CELL_TEXT)
		return 0;
	if (bounds_is_second_view(reading->bounds, message.source[0]) ||
	    bounds_is_second_view(reading->bounds, message.source[1]))
		return 0;
	if (message.source[0] < 0)
		message.source[0] = bounds_source(reading->bounds, message.src_node);
	if (message.source[1] < 0)
		message.source[1] = bounds_source(reading->bounds, message.dst_node);
	message.is_tcp = row[6].size == 3 && !memcmp(row[6].bytes, "tcp", 3);
	if (find_sending(reading, message.send_event))
		return -1;
	if (++reading->exchanges->messages % 4096 == 0)
		question_share(reading->question, events_share(reading->events));
	take_message(reading, &message);
	return 0;
}

/*
 * VXLAN (RFC 7348 and Linux's own choice), Geneve, WireGuard: one that seems to carry
 * is enough. On other ports half of one end's must, since buffers come again by chance;
 * of the other end's, segmentation may have put most into buffers of their own.
 */
static bool is_tunnel(const struct exchange_flow *flow)
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

static void leave_out_tunnels(struct exchanges *exchanges)
{
	size_t left = 0;

	for (size_t i = 0; i < exchanges->keys.count; i++) {
		const struct exchange_flow *flow = &exchanges->flow[i];

		if (is_tunnel(flow))
			exchanges->carriers += flow->messages[0] + flow->messages[1];
		else
			exchanges->unanswered += flow->unanswered;
	}
	for (size_t i = 0; i < exchanges->count; i++)
		if (!is_tunnel(&exchanges->flow[exchanges->item[i].flow]))
			exchanges->item[left++] = exchanges->item[i];
	exchanges->count = left;
}

static int compare(const void *a, const void *b)
{
	const struct exchange *one = a, *other = b;

	if (one->begin_ns != other->begin_ns)
		return one->begin_ns < other->begin_ns ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

static int read_messages(struct reading *reading, const struct scope *scope)
{
	const struct cell span[] = {{.type = CELL_INTEGER, .integer = scope->begin_ns},
				    {.type = CELL_INTEGER, .integer = scope->end_ns}};
	/* As in message_stream.c: which source an event is of is asked where it matters.
	 */
	bool by_node = bounds_are_of_nodes(reading->bounds);
	char *sql = mem_printf(
	    "SELECT m.id, m.send_event, m.send_ns, m.recv_ns, m.src_node, m.dst_node,"
	    " m.protocol, m.src, m.sport, m.dst, m.dport, m.seq, m.bytes, %s"
	    " FROM message AS m WHERE m.send_event IS NOT NULL %s"
	    " ORDER BY m.send_event, m.id",
	    by_node ? "NULL, NULL"
		    : "(SELECT source FROM event AS e WHERE e.id = m.send_event),"
		      " (SELECT source FROM event AS e WHERE e.id = m.recv_event)",
	    scope->all_time ? "" : "AND m.send_ns BETWEEN ?1 AND ?2");
	int status =
	    question_ask(reading->question, sql, span, take_row, reading, reading->error);

	free(sql);
	return status;
}

int exchanges_read(struct exchanges *exchanges, struct question *question,
		   const struct scope *scope, const struct bounds *bounds,
		   struct error *error)
{
	struct reading reading = {.exchanges = exchanges,
				  .bounds = bounds,
				  .question = question,
				  .error = error};
	int status;

	reading.events = events_new(question->reader, scope, wishes, WISHES, error);
	if (!reading.events)
		return -1;
	status = read_messages(&reading, scope);
	events_free(reading.events);
	packet_origins_clear(&reading.origins);
	for (size_t i = 0; i < exchanges->keys.count; i++)
		close_exchange(exchanges, &exchanges->state[i]);
	leave_out_tunnels(exchanges);
	free(exchanges->state);
	exchanges->state = NULL;
	exchanges->state_room = 0;
	if (exchanges->count)
		qsort(exchanges->item, exchanges->count, sizeof(*exchanges->item),
		      compare);
	return status;
}

const char *exchange_address(const struct exchanges *exchanges,
			     const struct exchange *exchange, int end)
{
	const struct exchange_flow *flow = &exchanges->flow[exchange->flow];

	return flow->address[end ^ (int)flow->turned];
}

int64_t exchange_port(const struct exchanges *exchanges, const struct exchange *exchange,
		      int end)
{
	const struct exchange_flow *flow = &exchanges->flow[exchange->flow];

	return flow->port[end ^ (int)flow->turned];
}

void exchanges_clear(struct exchanges *exchanges)
{
	for (size_t i = 0; i < exchanges->keys.count; i++) {
		free(exchanges->flow[i].protocol);
		free(exchanges->flow[i].address[0]);
		free(exchanges->flow[i].address[1]);
	}
	keys_clear(&exchanges->keys);
	free(exchanges->flow);
	free(exchanges->state);
	free(exchanges->item);
	*exchanges = (struct exchanges){.wanted = 0};
}
