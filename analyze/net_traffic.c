/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/net_traffic.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/events.h"

#define TCP4 "network_header_ipv4_transport_header_tcp_"
#define UDP4 "network_header_ipv4_transport_header_udp_"
#define TCP6 "network_header_ipv6_transport_header_tcp_"
#define UDP6 "network_header_ipv6_transport_header_udp_"

enum { QUEUE, RECEIVE, RECEIVE_OLD, CAPTURE, WISHES };

/* Fields of net_dev_queue: a header of one kind each, the other's are nothing. */
enum { LEN, NAME, V4, V6 = V4 + 12, QUEUE_FIELDS = V6 + 11 };

/* The fields of one kind of header, behind V4 or V6. */
enum {
	PROTOCOL,
	SRC,
	DST,
	LENGTH,
	TCP_SPORT,
	TCP_DPORT,
	TCP_SEQ,
	TCP_OFFSET,
	TCP_FLAGS,
	UDP_SPORT,
	UDP_DPORT,
	IHL
};

static const struct events_wish wishes[WISHES] = {
    [QUEUE] = {"net_dev_queue",
	       {"len",
		"name",
		"network_header_ipv4_protocol",
		"network_header_ipv4_saddr",
		"network_header_ipv4_daddr",
		"network_header_ipv4_tot_len",
		TCP4 "source_port",
		TCP4 "dest_port",
		TCP4 "seq",
		TCP4 "data_offset",
		TCP4 "flags",
		UDP4 "source_port",
		UDP4 "dest_port",
		"network_header_ipv4_ihl",
		"network_header_ipv6_nexthdr",
		"network_header_ipv6_saddr",
		"network_header_ipv6_daddr",
		"network_header_ipv6_payload_len",
		TCP6 "source_port",
		TCP6 "dest_port",
		TCP6 "seq",
		TCP6 "data_offset",
		TCP6 "flags",
		UDP6 "source_port",
		UDP6 "dest_port"},
	       QUEUE},
    [RECEIVE] = {"net_if_receive_skb", {"len", "name"}, RECEIVE},
    [RECEIVE_OLD] = {"netif_receive_skb", {"len", "name"}, RECEIVE},
    [CAPTURE] = {"packet",
		 {"src", "dst", "protocol", "length", "sport", "dport", "seq", "flags",
		  "payload"},
		 CAPTURE},
};

static int64_t integer(const struct cell *cell, int64_t none)
{
	return cell->type == CELL_INTEGER ? cell->integer : none;
}

/* Which node has an address, by the messages that went there. */
static int take_address(void *context, const struct cell *row)
{
	struct net_traffic *net = context;
	size_t before = net->address_keys.count, at;

	if (row[0].type != CELL_TEXT)
		return 0;
	keys_begin(&net->address_keys);
	keys_text(&net->address_keys, row[0].bytes, row[0].size);
	at = keys_find(&net->address_keys);
	if (at < before)
		return 0;
	net->address_node = mem_grow(net->address_node, at, &net->address_room,
				     sizeof(*net->address_node));
	net->address_node[at] = integer(&row[1], -1);
	return 0;
}

int64_t net_traffic_node(struct net_traffic *net, const char *address)
{
	size_t at;

	keys_begin(&net->address_keys);
	keys_text(&net->address_keys, address, strlen(address));
	at = keys_lookup(&net->address_keys);
	return at == SIZE_MAX ? -1 : net->address_node[at];
}

static struct net_interface *get_interface(struct net_traffic *net, int64_t node,
					   const struct cell *name)
{
	size_t before = net->interface_keys.count, at;
	bool named = name->type == CELL_TEXT;

	keys_begin(&net->interface_keys);
	keys_integer(&net->interface_keys, node);
	keys_text(&net->interface_keys, named ? name->bytes : "", named ? name->size : 0);
	at = keys_find(&net->interface_keys);
	if (at == before) {
		net->interface = mem_grow(net->interface, at, &net->interface_room,
					  sizeof(*net->interface));
		net->interface[at] = (struct net_interface){
		    .node = node,
		    .name =
			named ? mem_strndup(name->bytes, name->size) : mem_strdup("")};
	}
	return &net->interface[at];
}

static void end_interval(struct net_traffic *net)
{
	nsec_t length = net->question->request->interval_ns;

	for (size_t i = 0; i < net->interface_keys.count; i++) {
		struct net_interface *at = &net->interface[i];
		struct net_sum *part = &at->part;

		if (part->sent || part->received)
			result_add(
			    net->over_time,
			    (struct cell[]){
				cell_of_integer(net->interval_end - length),
				cell_of_text(question_node(net->question, at->node)),
				cell_of_text(at->name),
				cell_of_integer((int64_t)part->sent),
				cell_of_integer((int64_t)part->sent_bytes),
				cell_of_integer((int64_t)part->received),
				cell_of_integer((int64_t)part->received_bytes)});
		*part = (struct net_sum){0};
	}
}

static void move_interval(struct net_traffic *net, nsec_t at_ns)
{
	nsec_t length = net->question->request->interval_ns;
	nsec_t origin = net->question->scope.begin_ns;

	if (!net->over_time || at_ns < net->interval_end)
		return;
	end_interval(net);
	net->interval_end = origin + ((at_ns - origin) / length + 1) * length;
}

/* "_tcp" and "tcp" as the protocol's name. */
static const char *protocol_name(char name[32], const struct cell *cell)
{
	const char *text = cell->type == CELL_TEXT ? cell->bytes : "ip";
	size_t size = cell->type == CELL_TEXT ? cell->size : 2;

	if (size && *text == '_') {
		text++;
		size--;
	}
	if (size > 31)
		size = 31;
	memcpy(name, text, size);
	name[size] = '\0';
	return name;
}

/* A field that has so few bits that more than `most` is damage, and no number. */
static int64_t within(const struct cell *cell, int64_t most, int64_t none)
{
	int64_t value = integer(cell, none);

	return value < 0 || value > most ? none : value;
}

/* A header of one kind of IP, if the event has it. */
static void add_header(struct net_traffic *net, const struct event_row *row,
		       const struct cell *field, bool is_v4)
{
	struct packet_seen packet = {.at_ns = row->ts_ns, .node = row->node};
	int64_t header = is_v4 ? 4 * within(&field[IHL], 15, 5) : 40;
	int64_t port = integer(&field[TCP_SPORT], -1);
	char name[32];

	packet.protocol = protocol_name(name, &field[PROTOCOL]);
	flow_address(packet.src, &field[SRC]);
	flow_address(packet.dst, &field[DST]);
	packet.bytes = within(&field[LENGTH], UINT32_MAX, 0) + (is_v4 ? 0 : 40);
	packet.is_tcp = port >= 0;
	packet.sport = packet.is_tcp ? port : integer(&field[UDP_SPORT], -1);
	packet.dport = integer(&field[packet.is_tcp ? TCP_DPORT : UDP_DPORT], -1);
	if (packet.is_tcp) {
		packet.seq = (uint32_t)integer(&field[TCP_SEQ], 0);
		packet.flags = (unsigned)integer(&field[TCP_FLAGS], 0);
		packet.payload =
		    packet.bytes - header - 4 * within(&field[TCP_OFFSET], 15, 5);
		if (packet.payload < 0)
			packet.payload = 0;
	}
	flows_add(&net->flows, &packet);
}

static bool is_loopback(const struct cell *name)
{
	return name->type == CELL_TEXT && name->size == 2 &&
	       !memcmp(name->bytes, "lo", 2);
}

static void add_sent(struct net_traffic *net, const struct event_row *row)
{
	struct net_interface *interface =
	    get_interface(net, row->node, &row->field[NAME]);
	uint64_t bytes = (uint64_t)within(&row->field[LEN], UINT32_MAX, 0);

	interface->all.sent++;
	interface->all.sent_bytes += bytes;
	interface->part.sent++;
	interface->part.sent_bytes += bytes;
	if (is_loopback(&row->field[NAME]))
		return;
	if (row->field[V4 + LENGTH].type == CELL_INTEGER)
		add_header(net, row, &row->field[V4], true);
	else if (row->field[V6 + LENGTH].type == CELL_INTEGER)
		add_header(net, row, &row->field[V6], false);
}

static void add_received(struct net_traffic *net, const struct event_row *row)
{
	struct net_interface *interface = get_interface(net, row->node, &row->field[1]);
	uint64_t bytes = (uint64_t)within(&row->field[0], UINT32_MAX, 0);

	interface->all.received++;
	interface->all.received_bytes += bytes;
	interface->part.received++;
	interface->part.received_bytes += bytes;
}

/* A packet of a capture, where the node that captured is the one that sent it. */
static void add_captured(struct net_traffic *net, const struct event_row *row)
{
	const struct cell *field = row->field;
	struct packet_seen packet = {
	    .at_ns = row->ts_ns,
	    .node = row->node,
	    .bytes = integer(&field[3], 0),
	    .sport = integer(&field[4], -1),
	    .dport = integer(&field[5], -1),
	    .seq = (uint32_t)integer(&field[6], 0),
	    .flags = (unsigned)integer(&field[7], 0),
	    .payload = integer(&field[8], 0),
	};
	char name[32];

	flow_address(packet.src, &field[0]);
	flow_address(packet.dst, &field[1]);
	if (!*packet.src || net_traffic_node(net, packet.src) != row->node)
		return;
	packet.protocol = protocol_name(name, &field[2]);
	packet.is_tcp = !strcmp(packet.protocol, "tcp");
	flows_add(&net->captured, &packet);
}

static void take(struct net_traffic *net, const struct event_row *row)
{
	move_interval(net, row->ts_ns);
	if (row->tag == CAPTURE) {
		add_captured(net, row);
		return;
	}
	net->has_kernel[scope_find(&net->question->scope, row->node) -
			net->question->scope.node] = true;
	if (row->tag == QUEUE)
		add_sent(net, row);
	else
		add_received(net, row);
}

static int read_packets(struct net_traffic *net, struct error *error)
{
	struct events *events = events_new(net->question->reader, &net->question->scope,
					   wishes, WISHES, error);
	struct event_row row;
	uint64_t count = 0;
	int more;

	if (!events)
		return -1;
	net->has_sends = events_recorded(events, QUEUE);
	net->has_receives =
	    events_recorded(events, RECEIVE) || events_recorded(events, RECEIVE_OLD);
	net->has_headers = events_has_field(events, QUEUE, V4 + LENGTH) ||
			   events_recorded(events, CAPTURE);
	while ((more = events_next(events, &row, error)) > 0) {
		take(net, &row);
		if (++count % 4096 == 0)
			question_share(net->question, events_share(events));
	}
	events_free(events);
	return more;
}

int net_traffic_read(struct net_traffic *net, struct error *error)
{
	const struct scope *scope = &net->question->scope;

	net->has_kernel = mem_zalloc((scope->nodes + 1) * sizeof(*net->has_kernel));
	net->interval_end = scope->begin_ns + net->question->request->interval_ns;
	if (question_ask(net->question,
			 "SELECT dst, dst_node FROM message GROUP BY dst, dst_node "
			 "UNION ALL SELECT src, src_node FROM message "
			 "GROUP BY src, src_node",
			 NULL, take_address, net, error) ||
	    read_packets(net, error))
		return -1;
	if (net->over_time)
		end_interval(net);
	return 0;
}

void net_traffic_clear(struct net_traffic *net)
{
	for (size_t i = 0; i < net->interface_keys.count; i++)
		free(net->interface[i].name);
	keys_clear(&net->interface_keys);
	keys_clear(&net->address_keys);
	free(net->interface);
	free(net->address_node);
	free(net->has_kernel);
	flows_clear(&net->flows);
	flows_clear(&net->captured);
}
