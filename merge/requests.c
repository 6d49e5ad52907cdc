/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/requests.h"
#include "merge/sent_packets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/order.h"
#include "input/packet.h"
#include "merge/spans/request_parts.h"
#include "timeline/reader.h"

enum { TCP_SYN = 2, TCP_ACK = 16 };

/* Linux chooses the client's port from here on (ip_local_port_range). */
enum { FIRST_EPHEMERAL = 32768 };

/*
 * The data of one end that was received. Numbers wrap around (RFC 793, 3.3). A lost
 * segment is not a message, so it leaves a hole until it is sent again.
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

/* A row of `request` on its way; times that follow from others are set when it is
 * written. */
struct request_row {
	union {
		struct timeline_request row;
		int64_t value[sizeof(struct timeline_request) / sizeof(int64_t)];
	};
	nsec_t resent_ns[2]; /* time lost, of the request and of the response */
	uint32_t client_source, server_source; /* indexes */
	size_t flow;
};

#define NO_FLOW SIZE_MAX

struct flow_key {
	int64_t node[2];
	uint64_t protocol, address[2]; /* texts */
	int64_t port[2];               /* or TIMELINE_NONE */
};

struct flow {
	struct flow_key key;
	uint64_t messages[2], carriers[2]; /* from each end */
	int client;                        /* the end that asks; -1: not known */
	enum { SILENT, ASKED, ANSWERED } phase;
	struct stream stream[2]; /* from each end */
	struct {
		nsec_t first_ns, last_ns; /* a lost SYN's first, last send, or 0 */
	} setup;
	struct request_row now;
};

struct requests {
	const struct merge_run *run;
	struct texts texts; /* protocols and addresses */
	struct flow *flow;
	size_t flows, flow_capacity;
	struct texts keys; /* flows as a node sees them, as bytes */
	size_t *flow_of;   /* by key */
	size_t flow_of_capacity;
	struct request_row *row;
	size_t count, capacity;
	int64_t messages;
	uint64_t carriers; /* messages of tunnels, that carry others */
};

struct requests *requests_new(const struct merge_run *run)
{
	struct requests *requests = mem_zalloc(sizeof(*requests));

	requests->run = run;
	return requests;
}

/* Return the end, 0 or 1, that is the client according to the ports, or -1. */
static int client_by_ports(const int64_t port[2])
{
	for (int i = 0; i < 2; i++)
		if (port[i] >= FIRST_EPHEMERAL && port[!i] >= 0 &&
		    port[!i] < FIRST_EPHEMERAL)
			return i;
	return -1;
}

/* Make the key of a message's flow from its ends' names; the end with the lesser name is
 * the first. `first` is the index of that end, 0 for the sender. */
static struct flow_key make_key(struct requests *requests,
				const struct timeline_message *row,
				struct request_name src, struct request_name dst,
				int *first)
{
	const struct request_name name[2] = {src, dst};
	const size_t address[2] = {texts_put(&requests->texts, src.address),
				   texts_put(&requests->texts, dst.address)};
	const int64_t node[2] = {row->src_node, row->dst_node};
	const int order = strcmp(src.address, dst.address);
	const int at = order                  ? order > 0
		       : src.port != dst.port ? src.port > dst.port
					      : node[0] > node[1];

	*first = at;
	return (struct flow_key){
	    .node = {node[at], node[!at]},
	    .protocol = texts_put(&requests->texts, row->protocol),
	    .address = {address[at], address[!at]},
	    .port = {name[at].port, name[!at].port},
	};
}

/* Return the index of a key's flow, or of the place for it if the key is new. */
static size_t *find_key(struct requests *requests, const struct flow_key *key)
{
	size_t count = requests->keys.count;
	size_t at = texts_put_bytes(&requests->keys, (const char *)key, sizeof(*key));

	if (at == count)
		*MEM_NEXT(requests->flow_of, count, requests->flow_of_capacity) = NO_FLOW;
	return &requests->flow_of[at];
}

/*
 * Return the flow of a message; `from` is the end that sent it. Behind NAT, each end sees
 * the flow under other names, and a message has those of both: so a flow has a key for
 * each end, and either finds it.
 */
static struct flow *find_flow(struct requests *requests,
			      const struct request_message *message, int *from)
{
	const struct timeline_message *row = &message->row;
	struct request_name src = {row->src, row->sport}, dst = {row->dst, row->dport};
	struct flow_key own, seen[2];
	size_t *at[2], found;
	char key[2 * 16 + 1];
	int first;

	if (message->declared) {
		snprintf(key, sizeof(key), "%016" PRIx64 "%016" PRIx64, message->key[0],
			 message->key[1]);
		src.address = dst.address = key;
	}
	own = seen[0] = seen[1] = make_key(requests, row, src, dst, from);
	if (message->sent_to.address) {
		seen[0] = make_key(requests, row, src, message->sent_to, &first);
		seen[1] = make_key(requests, row, message->received_from, dst, &first);
	}
	find_key(requests, &seen[0]);
	at[1] = find_key(requests, &seen[1]);
	at[0] = find_key(requests, &seen[0]);
	found = *at[0] < *at[1] ? *at[0] : *at[1];
	if (found == NO_FLOW) {
		found = requests->flows;
		*MEM_NEXT(requests->flow, requests->flows, requests->flow_capacity) =
		    (struct flow){.key = own, .client = client_by_ports(own.port)};
	}
	for (int i = 0; i < 2; i++)
		if (*at[i] == NO_FLOW)
			*at[i] = found;
	if (own.node[0] != own.node[1])
		*from = row->src_node != requests->flow[found].key.node[0];
	return &requests->flow[found];
}

static void add_hole(struct stream *stream, uint32_t from, uint32_t to)
{
	if (stream->holes < HOLES)
		stream->holes++;
	memmove(stream->hole + 1, stream->hole,
		(stream->holes - 1) * sizeof(*stream->hole));
	stream->hole[0] = (struct hole){from, to};
}

/* Return true if the data fills part of a hole. The hole then starts after the data,
 * because segments are sent again in order. */
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

/* Return true if the first byte of a message was sent before, but its last was not. The
 * first send of that byte is then not the first one of the new data. */
static bool begins_with_old_data(const struct stream *stream,
				 const struct request_message *message)
{
	uint32_t from = (uint32_t)message->row.seq, to = from + (uint32_t)message->data;

	return stream->begun && message->row.seq != TIMELINE_NONE &&
	       (int32_t)(from - stream->high) < 0 && (int32_t)(to - stream->high) > 0;
}

/* Return true if its data is new to the receiver. */
static bool is_new_data(struct stream *stream, const struct request_message *message)
{
	uint32_t from = (uint32_t)message->row.seq, to = from + (uint32_t)message->data;

	if (!message->data)
		return false;
	if (strcmp(message->row.protocol, "tcp") != 0 ||
	    message->row.seq == TIMELINE_NONE)
		return true;
	if (stream->begun && (int32_t)(to - stream->high) <= 0)
		return fill_hole(stream, from, to);
	if (stream->begun && (int32_t)(from - stream->high) > 0)
		add_hole(stream, stream->high, from);
	stream->begun = true;
	stream->high = to;
	return true;
}

/* Limit the time for which data was lost to the time of the transfer that contains it. */
static void limit_resent(nsec_t *resent_ns, nsec_t begin_ns, nsec_t end_ns)
{
	nsec_t whole = nsec_sub(end_ns, begin_ns);

	if (*resent_ns > whole)
		*resent_ns = whole;
}

static void end_request(struct requests *requests, struct flow *flow)
{
	struct timeline_request *now = &flow->now.row;

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
		limit_resent(&flow->now.resent_ns[0], now->begin_ns, now->arrived_ns);
		limit_resent(&flow->now.resent_ns[1], now->responded_ns, now->end_ns);
	}
	*MEM_NEXT(requests->row, requests->count, requests->capacity) = flow->now;
	flow->phase = SILENT;
}

/* Set the thread that passed a message to the kernel. If the packet was queued before,
 * for a container or a tunnel, a thread did that, unless idle was interrupted. For a node
 * elsewhere the thread is unknown. */
static void set_sender(const struct request_message *message, int64_t *tid,
		       int64_t *by_kernel, int64_t *event)
{
	const struct request_send *first = &message->first;
	const struct sent_packet *sent = &first->sent;

	if (first->event == TIMELINE_NONE)
		return;
	*event = sent->origin;
	*by_kernel = *event != first->event
			 ? sent->origin_tid == 0
			 : first->by && strcmp(first->by, "thread") != 0;
	if (!*by_kernel && sent->origin_tid != -1)
		*tid = sent->origin_tid;
}

/* Return a copy that lasts; NULL of NULL. */
static const char *keep_text(struct requests *requests, const char *text)
{
	return text ? texts_get(&requests->texts, texts_put(&requests->texts, text))
		    : NULL;
}

static void begin_request(struct requests *requests, struct flow *flow,
			  const struct request_message *message)
{
	const struct timeline_message *row = &message->row;
	struct timeline_request *now = &flow->now.row;

	flow->phase = ASKED;
	flow->now.client_source = message->send_source;
	flow->now.server_source = message->recv_source;
	flow->now.flow = (size_t)(flow - requests->flow);
	for (size_t i = 0; i < sizeof(*now) / sizeof(int64_t); i++)
		flow->now.value[i] = TIMELINE_NONE;
	now->id = requests->messages;
	now->protocol = texts_get(&requests->texts, flow->key.protocol);
	now->client = row->src_node;
	now->server = row->dst_node;
	now->client_source = requests->run->source[message->send_source].id;
	now->server_source = requests->run->source[message->recv_source].id;
	now->client_address = keep_text(requests, row->src);
	now->client_port = row->sport;
	now->server_address = keep_text(requests, row->dst);
	now->server_port = row->dport;
	now->begin_ns = message->first.ns;
	now->arrived_ns = NSEC_MIN;
	now->request_bytes = 0;
	flow->now.resent_ns[0] = flow->now.resent_ns[1] = 0;
	set_sender(message, &now->client_tid, &now->client_by_kernel,
		   &now->request_event);
}

/* Return the time from the first send of a message's data to the send that arrived. */
static nsec_t resent_time(const struct request_message *message)
{
	return nsec_sub(message->row.send_ns, message->first.ns);
}

static int64_t add_data(int64_t bytes, int64_t data)
{
	return data == TIMELINE_NONE ? TIMELINE_NONE : nsec_add(bytes, data);
}

/* Add a message to a request. A segment that fills a hole may have been sent first. */
static void add_request(struct request_row *request,
			const struct request_message *message)
{
	struct timeline_request *now = &request->row;
	nsec_t recv_ns = message->row.recv_ns;

	now->request_bytes = add_data(now->request_bytes, message->data);
	if (message->first.ns < now->begin_ns)
		now->begin_ns = message->first.ns;
	if (recv_ns > now->arrived_ns) {
		now->arrived_ns = recv_ns;
		request->resent_ns[0] = resent_time(message);
	}
}

/*
 * Let the first request of a connection begin with the first SYN that was lost, if it was
 * sent after the successful SYN within at most the time for which SYNs were lost.
 */
static void add_setup(struct flow *flow)
{
	struct timeline_request *now = &flow->now.row;
	nsec_t lost_ns = nsec_sub(flow->setup.last_ns, flow->setup.first_ns);

	if (flow->setup.first_ns &&
	    nsec_sub(now->begin_ns, flow->setup.last_ns) <= lost_ns) {
		now->begin_ns = flow->setup.first_ns;
		flow->now.resent_ns[0] = nsec_add(flow->now.resent_ns[0], lost_ns);
	}
	flow->setup.first_ns = 0;
}

static void add_response(struct requests *requests, struct flow *flow,
			 const struct request_message *message)
{
	struct timeline_request *now = &flow->now.row;
	nsec_t recv_ns = message->row.recv_ns;

	if (flow->phase == ASKED) {
		flow->phase = ANSWERED;
		now->responded_ns = message->first.ns;
		now->given_ns = now->responded_ns;
		now->response_bytes = 0;
		set_sender(message, &now->server_tid, &now->server_by_kernel,
			   &now->response_event);
		if (now->response_event != TIMELINE_NONE &&
		    message->first.sent.origin_ns < now->given_ns)
			now->given_ns = message->first.sent.origin_ns;
	}
	now->response_bytes = add_data(now->response_bytes, message->data);
	if (message->first.ns < now->responded_ns)
		now->responded_ns = message->first.ns;
	if (now->given_ns > now->responded_ns)
		now->given_ns = now->responded_ns;
	if (recv_ns > now->end_ns) {
		now->end_ns = recv_ns;
		flow->now.resent_ns[1] = resent_time(message);
		now->last_message = requests->messages;
	}
}

static void add_message(struct requests *requests, const struct request_message *message)
{
	int from;
	struct flow *flow = find_flow(requests, message, &from);
	struct request_message own;
	bool begins;

	flow->messages[from]++;
	flow->carriers[from] += message->is_carrier;
	if ((message->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
		end_request(requests, flow); /* a new connection */
		memset(flow->stream, 0, sizeof(flow->stream));
		flow->client = from;
		flow->setup.first_ns = 0;
	}
	if (message->flags & TCP_SYN && resent_time(message) > 0) {
		if (!flow->setup.first_ns || message->first.ns < flow->setup.first_ns)
			flow->setup.first_ns = message->first.ns;
		flow->setup.last_ns = message->row.send_ns;
	}
	if (begins_with_old_data(&flow->stream[from], message)) {
		own = *message;
		own.first.ns = own.row.send_ns;
		message = &own;
	}
	if (!is_new_data(&flow->stream[from], message))
		return;
	if (message->declared)
		flow->client = message->declared & PACKET_ASKS ? from : !from;
	if (flow->client < 0)
		flow->client = from;
	if (from == flow->client) {
		if (flow->phase == ANSWERED)
			end_request(requests, flow);
		begins = flow->phase == SILENT;
		if (begins)
			begin_request(requests, flow, message);
		add_request(&flow->now, message);
		if (begins)
			add_setup(flow);
	} else if (flow->phase != SILENT) { /* a greeting answers nothing */
		add_response(requests, flow, message);
	}
}

void requests_message(struct requests *requests, const struct request_message *message)
{
	const struct merge_run *run = requests->run;
	const struct timeline_message *row = &message->row;

	requests->messages++;
	if ((row->send_event != TIMELINE_NONE || message->send_source >= run->count) &&
	    (message->declared || (row->src && row->dst)))
		add_message(requests, message);
}

/*
 * Return true if the flow carries other packets. On the ports of VXLAN (RFC 7348, and
 * Linux's own), Geneve and WireGuard one such packet is enough. On other ports, half of
 * the packets of one end must be, because buffers are reused by chance; the other end's
 * may be in buffers of their own after segmentation.
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

	return COMPARE(one->row.id, other->row.id);
}

/* Return the bound of the time between instants of two sources; NSEC_MAX if open. */
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

/* Set the times that depend on the response. */
static void set_times(const struct merge_run *run, struct request_row *request)
{
	struct timeline_request *row = &request->row;
	nsec_t there = bound_between(run, request->client_source, row->begin_ns,
				     request->server_source, row->arrived_ns);
	nsec_t back = bound_between(run, request->server_source, row->responded_ns,
				    request->client_source, row->end_ns);

	row->resent_ns = nsec_add(request->resent_ns[0], request->resent_ns[1]);
	row->there_ns =
	    nsec_sub(nsec_sub(row->arrived_ns, row->begin_ns), request->resent_ns[0]);
	row->back_ns =
	    nsec_sub(nsec_sub(row->end_ns, row->responded_ns), request->resent_ns[1]);
	if (there != NSEC_MAX && back != NSEC_MAX)
		row->bound_ns = there > back ? there : back;
}

/* Set the parts of requests that nodes of the run answered. */
static int set_parts(struct requests *requests, const struct spans *spans,
		     struct error *error)
{
	const struct merge_run *run = requests->run;
	AUTOFREE struct served_request *served =
	    mem_alloc(requests->count * sizeof(*served));
	size_t count = 0;

	for (size_t i = 0; i < requests->count; i++) {
		struct request_row *request = &requests->row[i];
		uint32_t node = run->source[request->server_source].node;

		if (request->row.end_ns != TIMELINE_NONE && node < run->nodes)
			served[count++] = (struct served_request){
			    node, request->row.server_tid, &request->row};
	}
	return request_parts_set(spans, served, count, error);
}

int requests_finish(struct requests *requests, const struct spans *spans,
		    struct error *error)
{
	for (size_t i = 0; i < requests->flows; i++)
		end_request(requests, &requests->flow[i]);
	leave_out_tunnels(requests);
	SORT(requests->row, requests->count, compare_id);
	for (size_t i = 0; i < requests->count; i++)
		if (requests->row[i].row.end_ns != TIMELINE_NONE)
			set_times(requests->run, &requests->row[i]);
	return spans ? set_parts(requests, spans, error) : 0;
}

int requests_write(const struct requests *requests, struct timeline_writer *writer,
		   struct error *error)
{
	struct cell carriers;
	int status = 0;

	for (size_t i = 0; i < requests->count && !status; i++)
		status = timeline_add_request(writer, &requests->row[i].row, error);
	carriers = cell_of_integer((int64_t)requests->carriers);
	if (!status && requests->carriers)
		status = timeline_add_meta(writer, "tunnel_messages", &carriers, error);
	return status;
}

static struct cell text_of(const struct requests *requests, uint64_t text)
{
	return cell_of_text(texts_get(&requests->texts, text));
}

int requests_tunnels(const struct requests *requests, timeline_row_fn *on_row,
		     void *context, struct error *error)
{
	int status = 0;

	for (size_t i = 0; i < requests->flows && !status; i++) {
		const struct flow *flow = &requests->flow[i];
		const struct flow_key *key = &flow->key;
		struct cell cell[8] = {text_of(requests, key->protocol)};

		for (int end = 0; end < 2; end++) {
			cell[1 + 3 * end] = cell_of_integer(key->node[end]);
			cell[2 + 3 * end] = text_of(requests, key->address[end]);
			if (key->port[end] != TIMELINE_NONE)
				cell[3 + 3 * end] = cell_of_integer(key->port[end]);
		}
		cell[7] =
		    cell_of_integer((int64_t)(flow->messages[0] + flow->messages[1]));
		if (is_tunnel(flow))
			status = on_row(context, cell, error);
	}
	return status;
}

void requests_free(struct requests *requests)
{
	if (!requests)
		return;
	texts_clear(&requests->texts);
	texts_clear(&requests->keys);
	free(requests->flow);
	free(requests->flow_of);
	free(requests->row);
	free(requests);
}
