/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_DRAW_PACKET_H
#define CT_TEST_DRAW_PACKET_H

/* Random packets of every kind that hosts share. To be included behind draw.h. */
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "input/packet.h"

static inline void draw_tcp(struct packet *packet)
{
	uint32_t header = 4 * (uint32_t)draw_between(5, 15);

	packet->flags = (uint8_t)draw();
	packet->seq = (uint32_t)draw();
	packet->ack = (uint32_t)draw();
	packet->window = (uint16_t)draw();
	packet->payload =
	    (uint32_t)draw_between(0, draw() % 4 ? 1448 : UINT16_MAX - 20 - 60);
	packet->length = header + packet->payload;
}

static inline void draw_transport(struct packet *packet)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_TCP, IPPROTO_UDP,
					    IPPROTO_ICMP, IPPROTO_GRE};

	packet->protocol = protocols[draw() % sizeof(protocols)];
	packet->known = PACKET_NETWORK | PACKET_TRANSPORT;
	packet->length = (uint32_t)draw_between(8, 1480);
	packet->sport = (uint16_t)draw();
	packet->dport = (uint16_t)draw();
	switch (packet->protocol) {
	case IPPROTO_TCP:
		draw_tcp(packet);
		break;
	case IPPROTO_UDP:
		packet->udp_length = (uint16_t)packet->length;
		break;
	case IPPROTO_ICMP:
		packet->dport = 0;
		packet->seq = (uint32_t)draw();
		break;
	default:
		packet->sport = packet->dport = 0;
		packet->known = PACKET_NETWORK;
	}
}

/* Some IPv4 datagrams come in pieces, of which only the first has ports. */
static inline void draw_fragment(struct packet *packet)
{
	if (packet->protocol != IPPROTO_UDP || draw() % 4)
		return;
	packet->fragment = (uint16_t)draw_between(0, 0x1fff);
	packet->fragment = (uint16_t)(packet->fragment | (draw() % 2 ? 0x2000 : 0));
	if (packet->fragment & 0x1fff) {
		packet->known = PACKET_NETWORK;
		packet->sport = packet->dport = packet->udp_length = 0;
	}
}

/* From or to host 1, whose addresses are 10.0.0.1 and fd00::1. */
static inline struct packet draw_packet(bool to_host1)
{
	struct packet packet = {.family = draw() % 3 ? 4 : 6};
	uint8_t *near = to_host1 ? packet.dst : packet.src;
	uint8_t *far = to_host1 ? packet.src : packet.dst;

	draw_transport(&packet);
	if (packet.family == 4) {
		near[0] = far[0] = 10;
		near[3] = 1;
		far[1] = (uint8_t)(draw() % 2);
		far[3] = (uint8_t)draw_between(2, 255);
		packet.id = (uint16_t)draw();
		packet.length += 20;
		draw_fragment(&packet);
		return packet;
	}
	near[0] = far[0] = 0xfd;
	near[15] = 1;
	far[7] = (uint8_t)draw();
	far[15] = (uint8_t)draw_between(2, 255);
	packet.id = (uint32_t)draw() & 0xfffff;
	if (packet.protocol == IPPROTO_ICMP) {
		packet.protocol = IPPROTO_ICMPV6;
		packet.known = PACKET_NETWORK;
		packet.sport = 0;
		packet.seq = 0;
	}
	return packet;
}

#endif
