/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/records.h"

#include "trace/reader_private.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "input/capture/frames.h"
#include "input/capture/survey.h"
#include "input/capture/two_clocks.h"
#include "input/packet_source.h"

enum {
	STEP_PACKETS = 4096,
	MAC_TEXT = 18,
	LEAST_TYPE = 0x600, /* smaller ones are the length of an IEEE 802.3 frame */
};

/* The columns of a packet: what it is called, and what its cells are. */
#define CAPTURE_COLUMNS(C)                                                               \
	C(INTERFACE, interface, INTEGER) /* number, of the file or of the link layer */  \
	C(DIRECTION, direction, TEXT)    /* 'in' or 'out' if the packet states it */     \
	C(CAPLEN, caplen, INTEGER)       /* bytes in the file */                         \
	C(LEN, len, INTEGER)             /* bytes on the wire */                         \
	C(HEADERS, headers, TEXT) /* 'whole'; 'other': not IP; 'cut'; 'malformed' */     \
	C(ETH_SRC, eth_src, TEXT)                                                        \
	C(ETH_DST, eth_dst, TEXT)                                                        \
	C(ETHERTYPE, ethertype, INTEGER) /* after VLAN tags */                           \
	C(VLAN, vlan, INTEGER)           /* tag of the outermost VLAN */                 \
	C(FAMILY, family, INTEGER)       /* 4 or 6; from here on NULL if unknown */      \
	C(SRC, src, TEXT)                                                                \
	C(DST, dst, TEXT)                                                                \
	C(PROTOCOL, protocol, TEXT) /* its name or, without one, its number */           \
	C(TTL, ttl, INTEGER)                                                             \
	C(ID, id, INTEGER)             /* IPv4 identification or IPv6 flow label */      \
	C(LENGTH, length, INTEGER)     /* IPv4 total length or IPv6 payload length */    \
	C(FRAGMENT, fragment, INTEGER) /* in 8 bytes, 8192 more if others follow */      \
	C(SPORT, sport, INTEGER)                                                         \
	C(DPORT, dport, INTEGER)                                                         \
	C(SEQ, seq, INTEGER)                                                             \
	C(ACK, ack, INTEGER)                                                             \
	C(FLAGS, flags, INTEGER)                                                         \
	C(WINDOW, window, INTEGER)                                                       \
	C(PAYLOAD, payload, INTEGER) /* bytes of data in a TCP segment */                \
	C(UDP_LENGTH, udp_length, INTEGER)                                               \
	C(ICMP_TYPE, icmp_type, INTEGER)                                                 \
	C(ICMP_CODE, icmp_code, INTEGER)                                                 \
	C(ICMP_ID, icmp_id, INTEGER)                                                     \
	C(ICMP_SEQ, icmp_seq, INTEGER)

enum column {
#define COLUMN(column, name, type) COLUMN_##column,
	CAPTURE_COLUMNS(COLUMN)
#undef COLUMN
	    COLUMNS
};

static const struct {
	const char *name;
	enum cell_type type;
} columns[COLUMNS] = {
#define COLUMN(column, name, type) {#name, CELL_##type},
    CAPTURE_COLUMNS(COLUMN)
#undef COLUMN
};

struct capture_records {
	struct trace_reader base;
	struct capture_frames *frames;
	struct sides sides;
	struct second_clock second; /* it stamps received packets */
	nsec_t last_ns, ahead_ns;   /* last time; lead of the second clock then */
	struct cell cell[COLUMNS];
	char eth_src[MAC_TEXT], eth_dst[MAC_TEXT];
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
};

static void set_integer(struct capture_records *records, enum column column,
			int64_t integer)
{
	records->cell[column].type = CELL_INTEGER;
	records->cell[column].integer = integer;
}

static void set_text(struct capture_records *records, enum column column,
		     const char *text)
{
	if (text)
		cell_set_bytes(&records->cell[column], CELL_TEXT, text, strlen(text));
}

static const char *direction_of(const struct frame *frame)
{
	if (frame->cooked > COOKED_OUTGOING)
		return NULL;
	return frame->cooked == COOKED_OUTGOING ? "out" : "in";
}

static const char *mac_text(char text[MAC_TEXT], const uint8_t mac[6])
{
	snprintf(text, MAC_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	return text;
}

static void set_link(struct capture_records *records, const struct captured *captured)
{
	static const char *const headers[] = {[FRAME_PACKET] = "whole",
					      [FRAME_OTHER] = "other",
					      [FRAME_CUT] = "cut",
					      [FRAME_MALFORMED] = "malformed"};
	const struct frame *frame = &captured->frame;

	set_integer(records, COLUMN_INTERFACE,
		    frame->device ? frame->device : captured->unit.interface);
	set_text(records, COLUMN_DIRECTION, direction_of(frame));
	set_integer(records, COLUMN_CAPLEN, captured->captured);
	set_integer(records, COLUMN_LEN, captured->wire);
	set_text(records, COLUMN_HEADERS, headers[captured->status]);
	if (frame->has_ethernet) {
		set_text(records, COLUMN_ETH_SRC,
			 mac_text(records->eth_src, frame->source));
		set_text(records, COLUMN_ETH_DST,
			 mac_text(records->eth_dst, frame->target));
	}
	if (frame->type >= LEAST_TYPE)
		set_integer(records, COLUMN_ETHERTYPE, frame->type);
	if (frame->vlan >= 0)
		set_integer(records, COLUMN_VLAN, frame->vlan);
}

static void set_network(struct capture_records *records, const struct frame *frame)
{
	const struct packet *packet = &frame->packet;
	int family = packet->family == 4 ? AF_INET : AF_INET6;
	const char *protocol = packet_protocol_name(packet);

	set_integer(records, COLUMN_FAMILY, packet->family);
	set_text(records, COLUMN_SRC,
		 inet_ntop(family, packet->src, records->src, sizeof(records->src)));
	set_text(records, COLUMN_DST,
		 inet_ntop(family, packet->dst, records->dst, sizeof(records->dst)));
	set_integer(records, COLUMN_PROTOCOL, packet->protocol);
	set_text(records, COLUMN_PROTOCOL, protocol);
	set_integer(records, COLUMN_TTL, frame->hops);
	set_integer(records, COLUMN_ID, packet->id);
	set_integer(records, COLUMN_LENGTH, packet->length);
	set_integer(records, COLUMN_FRAGMENT, packet->fragment);
}

static void set_transport(struct capture_records *records, const struct packet *packet)
{
	if (packet->protocol == IPPROTO_ICMP) {
		set_integer(records, COLUMN_ICMP_TYPE, packet->sport >> 8);
		set_integer(records, COLUMN_ICMP_CODE, packet->sport & 0xff);
		set_integer(records, COLUMN_ICMP_ID, packet->seq >> 16);
		set_integer(records, COLUMN_ICMP_SEQ, packet->seq & 0xffff);
		return;
	}
	set_integer(records, COLUMN_SPORT, packet->sport);
	set_integer(records, COLUMN_DPORT, packet->dport);
	if (packet->protocol == IPPROTO_UDP) {
		set_integer(records, COLUMN_UDP_LENGTH, packet->udp_length);
		return;
	}
	set_integer(records, COLUMN_SEQ, packet->seq);
	set_integer(records, COLUMN_ACK, packet->ack);
	set_integer(records, COLUMN_FLAGS, packet->flags);
	set_integer(records, COLUMN_WINDOW, packet->window);
	set_integer(records, COLUMN_PAYLOAD, packet->payload);
}

/*
 * Convert a packet's timestamp to the clock of sent packets. Those that are not known to
 * be sent or received have whichever time is nearer to that of the packet before.
 */
static nsec_t convert_stamp(struct capture_records *records,
			    const struct captured *captured)
{
	enum side side = SIDE_FOREIGN;
	nsec_t ns = captured->ns, other = nsec_sub(ns, records->ahead_ns);

	if (captured->status == FRAME_PACKET)
		side = sides_tell(&records->sides, &captured->frame);
	if (side == SIDE_SENT || side == SIDE_RECEIVED)
		ns = second_clock_convert(&records->second, side == SIDE_RECEIVED, ns);
	else if (llabs(nsec_sub(other, records->last_ns)) <
		 llabs(nsec_sub(ns, records->last_ns)))
		ns = other;
	if (side == SIDE_RECEIVED)
		records->ahead_ns = nsec_sub(captured->ns, ns);
	records->last_ns = ns;
	return ns;
}

static void handle_packet(void *context, struct captured *captured)
{
	struct capture_records *records = context;
	const struct packet *packet = &captured->frame.packet;
	enum trace_selected selected = records->base.class[0]->selected;
	struct trace_event event = {
	    .local_ns = captured->ns, .cpu = -1, .ordinal = captured->ordinal};

	if (records->second.found)
		event.local_ns = convert_stamp(records, captured);
	if (selected == SELECT_NOTHING)
		return;
	if (selected == SELECT_COLUMNS) {
		memset(records->cell, 0, sizeof(records->cell));
		set_link(records, captured);
		if (packet->known & PACKET_NETWORK)
			set_network(records, &captured->frame);
		if (packet->known & PACKET_TRANSPORT)
			set_transport(records, packet);
		event.cell = records->cell;
	}
	records->base.on_event(records->base.context, &event);
}

static bool capture_step(struct trace_reader *reader, uint64_t most)
{
	struct capture_records *records = (struct capture_records *)reader;
	bool more = capture_frames_step(records->frames,
					most < STEP_PACKETS ? most : STEP_PACKETS,
					handle_packet, records, &reader->problems);

	second_clock_span(&records->second, &reader->facts);
	return more;
}

/* A capture says what it lost, at its end; not when it was recorded. */
static void capture_recorded(const struct trace_reader *reader, nsec_t until_ns,
			     struct trace_recorded *recorded)
{
	const struct capture_records *records = (const struct capture_records *)reader;
	const struct capture_losses *losses = capture_frames_losses(records->frames);

	(void)until_ns;
	for (size_t i = 0; i < losses->count; i++)
		*MEM_NEXT(recorded->loss, recorded->losses, recorded->loss_capacity) =
		    (struct trace_loss){.begin_ns = losses->item[i].begin_ns,
					.end_ns = losses->item[i].end_ns,
					.cpu = -1};
}

static void capture_free(struct trace_reader *reader)
{
	struct capture_records *records = (struct capture_records *)reader;

	second_clock_clear(&records->second);
	capture_frames_free(records->frames);
}

/* Find the second clock. If it is unknown which packets the node sent, timestamps stay
 * unchanged. */
static void find_second_clock(struct capture_records *records,
			      const struct capture_input *input)
{
	struct error error = ERROR_INIT;

	if (!sides_find(&records->sides, input, &error))
		second_clock_find(&records->second, input, &records->sides);
	records->base.facts.has_second_clock = records->second.found;
	if (records->second.found)
		capture_frames_keep_stamps(records->frames);
	error_clear(&error);
}

struct trace_reader *capture_records_open(const struct capture_input *input,
					  struct error *error)
{
	struct capture_records *records = mem_zalloc(sizeof(*records));
	struct trace_class *class;

	trace_reader_init(&records->base, input->path, capture_step, capture_free);
	records->base.recorded = capture_recorded;
	records->base.reports_losses = true;
	class = &trace_reader_add_class(&records->base, "packet")->known;
	for (size_t i = 0; i < COLUMNS; i++)
		trace_class_add_column(class, columns[i].name, columns[i].type, false);
	records->frames = capture_frames_open(input, &records->base.facts, error);
	if (!records->frames) {
		trace_reader_free(&records->base);
		return NULL;
	}
	find_second_clock(records, input);
	return &records->base;
}
