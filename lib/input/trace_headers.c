/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_headers.h"

#include <netinet/in.h>
#include <string.h>

/* The fields behind a network header, in the order of HEADERS. */
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
	V4_LENGTH,
	V4_ID,
	V4_FRAGMENT,
	V4_PROTOCOL,
	V4_IHL,
	V4_HOPS,
	HEADER_FIELDS,
	V6_LENGTH = V4_LENGTH,
	V6_FLOW_LABEL,
	V6_NEXT_HEADER,
	V6_HOPS,
};

enum { FIELD_IPV4 = FIELD_HEADERS, FIELD_IPV6 = FIELD_IPV4 + HEADER_FIELDS };

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
    "skbaddr",        "name",           "len",
    TRANSPORT(IPV4),  IPV4 ".tot_len",  IPV4 ".id",
    IPV4 ".frag_off", IPV4 ".protocol", IPV4 ".ihl",
    IPV4 ".ttl",      TRANSPORT(IPV6),  IPV6 ".payload_len",
    IPV6 ".flow_lbl", IPV6 ".nexthdr",  IPV6 ".hop_limit",
};

static const char *const xmit_fields[] = {"skbaddr", "name", "rc"};
static const char *const entry_fields[] = {"skbaddr"};
static const char *const exit_fields[] = {"ret"};

enum { SOCKET_SEQ, SOCKET_ACK, SOCKET_WINDOW, SOCKET_FLAGS };
static const char *const socket_fields[] = {"seq", "ack_seq", "window", "flags"};

#define WISH(name, fields)                                                               \
	{                                                                                \
		name, fields, sizeof(fields) / sizeof(*(fields))                         \
	}

const struct event_wish trace_wishes[TRACE_WISHES] = {
    [WISH_QUEUE] = WISH("net_dev_queue", packet_fields),
    [WISH_RECEIVE] = WISH("net_if_receive_skb", packet_fields),
    [WISH_OLD_RECEIVE] = WISH("netif_receive_skb", packet_fields),
    [WISH_XMIT] = WISH("net_dev_xmit", xmit_fields),
    [WISH_GRO_ENTRY] = WISH("net_napi_gro_receive_entry", entry_fields),
    [WISH_GRO_EXIT] = WISH("net_napi_gro_receive_exit", exit_fields),
    [WISH_FRAGS_ENTRY] = WISH("net_napi_gro_frags_entry", entry_fields),
    [WISH_FRAGS_EXIT] = WISH("net_napi_gro_frags_exit", exit_fields),
    [WISH_SOCKET_OUT] = WISH("inet_sock_local_out", socket_fields),
    [WISH_SOCKET_IN] = WISH("inet_sock_local_in", socket_fields),
};

static uint64_t number(const struct cell *value)
{
	return value->type == CELL_INTEGER ? (uint64_t)value->integer : 0;
}

/* An array of bytes or of 16-bit words, of which a cell has the network bytes. */
static int address(const struct cell *value, unsigned bytes, uint8_t out[16])
{
	if (value->type != CELL_BLOB || value->size != bytes)
		return -1;
	memcpy(out, value->bytes, bytes);
	return 0;
}

/* The flow label's bytes, of which the first holds four bits of it. */
static uint32_t flow_label(const struct cell *value)
{
	uint32_t label = 0;

	if (value->type != CELL_BLOB)
		return (uint32_t)number(value) & 0xfffff;
	for (unsigned i = 0; i < value->size && i < 3; i++)
		label = label << 8 | (unsigned char)value->bytes[i];
	return label & 0xfffff;
}

static void decode_tcp(const struct cell *header, struct packet *packet)
{
	packet->protocol = IPPROTO_TCP;
	packet->sport = (uint16_t)number(&header[TCP_SPORT]);
	packet->dport = (uint16_t)number(&header[TCP_DPORT]);
	packet->seq = (uint32_t)number(&header[TCP_SEQ]);
	packet->ack = (uint32_t)number(&header[TCP_ACK]);
	packet->flags = (uint8_t)number(&header[TCP_FLAGS]);
	packet->window = (uint16_t)number(&header[TCP_WINDOW]);
}

static void decode_udp(const struct cell *header, struct packet *packet)
{
	packet->protocol = IPPROTO_UDP;
	packet->sport = (uint16_t)number(&header[UDP_SPORT]);
	packet->dport = (uint16_t)number(&header[UDP_DPORT]);
	packet->udp_length = (uint16_t)number(&header[UDP_LENGTH]);
}

static void decode_icmp(const struct cell *header, struct packet *packet)
{
	packet->protocol = IPPROTO_ICMP;
	packet->sport = (uint16_t)(number(&header[ICMP_TYPE]) << 8 |
				   (number(&header[ICMP_CODE]) & 0xff));
	packet->seq = (uint32_t)number(&header[ICMP_ECHO]);
}

static void decode_transport(const struct cell *header, struct packet *packet,
			     uint32_t network_length)
{
	uint32_t length;

	packet->known |= PACKET_TRANSPORT;
	if (header[TCP_SEQ].type != CELL_NULL) {
		decode_tcp(header, packet);
		length = network_length + 4 * (uint32_t)number(&header[TCP_OFFSET]);
		packet->payload = packet->length > length ? packet->length - length : 0;
	} else if (header[UDP_SPORT].type != CELL_NULL) {
		decode_udp(header, packet);
	} else if (header[ICMP_TYPE].type != CELL_NULL) {
		decode_icmp(header, packet);
	} else {
		packet->known = (uint8_t)(packet->known & ~PACKET_TRANSPORT);
	}
}

static int decode_ipv4(const struct cell *header, struct packet *packet)
{
	uint64_t fragment = number(&header[V4_FRAGMENT]);

	packet->known = PACKET_NETWORK;
	packet->family = 4;
	packet->length = (uint32_t)number(&header[V4_LENGTH]);
	packet->id = (uint32_t)number(&header[V4_ID]);
	packet->fragment = (uint16_t)(fragment & 0x3fff);
	packet->protocol = (uint8_t)number(&header[V4_PROTOCOL]);
	if (address(&header[SRC], 4, packet->src) ||
	    address(&header[DST], 4, packet->dst))
		return -1;
	if ((packet->fragment & 0x1fff) == 0)
		decode_transport(header, packet, 4 * (uint32_t)number(&header[V4_IHL]));
	return 0;
}

static int decode_ipv6(const struct cell *header, struct packet *packet)
{
	packet->known = PACKET_NETWORK;
	packet->family = 6;
	packet->length = (uint32_t)number(&header[V6_LENGTH]);
	packet->id = flow_label(&header[V6_FLOW_LABEL]);
	packet->protocol = (uint8_t)number(&header[V6_NEXT_HEADER]);
	if (address(&header[SRC], 16, packet->src) ||
	    address(&header[DST], 16, packet->dst))
		return -1;
	decode_transport(header, packet, 0);
	return 0;
}

uint8_t trace_packet_hops(const struct cell *value)
{
	if (value[FIELD_IPV4 + SRC].type != CELL_NULL)
		return (uint8_t)number(&value[FIELD_IPV4 + V4_HOPS]);
	return (uint8_t)number(&value[FIELD_IPV6 + V6_HOPS]);
}

int trace_packet_decode(const struct cell *value, struct packet *packet)
{
	memset(packet, 0, sizeof(*packet));
	if (value[FIELD_IPV4 + SRC].type != CELL_NULL)
		return decode_ipv4(&value[FIELD_IPV4], packet);
	if (value[FIELD_IPV6 + SRC].type != CELL_NULL)
		return decode_ipv6(&value[FIELD_IPV6], packet);
	return -1;
}

/*
 * The half of the TCP header's fourth word that holds length and flags. Network byte
 * order puts the flags last, and the length, 5 to 15 words, into the first four bits.
 * The addons of 2013 wrote the fields the other way round, down to the bits: the
 * length last, and FIN first. A last byte from 5 to 15 is a length, as no packet has
 * two of the flags FIN to PSH, or PSH, without ACK.
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
	packet->seq = (uint32_t)number(&value[SOCKET_SEQ]);
	packet->ack = (uint32_t)number(&value[SOCKET_ACK]);
	packet->window = (uint16_t)number(&value[SOCKET_WINDOW]);
	packet->flags = socket_flags_of(number(&value[SOCKET_FLAGS]));
	return 0;
}
