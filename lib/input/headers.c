/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/headers.h"

#include <netinet/in.h>
#include <string.h>

#include "base/hash.h"

enum {
	TYPE_IPV4 = 0x0800,
	TYPE_VLAN = 0x8100,
	TYPE_IPV6 = 0x86dd,
	TYPE_SERVICE_VLAN = 0x88a8,
	TYPE_OLD_SERVICE_VLAN = 0x9100,
	TYPE_MPLS = 0x8847,
	TYPE_MPLS_MULTICAST = 0x8848,
	TYPE_PPPOE = 0x8864,
	TYPE_ETHERNET = 0x6558, /* within a tunnel */
	LEAST_TYPE = 0x600,     /* smaller values are lengths of frames with LLC */
};

enum {
	PPP_IPV4 = 0x21,
	PPP_IPV6 = 0x57,
	PPP_MPLS = 0x281,
	PPP_MPLS_MULTICAST = 0x283,
	PPP_CONTROL = 0x8000, /* protocols from here on negotiate */
	GENEVE_PORT = 6081,
	MOST_LAYERS = 8, /* nested labels, sessions and tunnels */
};

enum {
	HARDWARE_LOOPBACK = 772, /* ARPHRD_LOOPBACK */
	IPV4_FRAGMENT = 0x3fff,  /* offset and more-fragments flag */
	FRAGMENT_OFFSET = 0x1fff,
	FRAGMENT_MORE = 0x2000,
	VLAN_ID = 0xfff, /* the other bits are the priority */
};

/* The rest of a frame, or of the IP packet in it, after the headers decoded so far. */
struct header_cursor {
	struct frame *frame;
	const uint8_t *data;
	size_t captured, wire;
	enum frame_status status; /* why read_header_bytes() failed */
	unsigned layers;
};

static enum frame_status decode_type(struct header_cursor *cursor, uint16_t type);
static enum frame_status decode_ethernet(struct header_cursor *cursor);

static uint16_t get_be16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint32_t get_be32(const uint8_t *at)
{
	return (uint32_t)get_be16(at) << 16 | get_be16(at + 2);
}

/* Consume the next bytes and return them, or return NULL and set the status. */
static const uint8_t *read_header_bytes(struct header_cursor *cursor, size_t bytes)
{
	const uint8_t *data = cursor->data;

	if (cursor->captured < bytes) {
		cursor->status = cursor->wire < bytes ? FRAME_MALFORMED : FRAME_CUT;
		return NULL;
	}
	cursor->data += bytes;
	cursor->captured -= bytes;
	cursor->wire -= bytes;
	return data;
}

/* Limit the rest to the length of the IP packet, whatever the frame's length is. */
static void set_length(struct header_cursor *cursor, size_t bytes)
{
	cursor->wire = bytes;
	if (cursor->captured > bytes)
		cursor->captured = bytes;
}

static uint32_t add_words(uint32_t sum, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += 2)
		sum += get_be16(data + i);
	return sum;
}

/* Compute RFC 1071's folded sum over the pseudo header of RFC 793 or RFC 8200. */
static uint16_t pseudo_sum(const struct packet *packet, uint32_t length)
{
	uint32_t sum = packet->protocol + (length >> 16) + (length & 0xffff);

	sum = add_words(sum, packet->src, sizeof(packet->src));
	sum = add_words(sum, packet->dst, sizeof(packet->dst));
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void note_checksum(struct frame *frame, uint16_t checksum, uint32_t length)
{
	if (frame->packet.fragment == 0 && checksum != 0)
		frame->checksum = checksum == pseudo_sum(&frame->packet, length)
				      ? CHECKSUM_PARTIAL
				      : CHECKSUM_FULL;
}

static enum frame_status decode_tcp(struct header_cursor *cursor)
{
	struct packet *packet = &cursor->frame->packet;
	uint32_t length = (uint32_t)cursor->wire, header;
	const uint8_t *tcp = read_header_bytes(cursor, 20);

	if (!tcp)
		return cursor->status;
	header = 4u * (tcp[12] >> 4);
	if (header < 20 || header > length)
		return FRAME_MALFORMED;
	packet->sport = get_be16(tcp);
	packet->dport = get_be16(tcp + 2);
	packet->seq = get_be32(tcp + 4);
	packet->ack = get_be32(tcp + 8);
	packet->flags = tcp[13];
	packet->window = get_be16(tcp + 14);
	packet->payload = length - header;
	packet->known |= PACKET_TRANSPORT;
	note_checksum(cursor->frame, get_be16(tcp + 16), length);
	return FRAME_PACKET;
}

/*
 * Decode the packet in a Geneve tunnel (RFC 8926). Keep the outer packet if the inner one
 * is missing or is not IP.
 */
static enum frame_status decode_geneve(struct header_cursor *cursor)
{
	struct frame *frame = cursor->frame, outer = *frame;
	const uint8_t *geneve = read_header_bytes(cursor, 8);
	enum frame_status status = FRAME_OTHER;
	uint16_t type = geneve ? get_be16(geneve + 2) : 0;

	memset(&frame->packet, 0, sizeof(frame->packet));
	if (geneve && geneve[0] >> 6 == 0 &&
	    read_header_bytes(cursor, 4u * (geneve[0] & 0x3f)))
		status = type == TYPE_ETHERNET ? decode_ethernet(cursor)
					       : decode_type(cursor, type);
	if (status != FRAME_PACKET) {
		*frame = outer;
		return FRAME_PACKET;
	}
	frame->carrier.family = outer.packet.family;
	memcpy(frame->carrier.src, outer.packet.src, sizeof(outer.packet.src));
	memcpy(frame->carrier.dst, outer.packet.dst, sizeof(outer.packet.dst));
	/* A network card only sees the outer frame. */
	frame->has_ethernet = outer.has_ethernet;
	memcpy(frame->source, outer.source, sizeof(outer.source));
	memcpy(frame->target, outer.target, sizeof(outer.target));
	frame->checksum = outer.checksum;
	return FRAME_PACKET;
}

/*
 * Return a hash of the first bytes of a datagram's data, to distinguish datagrams that
 * their sender does not number. Return 0 if the datagram is numbered, is a fragment, or
 * has no data, or if these bytes were not captured.
 */
static uint32_t hash_data(const struct header_cursor *cursor)
{
	const struct packet *packet = &cursor->frame->packet;
	size_t bytes = cursor->wire < FRAME_UDP_DATA ? cursor->wire : FRAME_UDP_DATA;
	uint64_t hash;

	if ((packet->family == 4 && packet->id) || packet->fragment || !bytes ||
	    cursor->captured < bytes)
		return 0;
	hash = hash_mix(hash_bytes(HASH_INIT, cursor->data, bytes));
	return (uint32_t)hash | 1;
}

static enum frame_status decode_udp(struct header_cursor *cursor)
{
	struct packet *packet = &cursor->frame->packet;
	uint32_t length = (uint32_t)cursor->wire;
	const uint8_t *udp = read_header_bytes(cursor, 8);

	if (!udp)
		return cursor->status;
	packet->sport = get_be16(udp);
	packet->dport = get_be16(udp + 2);
	packet->udp_length = get_be16(udp + 4);
	packet->seq = hash_data(cursor);
	packet->known |= PACKET_TRANSPORT;
	note_checksum(cursor->frame, get_be16(udp + 6), length);
	if (packet->dport == GENEVE_PORT && !packet->fragment &&
	    !cursor->frame->carrier.family && cursor->layers++ < MOST_LAYERS)
		return decode_geneve(cursor);
	return FRAME_PACKET;
}

static enum frame_status decode_icmp(struct header_cursor *cursor)
{
	struct packet *packet = &cursor->frame->packet;
	const uint8_t *icmp = read_header_bytes(cursor, 8);

	if (!icmp)
		return cursor->status;
	packet->sport = get_be16(icmp);
	packet->seq = get_be32(icmp + 4);
	packet->known |= PACKET_TRANSPORT;
	return FRAME_PACKET;
}

/*
 * The fields of ICMPv6 are not decoded, because a kernel trace does not record them and a
 * packet must look the same in every source.
 */
static enum frame_status decode_transport(struct header_cursor *cursor)
{
	const struct packet *packet = &cursor->frame->packet;

	if (packet->fragment & FRAGMENT_OFFSET)
		return FRAME_PACKET;
	if (packet->protocol == IPPROTO_TCP)
		return decode_tcp(cursor);
	if (packet->protocol == IPPROTO_UDP)
		return decode_udp(cursor);
	if (packet->protocol == IPPROTO_ICMP && packet->family == 4)
		return decode_icmp(cursor);
	return FRAME_PACKET;
}

static enum frame_status decode_ipv4(struct header_cursor *cursor)
{
	struct frame *frame = cursor->frame;
	struct packet *packet = &frame->packet;
	size_t wire = cursor->wire;
	const uint8_t *ip = read_header_bytes(cursor, 20);
	uint32_t header;

	if (!ip)
		return cursor->status;
	header = 4u * (ip[0] & 0xf);
	if (ip[0] >> 4 != 4 || header < 20)
		return FRAME_MALFORMED;
	/* A sender can leave a length above 64 KiB to its network interface. */
	packet->length = get_be16(ip + 2) ? get_be16(ip + 2) : (uint32_t)wire;
	if (packet->length < header)
		return FRAME_MALFORMED;
	packet->known = PACKET_NETWORK;
	packet->family = 4;
	packet->id = get_be16(ip + 4);
	packet->fragment = get_be16(ip + 6) & IPV4_FRAGMENT;
	frame->hops = ip[8];
	packet->protocol = ip[9];
	memcpy(packet->src, ip + 12, 4);
	memcpy(packet->dst, ip + 16, 4);
	if (!read_header_bytes(cursor, header - 20))
		return cursor->status;
	set_length(cursor, packet->length - header);
	return decode_transport(cursor);
}

/* Skip extension headers, up to the transport header. */
static enum frame_status skip_extensions(struct header_cursor *cursor)
{
	struct packet *packet = &cursor->frame->packet;

	while (
	    packet->protocol == IPPROTO_HOPOPTS || packet->protocol == IPPROTO_ROUTING ||
	    packet->protocol == IPPROTO_DSTOPTS || packet->protocol == IPPROTO_FRAGMENT) {
		bool fragment = packet->protocol == IPPROTO_FRAGMENT;
		const uint8_t *head = read_header_bytes(cursor, 8);

		if (!head || !read_header_bytes(cursor, fragment ? 0 : 8u * head[1]))
			return cursor->status;
		packet->protocol = head[0];
		if (!fragment)
			continue;
		packet->id = get_be32(head + 4);
		packet->fragment = (uint16_t)(get_be16(head + 2) >> 3 |
					      (head[3] & 1 ? FRAGMENT_MORE : 0));
		if (packet->fragment & FRAGMENT_OFFSET)
			break;
	}
	return FRAME_PACKET;
}

static enum frame_status decode_ipv6(struct header_cursor *cursor)
{
	struct frame *frame = cursor->frame;
	struct packet *packet = &frame->packet;
	const uint8_t *ip = read_header_bytes(cursor, 40);
	enum frame_status status;

	if (!ip)
		return cursor->status;
	if (ip[0] >> 4 != 6)
		return FRAME_MALFORMED;
	packet->known = PACKET_NETWORK;
	packet->family = 6;
	packet->id = get_be32(ip) & 0xfffff;
	packet->length = get_be16(ip + 4);
	packet->protocol = ip[6];
	frame->hops = ip[7];
	memcpy(packet->src, ip + 8, 16);
	memcpy(packet->dst, ip + 24, 16);
	/* As with IPv4; the length of a jumbogram is also 0. */
	if (packet->length == 0 && packet->protocol != IPPROTO_NONE)
		packet->length = (uint32_t)cursor->wire;
	set_length(cursor, packet->length);
	status = skip_extensions(cursor);
	return status == FRAME_PACKET ? decode_transport(cursor) : status;
}

static enum frame_status leave_undecoded(struct header_cursor *cursor,
					 enum frame_undecoded kind, uint32_t which)
{
	cursor->frame->undecoded = frame_undecoded(kind, which);
	return FRAME_OTHER;
}

/*
 * Decode MPLS labels. They do not identify what follows; its first four bits do (RFC
 * 4928).
 */
static enum frame_status decode_mpls(struct header_cursor *cursor)
{
	const uint8_t *label;

	do {
		label = read_header_bytes(cursor, 4);
		if (!label)
			return cursor->status;
	} while (!(label[2] & 1));
	if (!cursor->captured)
		return cursor->wire ? FRAME_CUT : FRAME_MALFORMED;
	switch (cursor->data[0] >> 4) {
	case 4:
		return decode_type(cursor, TYPE_IPV4);
	case 6:
		return decode_type(cursor, TYPE_IPV6);
	case 0: /* a pseudowire's control word (RFC 4385) */
		return read_header_bytes(cursor, 4) ? decode_ethernet(cursor)
						    : cursor->status;
	default:
		return leave_undecoded(cursor, UNDECODED_MPLS, cursor->data[0] >> 4);
	}
}

/* Decode PPP from its protocol field on, which may have one byte (RFC 1661). */
static enum frame_status decode_ppp(struct header_cursor *cursor)
{
	const uint8_t *byte = read_header_bytes(cursor, 1);
	uint16_t protocol;

	if (!byte)
		return cursor->status;
	protocol = *byte;
	if (!(protocol & 1)) {
		byte = read_header_bytes(cursor, 1);
		if (!byte)
			return cursor->status;
		protocol = (uint16_t)(protocol << 8 | *byte);
	}
	if (protocol == PPP_IPV4 || protocol == PPP_IPV6)
		return decode_type(cursor, protocol == PPP_IPV4 ? TYPE_IPV4 : TYPE_IPV6);
	if (protocol == PPP_MPLS || protocol == PPP_MPLS_MULTICAST)
		return decode_type(cursor, TYPE_MPLS);
	return protocol >= PPP_CONTROL ? FRAME_OTHER
				       : leave_undecoded(cursor, UNDECODED_PPP, protocol);
}

/* Decode PPP; in HDLC frames it follows an address and a control byte (RFC 1662). */
static enum frame_status decode_framed_ppp(struct header_cursor *cursor)
{
	if (cursor->captured >= 2 && cursor->data[0] == 0xff && cursor->data[1] == 3)
		read_header_bytes(cursor, 2);
	return decode_ppp(cursor);
}

/* Decode Cisco HDLC: address, control byte and an Ethernet type. */
static enum frame_status decode_hdlc(struct header_cursor *cursor)
{
	const uint8_t *head = read_header_bytes(cursor, 4);

	if (!head)
		return cursor->status;
	/* Keep-alive packets have a type of their own. */
	return get_be16(head + 2) == 0x8035 ? FRAME_OTHER
					    : decode_type(cursor, get_be16(head + 2));
}

/*
 * Decode IEEE 802.2 with SNAP (RFC 1042), or with IP directly; other protocols, such as
 * the spanning tree protocol, are not IP.
 */
static enum frame_status decode_llc(struct header_cursor *cursor)
{
	static const uint8_t snap[] = {0xaa, 0xaa, 3, 0, 0, 0}, ip[] = {6, 6, 3};
	const uint8_t *llc = read_header_bytes(cursor, sizeof(ip));

	if (!llc)
		return FRAME_OTHER;
	if (memcmp(llc, ip, sizeof(ip)) == 0)
		return decode_type(cursor, TYPE_IPV4);
	if (memcmp(llc, snap, sizeof(ip)) != 0 || !read_header_bytes(cursor, 5) ||
	    memcmp(llc, snap, sizeof(snap)) != 0)
		return FRAME_OTHER;
	return decode_type(cursor, get_be16(llc + 6));
}

/* Return true if a type is that of a well-known protocol that carries no IP packets. */
static bool is_without_ip(uint16_t type)
{
	static const uint16_t known[] = {
	    0x0806, 0x8035,         /* ARP, reverse ARP */
	    0x0842,                 /* wake on LAN */
	    0x6002, 0x6003, 0x6004, /* DEC */
	    0x809b, 0x80f3, 0x8137, /* AppleTalk, IPX */
	    0x8808, 0x8809,         /* flow control, slow protocols such as LACP */
	    0x8863,                 /* discovery of PPPoE */
	    0x886d, 0x888e,         /* Intel's teams, port authentication */
	    0x8899, 0x88a2,         /* Realtek's loop detection, ATA over Ethernet */
	    0x88cc, 0x88e3, 0x88f5, 0x88f6, /* LLDP, MRP, MVRP, MMRP */
	    0x88f7, 0x8902,                 /* PTP, connectivity faults */
	    0x8906, 0x8914, 0x8915,         /* Fibre Channel, RDMA */
	    0x9000,                         /* Ethernet's loopback */
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (type == known[i])
			return true;
	return false;
}

static enum frame_status decode_type(struct header_cursor *cursor, uint16_t type)
{
	while (type == TYPE_VLAN || type == TYPE_SERVICE_VLAN ||
	       type == TYPE_OLD_SERVICE_VLAN) {
		const uint8_t *tag = read_header_bytes(cursor, 4);

		if (!tag)
			return cursor->status;
		if (cursor->frame->vlan < 0)
			cursor->frame->vlan = (int16_t)(get_be16(tag) & VLAN_ID);
		type = get_be16(tag + 2);
	}
	cursor->frame->type = type;
	if (type == TYPE_IPV4)
		return decode_ipv4(cursor);
	if (type == TYPE_IPV6)
		return decode_ipv6(cursor);
	if (is_without_ip(type))
		return FRAME_OTHER;
	if (cursor->layers++ >= MOST_LAYERS)
		return leave_undecoded(cursor, UNDECODED_DEPTH, 0);
	if (type == TYPE_MPLS || type == TYPE_MPLS_MULTICAST)
		return decode_mpls(cursor);
	if (type == TYPE_PPPOE)
		return read_header_bytes(cursor, 6) ? decode_ppp(cursor) : cursor->status;
	if (type < LEAST_TYPE)
		return decode_llc(cursor);
	return leave_undecoded(cursor, UNDECODED_TYPE, type);
}

/* Decode the outermost Ethernet header; inline, to save a call per frame. */
static inline enum frame_status decode_outer_ethernet(struct header_cursor *cursor)
{
	struct frame *frame = cursor->frame;
	const uint8_t *head = read_header_bytes(cursor, 14);

	if (!head)
		return cursor->status;
	frame->has_ethernet = true;
	memcpy(frame->target, head, 6);
	memcpy(frame->source, head + 6, 6);
	return decode_type(cursor, get_be16(head + 12));
}

static enum frame_status decode_ethernet(struct header_cursor *cursor)
{
	return decode_outer_ethernet(cursor);
}

static enum frame_status decode_cooked(struct header_cursor *cursor)
{
	const uint8_t *head = read_header_bytes(cursor, 16);

	if (!head)
		return cursor->status;
	cursor->frame->cooked = get_be16(head);
	cursor->frame->loopback = get_be16(head + 2) == HARDWARE_LOOPBACK;
	return decode_type(cursor, get_be16(head + 14));
}

static enum frame_status decode_cooked2(struct header_cursor *cursor)
{
	const uint8_t *head = read_header_bytes(cursor, 20);

	if (!head)
		return cursor->status;
	cursor->frame->device = get_be32(head + 4);
	cursor->frame->loopback = get_be16(head + 8) == HARDWARE_LOOPBACK;
	cursor->frame->cooked = head[10];
	return decode_type(cursor, get_be16(head));
}

/*
 * Decode a packet by its IP version, because systems number the address families
 * differently.
 */
static enum frame_status decode_raw(struct header_cursor *cursor)
{
	if (cursor->captured == 0)
		return cursor->wire ? FRAME_CUT : FRAME_OTHER;
	if (cursor->data[0] >> 4 == 4)
		return decode_ipv4(cursor);
	if (cursor->data[0] >> 4 == 6)
		return decode_ipv6(cursor);
	return FRAME_OTHER;
}

enum frame_status frame_decode(struct frame *frame, enum frame_link link,
			       const uint8_t *data, size_t captured, size_t wire)
{
	struct header_cursor cursor = {
	    .frame = frame, .data = data, .captured = captured};

	/* Some programs write a wrong original length. */
	cursor.wire = wire < captured ? captured : wire;
	memset(frame, 0, sizeof(*frame));
	frame->cooked = FRAME_UNCOOKED;
	frame->vlan = -1;
	switch (link) {
	case FRAME_ETHERNET:
		return decode_outer_ethernet(&cursor);
	case FRAME_COOKED:
		return decode_cooked(&cursor);
	case FRAME_COOKED2:
		return decode_cooked2(&cursor);
	case FRAME_LOOPBACK:
		if (!read_header_bytes(&cursor, 4))
			return cursor.status;
		return decode_raw(&cursor);
	case FRAME_RAW:
		return decode_raw(&cursor);
	case FRAME_PPP:
		return decode_framed_ppp(&cursor);
	case FRAME_HDLC:
		return decode_hdlc(&cursor);
	case FRAME_UNKNOWN:
		break;
	}
	return FRAME_OTHER;
}
