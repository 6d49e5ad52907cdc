/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_HEADERS_H
#define CT_INPUT_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "input/packet.h"

/*
 * The headers of one captured frame, from its bytes alone: link layer, VLAN
 * tags, IPv4 or IPv6 with its extension headers, TCP, UDP and ICMP.
 */
enum frame_link {
	FRAME_ETHERNET,
	FRAME_COOKED,   /* Linux "any" device, version 1 */
	FRAME_COOKED2,  /* version 2, which names the interface */
	FRAME_RAW,      /* begins with the IP header */
	FRAME_LOOPBACK, /* four bytes of address family, then the IP header */
};

enum frame_status {
	FRAME_PACKET,    /* IP, and all that struct packet wants is there */
	FRAME_OTHER,     /* not IP */
	FRAME_CUT,       /* captured too short to hold its headers */
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

struct frame {
	struct packet packet;
	bool has_ethernet; /* both Ethernet addresses are there */
	uint8_t source[6], target[6];
	uint16_t cooked; /* enum frame_cooked */
	uint16_t type;   /* as Ethernet numbers protocols, behind tags; 0: untold */
	int16_t vlan;    /* of the outermost tag, or -1 */
	bool loopback;   /* seen on a loopback device */
	uint32_t device; /* as the link layer numbers it, or 0 */
	uint8_t hops;    /* IPv4 time to live, IPv6 hop limit */
	enum frame_checksum checksum;
};

/*
 * Decode a frame of which `captured` of `wire` bytes are there. The packet is
 * valid with FRAME_PACKET; the link layer also with FRAME_OTHER. Of
 * other frames, the parts of the packet are valid that it says are known.
 */
enum frame_status frame_decode(struct frame *frame, enum frame_link link,
			       const uint8_t *data, size_t captured, size_t wire);

#endif
