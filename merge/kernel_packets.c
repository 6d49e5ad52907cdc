/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/kernel_packets.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

enum {
	WINDOW_NS = 10000000,
	UNLIKELY = 8,
	ETHERNET_HEADER = 14, /* net_dev_queue counts it, netif_receive_skb does not */
	LEAST_RECEIVED = 46,  /* Ethernet pads shorter packets */
	IPV6_HEADER = 40,
};

/* One direction of a node's packets. */
struct lane {
	struct kernel_packet *packet;
	size_t count, capacity;
};

struct kernel_packets {
	struct lane *lane; /* by node, received and sent */
	size_t lanes;
};

struct kernel_packets *kernel_packets_new(size_t nodes)
{
	struct kernel_packets *packets = mem_zalloc(sizeof(*packets));

	packets->lanes = 2 * nodes;
	packets->lane = mem_zalloc((packets->lanes + 1) * sizeof(*packets->lane));
	return packets;
}

uint32_t kernel_packet_bytes(const struct event_class *class, const struct cell *cell)
{
	const int *column = class->column;
	int64_t bytes = 0;

	if (class->tag == AT_SEND && column[SEND_V4 + IP_LENGTH] < 0)
		bytes = cell_integer(event_cell(cell, column[SEND_LENGTH]), 0) -
			ETHERNET_HEADER;
	else if (class->tag == AT_RECEIVE && column[RECEIVE_HEADER] < 0)
		bytes = cell_integer(event_cell(cell, column[RECEIVE_LENGTH]), 0);
	else if (class->tag == AT_CAPTURED)
		bytes = cell_integer(event_cell(cell, column[CAPTURED_LENGTH]), 0) +
			(cell_integer(event_cell(cell, column[CAPTURED_FAMILY]), 0) == 6
			     ? IPV6_HEADER
			     : 0);
	return bytes > 0 && bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

static struct lane *find_lane(const struct kernel_packets *packets, uint32_t node,
			      bool is_sent)
{
	return &packets->lane[2 * (size_t)node + is_sent];
}

void kernel_packets_add(struct kernel_packets *packets, uint32_t node, bool is_sent,
			const struct kernel_packet *packet)
{
	struct lane *lane = find_lane(packets, node, is_sent);

	*MEM_NEXT(lane->packet, lane->count, lane->capacity) = *packet;
}

static bool is_as_long(const struct kernel_packet *packet, uint32_t bytes, bool is_sent)
{
	return packet->bytes == bytes ||
	       (!is_sent && bytes < LEAST_RECEIVED && packet->bytes == LEAST_RECEIVED);
}

const struct kernel_packet *kernel_packets_find(struct kernel_packets *packets,
						uint32_t node, bool is_sent,
						const struct kernel_packet *seen)
{
	struct lane *lane = find_lane(packets, node, is_sent);
	struct kernel_packet *nearest = NULL;
	nsec_t least_ns = WINDOW_NS + 1;
	size_t at = PARTITION_POINT(
	    lane->count, i, lane->packet[i].ts_ns < nsec_sub(seen->ts_ns, WINDOW_NS));

	for (; at < lane->count; at++) {
		struct kernel_packet *packet = &lane->packet[at];
		nsec_t apart_ns = nsec_sub(packet->ts_ns, seen->ts_ns);

		if (apart_ns > WINDOW_NS)
			break;
		/* A packet is queued first; only what ties the clocks can be wrong. */
		if (is_sent && apart_ns > 0)
			apart_ns *= UNLIKELY;
		if (apart_ns < 0)
			apart_ns = -apart_ns;
		if (apart_ns < least_ns && packet->finder != seen->source + 1 &&
		    is_as_long(packet, seen->bytes, is_sent)) {
			least_ns = apart_ns;
			nearest = packet;
		}
	}
	if (nearest)
		nearest->finder = seen->source + 1;
	return nearest;
}

void kernel_packets_free(struct kernel_packets *packets)
{
	for (size_t i = 0; i < packets->lanes; i++)
		free(packets->lane[i].packet);
	free(packets->lane);
	free(packets);
}
