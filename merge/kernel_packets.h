/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_KERNEL_PACKETS_H
#define CT_MERGE_KERNEL_PACKETS_H

#include "merge/event_class.h"

/* The kernel's events of packets without headers, as ftrace records them. They give the
 * cause of a send and the effect of a receive, but not the packet. A capture of the node
 * has the packet: right after net_dev_queue, and at about the time of netif_receive_skb.
 * So the event of a packet is the nearest one with its direction and length. */
struct kernel_packet {
	nsec_t ts_ns;
	uint64_t ordinal; /* place of the event in its stream */
	uint32_t source, stream;
	uint32_t bytes;  /* size of the IP packet */
	uint32_t finder; /* the last source that it was found for, plus 1 */
};

struct kernel_packets;

struct kernel_packets *kernel_packets_new(size_t nodes);

/*
 * Return the bytes of the IP packet, with its header, of a captured packet or of a
 * kernel's event without headers; 0 for other events.
 */
uint32_t kernel_packet_bytes(const struct event_class *class, const struct cell *cell);

/* Add an event, by ascending time. */
void kernel_packets_add(struct kernel_packets *packets, uint32_t node, bool is_sent,
			const struct kernel_packet *packet);

/*
 * Find the event of a packet that another source of the node saw at its time, within
 * 10 ms. It is found once for each source. Return NULL if there is none.
 */
const struct kernel_packet *kernel_packets_find(struct kernel_packets *packets,
						uint32_t node, bool is_sent,
						const struct kernel_packet *seen);

void kernel_packets_free(struct kernel_packets *packets);

#endif
