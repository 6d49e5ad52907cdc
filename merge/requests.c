/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

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

struct flow_key {
	int64_t node[2];
	uint64_t protocol, address[2]; /* texts */
	int64_t port[2];               /* TIMELINE_NONE: none */
};

struct flow {
	struct flow_key key;
	int64_t next;                      /* another with its hash, or -1 */
	uint64_t messages[2], carriers[2]; /* from each end */
	int client;                        /* the end that asks; -1: not known */
	enum { SILENT, ASKED, ANSWERED } phase;
	struct stream stream[2]; /* from each end */
	struct request_row now;
};

struct requests {
	const struct merge_run *run;
	bool *is_second;    /* one a source: see is_second_view */
	struct texts texts; /* protocols and addresses */
	struct flow *flow;
	size_t flows, flow_room;
	struct intmap flow_at; /* by hash: the latest flow with it */
	struct request_row *row;
	size_t count, room;
	int64_t messages;
	uint64_t carriers; /* messages of tunnels, that carry others */
};

struct message {
	const struct request_message *given;
	const struct timeline_message *row; /* of what was given */
	int64_t id, data;                   /* bytes of data */
	bool is_tcp;
};

/*
 * What a capture saw beside a kernel trace that has messages is a second view of its
 * packets.
 */
static bool is_second_view(const struct merge_run *run, size_t source)
{
	size_t kernel = 0;

	if (merge_source_is(&run->source[source], "kernel"))
		return false;
	while (kernel < run->count &&
	       (run->source[kernel].node != run->source[source].node ||
		!merge_source_is(&run->source[kernel], "kernel")))
		kernel++;
	for (size_t i = 0; i < run->map.pairs && kernel < run->count; i++) {
		int64_t a = merge_run_source(run, run->map.pair[i].a);
		int64_t b = merge_run_source(run, run->map.pair[i].b);

		if (a && b &&
		    (a == run->source[kernel].id || b == run->source[kernel].id))
			return true;
	}
	return false;
}

struct requests *requests_new(const struct merge_run *run)
{
	struct requests *requests = mem_zalloc(sizeof(*requests));

	requests->run = run;
	requests->is_second = mem_zalloc(run->count + run->elsewhere + 1);
	for (size_t i = 0; i < run->count; i++)
		requests->is_second[i] = is_second_view(run, i);
	for (size_t i = run->count; i < run->count + run->elsewhere; i++)
		requests->is_second[i] = run->source[i].is_second_view;
	return requests;
}

/* Data of a TCP segment: what is behind the headers. Where these were not recorded they
 * are taken to be as long as Linux's with time stamps. */
static int64_t data_of(const struct message *message)
{
	const struct timeline_message *row = message->row;
	int64_t header = message->given->header;
	int64_t bytes = row->bytes == TIMELINE_NONE ? 0 : row->bytes;

	if (!message->is_tcp)
		return bytes;
	if (header < 0)
		header = strchr(row->src, ':') ? 72 : 52;
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

/* The message's flow; `from` is which of its ends sent. Which end is its first does not
 * matter, but is the same both ways. */
static struct flow *find_flow(struct requests *requests,
			      const struct timeline_message *row, int *from)
{
	const size_t address[2] = {texts_put(&requests->texts, row->src),
				   texts_put(&requests->texts, row->dst)};
	const int64_t port[2] = {row->sport, row->dport};
	const int64_t node[2] = {row->src_node, row->dst_node};
	int first =
	    address[0] != address[1] ? address[0] > address[1] : port[0] >= port[1];
	struct flow flow = {
	    .key = {.node = {node[first], node[!first]},
		    .protocol = texts_put(&requests->texts, row->protocol),
		    .address = {address[first], address[!first]},
		    .port = {port[first], port[!first]}},
	};
	uint64_t hash = hash_bytes(HASH_INIT, &flow.key, sizeof(flow.key));
	int64_t at;

	*from = first;
	if (!intmap_get(&requests->flow_at, hash, &flow.next))
		flow.next = -1;
	for (at = flow.next; at >= 0; at = requests->flow[at].next)
		if (memcmp(&requests->flow[at].key, &flow.key, sizeof(flow.key)) == 0)
			return &requests->flow[at];
	flow.client = client_by_ports(flow.key.port);
	intmap_put(&requests->flow_at, hash, (int64_t)requests->flows);
	requests->flow = mem_grow(requests->flow, requests->flows, &requests->flow_room,
				  sizeof(*requests->flow));
	requests->flow[requests->flows] = flow;
	return &requests->flow[requests->flows++];
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
	uint32_t from = (uint32_t)message->row->seq, to = from + (uint32_t)message->data;

	if (!message->data)
		return false;
	if (!message->is_tcp || message->row->seq == TIMELINE_NONE)
		return true;
	if (stream->begun && (int32_t)(to - stream->high) <= 0)
		return fill_hole(stream, from, to);
	if (stream->begun && (int32_t)(from - stream->high) > 0)
		add_hole(stream, stream->high, from);
	stream->begun = true;
	stream->high = to;
	return true;
}

static void end_request(struct requests *requests, struct flow *flow)
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
	requests->row = mem_grow(requests->row, requests->count, &requests->room,
				 sizeof(*requests->row));
	requests->row[requests->count++] = *now;
	flow->phase = SILENT;
}

/* Who gave a message to the kernel. What was queued before, for a container or a tunnel,
 * was so by a thread, unless idle was interrupted. */
static bool find_sender(const struct message *message, int64_t *tid, int64_t *event)
{
	const struct timeline_message *row = message->row;

	if (row->send_event == TIMELINE_NONE) { /* it is elsewhere */
		*tid = -1;
		*event = TIMELINE_NONE;
		return false;
	}
	*tid = message->given->sent->origin_tid;
	*event = message->given->sent->origin;
	if (*event != row->send_event)
		return *tid == 0;
	return row->send_by && strcmp(row->send_by, "thread") != 0;
}

static void begin_request(struct flow *flow, const struct message *message, size_t at)
{
	const struct timeline_message *row = message->row;

	flow->phase = ASKED;
	flow->now = (struct request_row){
	    .id = message->id,
	    .client = row->src_node,
	    .server = row->dst_node,
	    .client_source = message->given->send_source,
	    .server_source = message->given->recv_source,
	    .server_tid = -1,
	    .begin_ns = row->send_ns,
	    .arrived_ns = row->recv_ns,
	    .end_ns = NSEC_MIN,
	    .flow = at,
	};
	flow->now.client_by_kernel =
	    find_sender(message, &flow->now.client_tid, &flow->now.request_event);
}

static void add_request(struct request_row *now, const struct message *message)
{
	nsec_t recv_ns = message->row->recv_ns;

	now->request_bytes = nsec_add(now->request_bytes, message->data);
	if (recv_ns > now->arrived_ns)
		now->arrived_ns = recv_ns;
}

static void add_response(struct flow *flow, const struct message *message)
{
	struct request_row *now = &flow->now;
	nsec_t recv_ns = message->row->recv_ns;

	if (flow->phase == ASKED) {
		flow->phase = ANSWERED;
		now->responded_ns = message->row->send_ns;
		now->given_ns = now->responded_ns;
		now->server_by_kernel =
		    find_sender(message, &now->server_tid, &now->response_event);
		if (now->response_event != TIMELINE_NONE &&
		    message->given->sent->origin_ns < now->given_ns)
			now->given_ns = message->given->sent->origin_ns;
	}
	now->response_bytes = nsec_add(now->response_bytes, message->data);
	if (recv_ns > now->end_ns) {
		now->end_ns = recv_ns;
		now->last_message = message->id;
	}
}

static void add_message(struct requests *requests, struct message *message)
{
	int from;
	struct flow *flow = find_flow(requests, message->row, &from);

	flow->messages[from]++;
	flow->carriers[from] += message->given->sent->is_carrier;
	if ((message->given->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
		end_request(requests, flow); /* a new connection */
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
			end_request(requests, flow);
		if (flow->phase == SILENT)
			begin_request(flow, message, (size_t)(flow - requests->flow));
		add_request(&flow->now, message);
	} else if (flow->phase != SILENT) { /* a greeting answers nothing */
		add_response(flow, message);
	}
}

void requests_message(struct requests *requests, const struct request_message *given)
{
	const struct timeline_message *row = given->row;
	struct message message = {.given = given, .row = row, .id = ++requests->messages};

	if ((row->send_event == TIMELINE_NONE &&
	     given->send_source < requests->run->count) ||
	    !row->src || !row->dst || requests->is_second[given->send_source] ||
	    requests->is_second[given->recv_source])
		return;
	message.is_tcp = strcmp(row->protocol, "tcp") == 0;
	add_message(requests, &message);
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
		if (flow->key.port[0] == ports[i] || flow->key.port[1] == ports[i])
			return flow->carriers[0] + flow->carriers[1] > 0;
	for (int end = 0; end < 2; end++)
		if (flow->carriers[end] >= LEAST &&
		    2 * flow->carriers[end] >= flow->messages[end])
			return true;
	return false;
}

static void leave_out_tunnels(struct requests *requests)
{
	size_t left = 0;

	for (size_t i = 0; i < requests->flows; i++)
		if (is_tunnel(&requests->flow[i]))
			requests->carriers +=
			    requests->flow[i].messages[0] + requests->flow[i].messages[1];
	for (size_t i = 0; i < requests->count; i++)
		if (!is_tunnel(&requests->flow[requests->row[i].flow]))
			requests->row[left++] = requests->row[i];
	requests->count = left;
}

static int compare_id(const void *a, const void *b)
{
	const struct request_row *one = a, *other = b;

	return one->id < other->id ? -1 : one->id > other->id;
}

/* How far the time from one source's instant to another's may be off; NSEC_MAX: open. */
static nsec_t bound_between(const struct merge_run *run, uint32_t from, nsec_t from_ns,
			    uint32_t to, nsec_t to_ns)
{
	const struct merge_source *a = &run->source[from], *b = &run->source[to];
	struct clock_bound begin, end;
	nsec_t low, high;

	if (merge_is_one_clock(a, b))
		return 0;
	begin = clock_bound_at(&a->clock, clock_invert(&a->clock, from_ns), 0);
	end = clock_bound_at(&b->clock, clock_invert(&b->clock, to_ns), 0);
	low = merge_bound_side(begin.high_ns, end.low_ns, NSEC_MAX);
	high = merge_bound_side(end.high_ns, begin.low_ns, NSEC_MAX);
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
static void set_times(const struct requests *requests, const struct request_row *row,
		      bool spans, struct cell cell[COLUMNS])
{
	bool is_here = row->server_source < requests->run->count;
	nsec_t there, back;

	cell[FIRST_PART] = number(nsec_sub(row->arrived_ns, row->begin_ns));
	for (size_t i = 0; i < REQUEST_PARTS && spans && is_here; i++)
		cell[FIRST_PART + 1 + i] = number(row->part[i]);
	cell[FIRST_PART + 1 + REQUEST_PARTS] =
	    number(nsec_sub(row->end_ns, row->responded_ns));
	there = bound_between(requests->run, row->client_source, row->begin_ns,
			      row->server_source, row->arrived_ns);
	back = bound_between(requests->run, row->server_source, row->responded_ns,
			     row->client_source, row->end_ns);
	cell[FIRST_PART + 2 + REQUEST_PARTS] =
	    known(there > back ? there : back, NSEC_MAX);
}

/* In the order of the table's columns. */
static void make_row(const struct requests *requests, const struct request_row *row,
		     bool spans, struct cell cell[COLUMNS])
{
	const struct flow *flow = &requests->flow[row->flow];
	bool answered = row->end_ns != NSEC_MIN;
	bool client_known = row->request_event != TIMELINE_NONE;
	bool server_known = answered && row->response_event != TIMELINE_NONE;
	int client = flow->client;
	const struct cell none = {.type = CELL_NULL},
			  head[] = {
			      number(row->id),
			      answered ? number(row->last_message) : none,
			      text(&requests->texts, flow->key.protocol),
			      number(row->client),
			      number(row->server),
			      number(requests->run->source[row->client_source].id),
			      number(requests->run->source[row->server_source].id),
			      text(&requests->texts, flow->key.address[client]),
			      known(flow->key.port[client], TIMELINE_NONE),
			      text(&requests->texts, flow->key.address[!client]),
			      known(flow->key.port[!client], TIMELINE_NONE),
			      row->client_by_kernel ? none : known(row->client_tid, -1),
			      row->server_by_kernel ? none : known(row->server_tid, -1),
			      client_known ? number(row->client_by_kernel) : none,
			      server_known ? number(row->server_by_kernel) : none,
			      known(row->request_event, TIMELINE_NONE),
			      server_known ? number(row->response_event) : none,
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
		set_times(requests, row, spans, cell);
}

static int write_rows(const struct requests *requests, bool spans,
		      struct timeline_writer *writer, struct error *error)
{
	struct timeline_table *table = timeline_sorted(writer, "request", NULL, 0);
	const struct cell carriers = number((int64_t)requests->carriers);
	int status = 0;

	for (size_t i = 0; i < requests->count && !status; i++) {
		struct cell cell[COLUMNS];

		make_row(requests, &requests->row[i], spans, cell);
		status = timeline_sorted_add(table, cell, error);
	}
	if (!status && requests->carriers)
		status = timeline_add_meta(writer, "tunnel_messages", &carriers, error);
	return status;
}

int requests_write(struct requests *requests, const struct spans *spans,
		   struct timeline_writer *writer, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < requests->flows; i++)
		end_request(requests, &requests->flow[i]);
	leave_out_tunnels(requests);
	if (spans)
		status = request_parts(requests->row, requests->count, spans, error);
	if (requests->count)
		qsort(requests->row, requests->count, sizeof(*requests->row), compare_id);
	return status ? status : write_rows(requests, spans, writer, error);
}

int requests_tunnels(const struct requests *requests,
		     int (*take)(void *context, const struct request_tunnel *tunnel),
		     void *context)
{
	int status = 0;

	for (size_t i = 0; i < requests->flows && !status; i++) {
		const struct flow *flow = &requests->flow[i];
		const struct request_tunnel tunnel = {
		    texts_get(&requests->texts, flow->key.protocol),
		    {flow->key.node[0], flow->key.node[1]},
		    {texts_get(&requests->texts, flow->key.address[0]),
		     texts_get(&requests->texts, flow->key.address[1])},
		    {flow->key.port[0], flow->key.port[1]},
		    (int64_t)(flow->messages[0] + flow->messages[1])};

		if (is_tunnel(flow))
			status = take(context, &tunnel);
	}
	return status;
}

void requests_free(struct requests *requests)
{
	if (!requests)
		return;
	texts_clear(&requests->texts);
	intmap_clear(&requests->flow_at);
	free(requests->flow);
	free(requests->row);
	free(requests->is_second);
	free(requests);
}
