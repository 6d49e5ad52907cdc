/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SENT_PACKETS_H
#define CT_MERGE_SENT_PACKETS_H

#include "merge/event_class.h"

/*
 * The origins of sent packets, from events of net_dev_queue as they become rows.
 *
 * On its way out a packet may be queued on several interfaces of its node: a container's,
 * a bridge, a tunnel, the hardware. The sender does only the first of these, which is the
 * packet's origin; an interrupt or a thread of the kernel may do the others, and NAT or a
 * tunnel's headers change the packet. Its buffer (skbaddr) stays the same, but is reused
 * for another packet as soon as this one is freed.
 *
 * Two events are of the same packet if within a second the length, protocol, IPv4 id, TCP
 * sequence number and one of the addresses are the same, and the packet is not sent
 * again: its TTL does not grow, and the interface is another than at first, unless TTL or
 * id show that it is the same. A packet that is 20 to 128 bytes longer, on another
 * interface, and neither TCP nor ICMP, seems to carry it; a new packet in the same buffer
 * can look like that by chance.
 */
struct sent_packet {
	int64_t origin; /* event.id of the first queueing */
	nsec_t origin_ns;
	int64_t origin_tid; /* -1: not known */
	bool is_carrier; /* it seems to carry the packet that was in its buffer before */
};

struct sent_packets;

/* Memory: 170 bytes a buffer. */
struct sent_packets *sent_packets_new(void);

/*
 * An event of a packet, by ascending time. `packet` is what is known without the fields:
 * the event is its own origin. They add to that.
 */
void sent_packets_event(struct sent_packets *packets, const struct event_class *class,
			uint32_t node, const struct cell *cell,
			struct sent_packet *packet);

void sent_packets_free(struct sent_packets *packets);

#endif
