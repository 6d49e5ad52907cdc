/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_packets.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "input/declared_events.h"
#include "input/packet_source.h"

/*
 * Packets of an LTTng kernel trace.
 *
 * A receive has the time at which the packet entered the stack's receive offload
 * (net_napi_gro_receive_entry), if that is traced and the exit shows that the packet was
 * not merged into another; otherwise the time of net_if_receive_skb.
 *
 * The time of a send is harder. net_dev_queue precedes the queueing discipline, which can
 * hold the packet for long. net_dev_xmit is written after the driver has returned, when
 * the other host may already have the packet. But a CPU hands the packets of one device
 * to its driver one after the other, so the packet had certainly not left before the
 * *previous* net_dev_xmit of that CPU and device. The time of the send is the later of
 * that and net_dev_queue.
 */

/* The fields of a network header, in this order. */
enum header_field {
	TCP_SPORT,
	TCP_DPORT,
	TCP_SEQ,
	TCP_ACK,
	TCP_OFFSET,
	TCP_FLAGS,
	TCP_WINDOW,
	UDP_SPORT,
	UDP_DPORT,
	UDP_LENGTH,
	ICMP_TYPE,
	ICMP_CODE,
	ICMP_ECHO,
	SRC,
	DST,
	LENGTH,
	ID, /* or flow label */
	PROTOCOL,
	HOPS,
	V4_FRAGMENT, /* from here on only IPv4 */
	V4_IHL,
	V4_FIELDS,
};

enum { FIELD_IPV4 = FIELD_HEADERS, FIELD_IPV6 = FIELD_IPV4 + V4_FIELDS };

#define TRANSPORT(network)                                                               \
	network ".transport_header.tcp.source_port",                                     \
	    network ".transport_header.tcp.dest_port",                                   \
	    network ".transport_header.tcp.seq",                                         \
	    network ".transport_header.tcp.ack_seq",                                     \
	    network ".transport_header.tcp.data_offset",                                 \
	    network ".transport_header.tcp.flags",                                       \
	    network ".transport_header.tcp.window_size",                                 \
	    network ".transport_header.udp.source_port",                                 \
	    network ".transport_header.udp.dest_port",                                   \
	    network ".transport_header.udp.len", network ".transport_header.icmp.type",  \
	    network ".transport_header.icmp.code",                                       \
	    network ".transport_header.icmp.gateway", network ".saddr", network ".daddr"

#define IPV4 "network_header.ipv4"
#define IPV6 "network_header.ipv6"

static const char *const packet_fields[] = {
    "skbaddr",        "name",          "len",
    TRANSPORT(IPV4),  IPV4 ".tot_len", IPV4 ".id",
    IPV4 ".protocol", IPV4 ".ttl",     IPV4 ".frag_off",
    IPV4 ".ihl",      TRANSPORT(IPV6), IPV6 ".payload_len",
    IPV6 ".flow_lbl", IPV6 ".nexthdr", IPV6 ".hop_limit",
};

static const char *const xmit_fields[] = {"skbaddr", "name", "rc"};
static const char *const entry_fields[] = {"skbaddr"};
static const char *const exit_fields[] = {"ret"};

/* Cells of CLASS_XMIT. */
enum { XMIT_SKB, XMIT_NAME, XMIT_RC };

enum { SOCKET_SEQ, SOCKET_ACK, SOCKET_WINDOW, SOCKET_FLAGS };
static const char *const socket_fields[] = {"seq", "ack_seq", "window", "flags"};

#define PACKET_CLASS(name, fields)                                                       \
	{                                                                                \
		name, fields, sizeof(fields) / sizeof(*(fields))                         \
	}

const struct packet_class packet_classes[PACKET_CLASSES] = {
    [CLASS_QUEUE] = PACKET_CLASS("net_dev_queue", packet_fields),
    [CLASS_RECEIVE] = PACKET_CLASS("net_if_receive_skb", packet_fields),
    [CLASS_OLD_RECEIVE] = PACKET_CLASS("netif_receive_skb", packet_fields),
    [CLASS_XMIT] = PACKET_CLASS("net_dev_xmit", xmit_fields),
    [CLASS_GRO_ENTRY] = PACKET_CLASS("net_napi_gro_receive_entry", entry_fields),
    [CLASS_GRO_EXIT] = PACKET_CLASS("net_napi_gro_receive_exit", exit_fields),
    [CLASS_FRAGS_ENTRY] = PACKET_CLASS("net_napi_gro_frags_entry", entry_fields),
    [CLASS_FRAGS_EXIT] = PACKET_CLASS("net_napi_gro_frags_exit", exit_fields),
    [CLASS_SOCKET_OUT] = PACKET_CLASS("inet_sock_local_out", socket_fields),
    [CLASS_SOCKET_IN] = PACKET_CLASS("inet_sock_local_in", socket_fields),
};

static uint64_t integer_of(const struct cell *value)
{
	return value->type == CELL_INTEGER ? (uint64_t)value->integer : 0;
}

/*
 * Copy an address, an array of bytes or of 16-bit words. The cell holds its bytes in
 * network order.
 */
static int copy_address(const struct cell *value, unsigned bytes, uint8_t out[16])
{
	if (value->type != CELL_BLOB || value->size != bytes)
		return -1;
	memcpy(out, value->bytes, bytes);
	return 0;
}

/* Return the flow label; the first of its bytes holds only four of its bits. */
static uint32_t flow_label(const struct cell *value)
{
	uint32_t label = 0;

	if (value->type != CELL_BLOB)
		return (uint32_t)integer_of(value) & 0xfffff;
	for (unsigned i = 0; i < value->size && i < 3; i++)
		label = label << 8 | (unsigned char)value->bytes[i];
	return label & 0xfffff;
}

static void decode_tcp(const struct cell *header, struct packet *packet)
{
	packet->protocol = IPPROTO_TCP;
	packet->sport = (uint16_t)integer_of(&header[TCP_SPORT]);
	packet->dport = (uint16_t)integer_of(&header[TCP_DPORT]);
	packet->seq = (uint32_t)integer_of(&header[TCP_SEQ]);
	packet->ack = (uint32_t)integer_of(&header[TCP_ACK]);
	packet->flags = (uint8_t)integer_of(&header[TCP_FLAGS]);
	packet->window = (uint16_t)integer_of(&header[TCP_WINDOW]);
}

static void decode_udp(const struct cell *header, struct packet *packet)
{
	packet->protocol = IPPROTO_UDP;
	packet->sport = (uint16_t)integer_of(&header[UDP_SPORT]);
	packet->dport = (uint16_t)integer_of(&header[UDP_DPORT]);
	packet->udp_length = (uint16_t)integer_of(&header[UDP_LENGTH]);
}

static void decode_icmp(const struct cell *header, struct packet *packet)
{
	packet->protocol = IPPROTO_ICMP;
	packet->sport = (uint16_t)(integer_of(&header[ICMP_TYPE]) << 8 |
				   (integer_of(&header[ICMP_CODE]) & 0xff));
	packet->seq = (uint32_t)integer_of(&header[ICMP_ECHO]);
}

static void decode_transport(const struct cell *header, struct packet *packet,
			     uint32_t network_length)
{
	uint32_t length;

	packet->known |= PACKET_TRANSPORT;
	if (header[TCP_SEQ].type != CELL_NULL) {
		decode_tcp(header, packet);
		length = network_length + 4 * (uint32_t)integer_of(&header[TCP_OFFSET]);
		packet->payload = packet->length > length ? packet->length - length : 0;
	} else if (header[UDP_SPORT].type != CELL_NULL) {
		decode_udp(header, packet);
	} else if (header[ICMP_TYPE].type != CELL_NULL) {
		decode_icmp(header, packet);
	} else {
		packet->known = (uint8_t)(packet->known & ~PACKET_TRANSPORT);
	}
}

static int decode_network(const struct cell *header, uint8_t family,
			  struct packet_event *packet_event)
{
	struct packet *packet = &packet_event->packet;
	bool is_ipv4 = family == 4;
	uint64_t fragment = is_ipv4 ? integer_of(&header[V4_FRAGMENT]) : 0;
	uint32_t length = is_ipv4 ? 4 * (uint32_t)integer_of(&header[V4_IHL]) : 0;

	*packet = (struct packet){
	    .known = PACKET_NETWORK,
	    .family = family,
	    .length = (uint32_t)integer_of(&header[LENGTH]),
	    .id = is_ipv4 ? (uint32_t)integer_of(&header[ID]) : flow_label(&header[ID]),
	    .fragment = (uint16_t)(fragment & 0x3fff),
	    .protocol = (uint8_t)integer_of(&header[PROTOCOL]),
	};
	packet_event->hops = (uint8_t)integer_of(&header[HOPS]);
	if (copy_address(&header[SRC], is_ipv4 ? 4 : 16, packet->src) ||
	    copy_address(&header[DST], is_ipv4 ? 4 : 16, packet->dst))
		return -1;
	if ((fragment & 0x1fff) == 0)
		decode_transport(header, packet, length);
	return 0;
}

int trace_packet_decode(const struct cell *value, struct packet_event *packet_event)
{
	if (value[FIELD_IPV4 + SRC].type != CELL_NULL)
		return decode_network(&value[FIELD_IPV4], 4, packet_event);
	if (value[FIELD_IPV6 + SRC].type != CELL_NULL)
		return decode_network(&value[FIELD_IPV6], 6, packet_event);
	return -1;
}

/*
 * Return the flags from the half of the TCP header's fourth word that holds length and
 * flags. In network byte order the flags come last, and the length, 5 to 15 words, is in
 * the first four bits. The addons of 2013 wrote the fields in reverse, down to the bits:
 * the length last, and FIN first. A last byte from 5 to 15 is a length, because no packet
 * has two of the flags FIN to PSH, or PSH, without ACK.
 */
static uint8_t socket_flags_of(uint64_t word)
{
	uint8_t last = (uint8_t)word, flags = 0;

	if (last < 5 || last > 15)
		return last;
	for (int i = 0; i < 8; i++)
		flags |= (uint8_t)((word >> (15 - i) & 1) << i);
	return flags;
}

int trace_socket_decode(const struct cell *value, struct packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	if (value[SOCKET_SEQ].type == CELL_NULL)
		return -1;
	packet->known = PACKET_TRANSPORT;
	packet->protocol = IPPROTO_TCP;
	packet->seq = (uint32_t)integer_of(&value[SOCKET_SEQ]);
	packet->ack = (uint32_t)integer_of(&value[SOCKET_ACK]);
	packet->window = (uint16_t)integer_of(&value[SOCKET_WINDOW]);
	packet->flags = socket_flags_of(integer_of(&value[SOCKET_FLAGS]));
	return 0;
}

enum { GRO_MERGED, GRO_MERGED_FREE, GRO_HELD, GRO_NORMAL, MOST_WAITING = 65536 };

struct trace_packets {
	struct packet_source base;
	/* Packets that were queued but not transmitted yet. */
	struct waiting {
		struct packet_event packet_event;
		uint64_t skb;
	} * waiting;
	size_t waitings, waiting_capacity;
	struct intmap queued;    /* skb -> index in `waiting` */
	struct intmap last_xmit; /* CPU and device -> local time */
	struct intmap entered;   /* skb -> local time of its GRO entry */
	struct intmap entering;  /* stream -> skb of the last GRO entry */
	struct texts device;     /* a device's number is its index plus one */
	uint64_t headerless;     /* packets received without a header, except ARP */
	uint8_t *wanted;         /* packet class of each event class, or PACKET_CLASSES */
	bool is_defined[PACKET_CLASSES];  /* by the trace's metadata */
	struct declared_events *declared; /* may be NULL */
	packet_event_fn *on_packet;
	void *context;
};

static uint32_t device_number(struct trace_packets *packets, const struct cell *name)
{
	if (name->type != CELL_TEXT)
		return 0;
	return (uint32_t)texts_put_bytes(&packets->device, name->bytes, name->size) + 1;
}

static bool is_loopback_device(const struct cell *name)
{
	return name->type == CELL_TEXT && name->size == 2 &&
	       memcmp(name->bytes, "lo", 2) == 0;
}

static struct packet_event packet_event_of(const struct trace_event *event, bool received)
{
	return (struct packet_event){
	    .ns = event->local_ns,
	    .whole_ns = received ? event->local_ns : NSEC_MAX,
	    .event_ns = event->local_ns,
	    .received = received,
	    .stream = event->stream,
	    .ordinal = event->ordinal,
	};
}

static void deliver_packet(struct trace_packets *packets,
			   const struct packet_event *packet_event)
{
	struct packet_counts *counts = &packets->base.counts;

	++*(packet_event->received ? &counts->received : &counts->sent);
	packets->on_packet(packets->context, packet_event);
}

static void queue_send(struct trace_packets *packets, uint64_t skb,
		       const struct packet_event *packet_event)
{
	packets->waiting =
	    mem_grow(packets->waiting, packets->waitings, &packets->waiting_capacity,
		     sizeof(*packets->waiting));
	packets->waiting[packets->waitings] = (struct waiting){*packet_event, skb};
	intmap_put(&packets->queued, skb, (int64_t)packets->waitings++);
}

/* Deliver a queued packet and move the last one into its slot. */
static void deliver_queued(struct trace_packets *packets, int64_t at)
{
	struct waiting *waiting = &packets->waiting[at];

	deliver_packet(packets, &waiting->packet_event);
	intmap_remove(&packets->queued, waiting->skb, &at);
	*waiting = packets->waiting[--packets->waitings];
	if (waiting < packets->waiting + packets->waitings)
		intmap_put(&packets->queued, waiting->skb, at);
}

/* Deliver all queued packets, with their queueing times. */
static void deliver_all_queued(struct trace_packets *packets)
{
	for (size_t i = 0; i < packets->waitings; i++)
		deliver_packet(packets, &packets->waiting[i].packet_event);
	packets->waitings = 0;
	intmap_clear(&packets->queued);
}

/*
 * A packet without a header is of another protocol or of a VLAN, or its device has no
 * receive offload. A frame that is not longer than this is taken for ARP.
 */
enum { LONGEST_ARP = 46 };

static void note_headerless(struct trace_packets *packets, const struct cell *value)
{
	packets->base.counts.headerless++;
	packets->headerless += value[FIELD_LENGTH].type == CELL_INTEGER &&
			       value[FIELD_LENGTH].integer > LONGEST_ARP;
}

/*
 * Decode an event's packet. Return false if it did not leave its host or arrive from
 * another one, or has no header.
 */
static bool read_packet(struct trace_packets *packets, const struct cell *value,
			struct packet_event *packet_event)
{
	packets->base.counts.network_events++;
	if (is_loopback_device(&value[FIELD_NAME]))
		return false;
	if (trace_packet_decode(value, packet_event)) {
		if (packet_event->received)
			note_headerless(packets, value);
		return false;
	}
	if (packet_is_local(&packet_event->packet))
		return false;
	packet_event->device = device_number(packets, &value[FIELD_NAME]);
	return true;
}

static void handle_queue(struct trace_packets *packets, const struct trace_event *event)
{
	const struct cell *value = event->cell;
	struct packet_event packet_event = packet_event_of(event, false);
	uint64_t skb = (uint64_t)value[FIELD_SKB].integer;
	int64_t at;

	if (!read_packet(packets, value, &packet_event))
		return;
	if (!packets->is_defined[CLASS_XMIT]) {
		deliver_packet(packets, &packet_event);
		return;
	}
	/* A buffer is queued again when one device passes it to the next. */
	if (intmap_get(&packets->queued, skb, &at))
		deliver_queued(packets, at);
	if (packets->waitings >= MOST_WAITING)
		deliver_all_queued(packets);
	queue_send(packets, skb, &packet_event);
}

static void handle_xmit(struct trace_packets *packets, const struct trace_event *event)
{
	const struct cell *value = event->cell;
	uint64_t skb = (uint64_t)value[XMIT_SKB].integer;
	uint32_t device = device_number(packets, &value[XMIT_NAME]);
	uint64_t lane = (uint64_t)event->stream << 32 | device;
	bool is_taken =
	    value[XMIT_RC].type != CELL_INTEGER || value[XMIT_RC].integer == 0;
	struct packet_event *packet_event;
	int64_t at, previous;

	if (intmap_get(&packets->queued, skb, &at) && is_taken &&
	    packets->waiting[at].packet_event.device == device) {
		packet_event = &packets->waiting[at].packet_event;
		packet_event->whole_ns = event->local_ns;
		if (intmap_get(&packets->last_xmit, lane, &previous) &&
		    previous > packet_event->ns && previous <= event->local_ns)
			packet_event->ns = previous;
		deliver_queued(packets, at);
	}
	intmap_put(&packets->last_xmit, lane, event->local_ns);
}

static void report_headerless(struct trace_packets *packets)
{
	if (packets->headerless)
		problem_add(&packets->base.problems, packets->base.path,
			    PROBLEM_HEADERLESS, packets->headerless,
			    "%" PRIu64 " packets received carry no headers (receive "
			    "offload off, or a VLAN's); skipped",
			    packets->headerless);
}

static void handle_receive(struct trace_packets *packets, const struct trace_event *event)
{
	const struct cell *value = event->cell;
	struct packet_event packet_event = packet_event_of(event, true);
	int64_t entered;
	bool known = intmap_remove(&packets->entered, (uint64_t)value[FIELD_SKB].integer,
				   &entered);

	if (!read_packet(packets, value, &packet_event))
		return;
	if (known && entered < packet_event.ns)
		packet_event.ns = entered;
	deliver_packet(packets, &packet_event);
}

static void handle_gro_entry(struct trace_packets *packets,
			     const struct trace_event *event)
{
	const bool *defined = packets->is_defined;

	/* Without the exits it is unknown which packets were merged. */
	if (!defined[CLASS_GRO_EXIT] ||
	    defined[CLASS_FRAGS_ENTRY] != defined[CLASS_FRAGS_EXIT] ||
	    event->cell[0].type != CELL_INTEGER)
		return;
	intmap_put(&packets->entered, (uint64_t)event->cell[0].integer, event->local_ns);
	intmap_put(&packets->entering, event->stream, event->cell[0].integer);
}

static void handle_gro_exit(struct trace_packets *packets,
			    const struct trace_event *event)
{
	const struct cell *result = &event->cell[0];
	int64_t skb, entered;

	if (!intmap_remove(&packets->entering, event->stream, &skb))
		return;
	if (result->type == CELL_NULL ||
	    (result->integer != GRO_HELD && result->integer != GRO_NORMAL))
		intmap_remove(&packets->entered, (uint64_t)skb, &entered);
}

/*
 * Handle a socket event of the addons, which has only the transport part and no device.
 */
static void handle_socket(struct trace_packets *packets, const struct trace_event *event)
{
	struct packet_event packet_event =
	    packet_event_of(event, packets->wanted[event->class] == CLASS_SOCKET_IN);

	packets->base.counts.network_events++;
	if (trace_socket_decode(event->cell, &packet_event.packet) == 0)
		deliver_packet(packets, &packet_event);
}

static void deliver_declared(void *context, const struct packet_event *packet_event)
{
	struct trace_packets *packets = context;

	packets->base.counts.network_events++;
	deliver_packet(packets, packet_event);
}

static void handle_event(void *context, const struct trace_event *event)
{
	static void (*const by_class[])(struct trace_packets *,
					const struct trace_event *) = {
	    [CLASS_QUEUE] = handle_queue,           [CLASS_RECEIVE] = handle_receive,
	    [CLASS_OLD_RECEIVE] = handle_receive,   [CLASS_XMIT] = handle_xmit,
	    [CLASS_GRO_ENTRY] = handle_gro_entry,   [CLASS_GRO_EXIT] = handle_gro_exit,
	    [CLASS_FRAGS_ENTRY] = handle_gro_entry, [CLASS_FRAGS_EXIT] = handle_gro_exit,
	    [CLASS_SOCKET_OUT] = handle_socket,     [CLASS_SOCKET_IN] = handle_socket,
	};
	struct trace_packets *packets = context;
	uint8_t wanted = packets->wanted[event->class];

	if (wanted < PACKET_CLASSES)
		by_class[wanted](packets, event);
	else
		declared_events_add(packets->declared, event, deliver_declared, packets);
}

static void update_facts(struct trace_packets *packets)
{
	packets->base.facts = *trace_reader_facts(packets->base.reader);
}

static bool trace_step(struct packet_source *source, packet_event_fn *on_packet,
		       void *context)
{
	struct trace_packets *packets = (struct trace_packets *)source;
	bool more;

	packets->on_packet = on_packet;
	packets->context = context;
	more = trace_reader_step(packets->base.reader, UINT64_MAX, handle_event, packets);
	if (!more)
		deliver_all_queued(packets);
	update_facts(packets);
	problem_move(&source->problems, trace_reader_problems(packets->base.reader));
	if (!more)
		report_headerless(packets);
	if (!more && packets->declared)
		declared_events_report(packets->declared, source->path,
				       &source->problems);
	return more;
}

static void trace_free(struct packet_source *source)
{
	struct trace_packets *packets = (struct trace_packets *)source;

	trace_reader_free(packets->base.reader);
	declared_events_free(packets->declared);
	free(packets->wanted);
	intmap_clear(&packets->queued);
	intmap_clear(&packets->last_xmit);
	free(packets->waiting);
	intmap_clear(&packets->entered);
	intmap_clear(&packets->entering);
	texts_clear(&packets->device);
	free(packets);
}

/* Return the first packet class of a name. */
static uint8_t packet_class_of(const char *name)
{
	uint8_t wanted = 0;

	while (wanted < PACKET_CLASSES && strcmp(packet_classes[wanted].name, name) != 0)
		wanted++;
	return wanted;
}

static void select_classes(struct trace_packets *packets)
{
	const struct trace_class *class;
	size_t capacity = 0;

	for (uint32_t i = 0; (class = trace_reader_class(packets->base.reader, i)); i++) {
		struct trace_selection selection = {.what = SELECT_FIELDS};
		uint8_t wanted = packet_class_of(class->name);

		packets->wanted =
		    mem_grow(packets->wanted, i, &capacity, sizeof(*packets->wanted));
		packets->wanted[i] = wanted;
		if (wanted == PACKET_CLASSES ||
		    trace_reader_facts(packets->base.reader)->has_no_headers)
			continue;
		packets->is_defined[wanted] = true;
		selection.field = packet_classes[wanted].field;
		selection.fields = packet_classes[wanted].fields;
		trace_reader_select(packets->base.reader, i, &selection);
	}
	packets->base.counts.lacks_gro = packets->is_defined[CLASS_RECEIVE] &&
					 !packets->is_defined[CLASS_GRO_ENTRY] &&
					 !packets->is_defined[CLASS_FRAGS_ENTRY];
}

struct packet_source *trace_packets_open(const char *path, struct error *error)
{
	struct trace_packets *packets = mem_zalloc(sizeof(*packets));

	packets->base.step = trace_step;
	packets->base.free = trace_free;
	packets->base.path = mem_strdup(path);
	packets->base.reader = trace_reader_open(path, error);
	if (!packets->base.reader) {
		packet_source_free(&packets->base);
		return NULL;
	}
	select_classes(packets);
	update_facts(packets);
	return &packets->base;
}

void trace_packets_set_origin(struct packet_source *source,
			      const struct clock_origin *origin)
{
	struct trace_packets *packets = (struct trace_packets *)source;

	trace_reader_set_origin(packets->base.reader, origin);
	update_facts(packets);
}

void trace_packets_declare(struct packet_source *source,
			   const struct declared_message *const *message, size_t count)
{
	struct trace_packets *packets = (struct trace_packets *)source;
	size_t classes = 0;
	AUTOFREE bool *taken = NULL;

	while (trace_reader_class(packets->base.reader, (uint32_t)classes))
		classes++;
	taken = mem_zalloc(classes + 1);
	for (size_t i = 0; i < classes; i++) {
		taken[i] = packets->wanted[i] < PACKET_CLASSES &&
			   !packets->base.facts.has_no_headers;
		if (!taken[i])
			packets->wanted[i] = PACKET_CLASSES;
	}
	for (size_t i = 0; i < count; i++)
		packets->base.has_counted |= message[i]->flags & PACKET_COUNTED;
	packets->declared =
	    declared_events_new(packets->base.reader, message, count, taken);
}
