/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_HEADERS_H
#define CT_INPUT_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/packet.h"

/*
 * The headers of one captured frame, from its bytes alone: link layer, VLAN tags, MPLS
 * labels, PPPoE and LLC/SNAP, IPv4 or IPv6 with its extension headers, TCP, UDP and ICMP.
 * In a Geneve tunnel, the packet is the inner one.
 */
enum frame_link {
	FRAME_ETHERNET,
	FRAME_COOKED,   /* Linux "any" device, version 1 */
	FRAME_COOKED2,  /* version 2, which names the interface */
	FRAME_RAW,      /* begins with the IP header */
	FRAME_LOOPBACK, /* four bytes of address family, then the IP header */
	FRAME_PPP,      /* on a serial line, with or without HDLC's address */
	FRAME_HDLC,     /* Cisco HDLC */
	FRAME_UNKNOWN,  /* not decoded: FRAME_OTHER */
};

/* The number of bytes at the start of UDP data that are hashed. */
enum { FRAME_UDP_DATA = 16 };

enum frame_status {
	FRAME_PACKET,    /* IP, and the packet is valid */
	FRAME_OTHER,     /* not IP */
	FRAME_CUT,       /* too few bytes were captured for the headers */
	FRAME_MALFORMED, /* IP that contradicts itself */
};

/* Packet types of cooked captures; FRAME_UNCOOKED elsewhere. */
enum frame_cooked {
	COOKED_HOST,
	COOKED_BROADCAST,
	COOKED_MULTICAST,
	COOKED_OTHER_HOST,
	COOKED_OUTGOING,
	FRAME_UNCOOKED = 0xffff,
};

/*
 * A packet whose checksum is left to the network interface is captured with the
 * sum of its pseudo header in that place; only senders see that.
 */
enum frame_checksum { CHECKSUM_UNKNOWN, CHECKSUM_PARTIAL, CHECKSUM_FULL };

/*
 * The kind of a header that is not decoded and may hide a packet. See frame_undecoded().
 */
enum frame_undecoded {
	UNDECODED_LINK = 1, /* a link type, numbered as in files */
	UNDECODED_TYPE,     /* an Ethernet type */
	UNDECODED_PPP,      /* a PPP protocol */
	UNDECODED_MPLS,     /* content after MPLS labels, by its first four bits */
	UNDECODED_DEPTH,    /* headers nested too deeply */
};

static inline uint32_t frame_undecoded(enum frame_undecoded kind, uint32_t which)
{
	return (uint32_t)kind << 24 | (which & 0xffffff);
}

/* The addresses of the outer packet of a tunnel. */
struct frame_carrier {
	uint8_t family; /* 4 or 6; 0 if not in a tunnel */
	uint8_t src[16], dst[16];
};

struct frame {
	struct packet packet;
	struct frame_carrier carrier;
	uint32_t undecoded; /* frame_undecoded() of what hides the packet, or 0 */
	bool has_ethernet;  /* both Ethernet addresses are there */
	uint8_t source[6], target[6];
	uint16_t cooked; /* enum frame_cooked */
	uint16_t
	    type;     /* Ethernet's number of the protocol after any tags; 0 if unknown */
	int16_t vlan; /* the outermost tag, or -1 */
	bool loopback;   /* seen on a loopback device */
	uint32_t device; /* as the link layer numbers it, or 0 */
	uint8_t hops;    /* IPv4 time to live, IPv6 hop limit */
	enum frame_checksum checksum;
};

/*
 * Decode a frame with `captured` of its `wire` bytes present. With FRAME_PACKET all
 * of it is valid, with FRAME_OTHER the link layer; with other results only the parts of
 * the packet that `known` names.
 */
enum frame_status frame_decode(struct frame *frame, enum frame_link link,
			       const uint8_t *data, size_t captured, size_t wire);

#endif
