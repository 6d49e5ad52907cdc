/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_PACKET_ORIGIN_H
#define CT_ANALYZE_PACKET_ORIGIN_H

#include "base/intmap.h"
#include "timeline/events.h"

/*
 * Who gave a packet to the kernel. On its way out a packet may be queued on several
 * interfaces of its node: a container's, a bridge, a tunnel, the card. Only the first
 * of these is the sender's doing; an interrupt or a thread of the kernel may do the
 * others, and NAT or a tunnel's headers change what the packet looks like. What stays
 * is its buffer (skbaddr), which is another packet's as soon as this one is gone.
 *
 * It is the same packet if within a second length, protocol, IPv4 id, TCP sequence number
 * and one of the addresses are the same, and it is not sent anew: its TTL does not grow,
 * and it comes to another interface than at first unless TTL or id tell it. One that
 * is 20 to 128 bytes longer, on another interface, and neither TCP nor ICMP seems to
 * carry it; by chance a new one in its buffer may look so.
 */
#define PACKET_ORIGIN_V4 "network_header_ipv4_"
#define PACKET_ORIGIN_V6 "network_header_ipv6_"
/* What a wish for net_dev_queue begins with. */
#define PACKET_ORIGIN_FIELDS                                                             \
	"skbaddr", "name", PACKET_ORIGIN_V4 "tot_len", PACKET_ORIGIN_V4 "id",            \
	    PACKET_ORIGIN_V4 "ttl", PACKET_ORIGIN_V4 "protocol",                         \
	    PACKET_ORIGIN_V4 "saddr", PACKET_ORIGIN_V4 "daddr",                          \
	    PACKET_ORIGIN_V4 "transport_header_tcp_seq", PACKET_ORIGIN_V6 "payload_len", \
	    PACKET_ORIGIN_V6 "hop_limit", PACKET_ORIGIN_V6 "nexthdr",                    \
	    PACKET_ORIGIN_V6 "saddr", PACKET_ORIGIN_V6 "daddr",                          \
	    PACKET_ORIGIN_V6 "transport_header_tcp_seq"
enum { PACKET_ORIGIN_COUNT = 15 };

struct packet_origin {
	int64_t event, tid; /* of the first queueing; -1: not known */
	nsec_t ts_ns;
	bool is_carrier; /* the packet seems to carry the one before it */
};

/* What is in the buffers; zeroed is none. Memory: 150 bytes a buffer. */
struct packet_origins {
	struct queued_packet *item;
	size_t count, room;
	struct intmap at; /* by node and buffer */
};

/* Take the next event of net_dev_queue, in the timeline's order, and tell of its packet.
 */
struct packet_origin packet_origin_of(struct packet_origins *origins,
				      const struct event_row *row);

void packet_origins_clear(struct packet_origins *origins);

#endif
