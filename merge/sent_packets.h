/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SENT_PACKETS_H
#define CT_MERGE_SENT_PACKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "timeline/reader.h"

/*
 * What net_dev_queue and captures tell of packets that were sent, by the events' order in
 * a finished timeline.
 *
 * On its way out a packet may be queued on several interfaces of its node: a container's,
 * a bridge, a tunnel, the card. Only the first of these is the sender's doing, the
 * packet's origin; an interrupt or a thread of the kernel may do the others, and NAT or a
 * tunnel's headers change what the packet looks like. What stays is its buffer (skbaddr),
 * which is another packet's as soon as this one is gone.
 *
 * It is the same packet if within a second length, protocol, IPv4 id, TCP sequence number
 * and one of the addresses are the same, and it is not sent anew: its TTL does not grow,
 * and it comes to another interface than at first unless TTL or id tell it. One that is
 * 20 to 128 bytes longer, on another interface, and neither TCP nor ICMP seems to carry
 * it; by chance a new one in its buffer may look so.
 */
struct sent_packet {
	int64_t event;  /* event.id */
	int64_t header; /* bytes of IP's and TCP's headers; -1: not known */
	int64_t flags;  /* TCP's; 0: none, or not known */
	/* The first queueing; tid -1: not known. */
	int64_t origin, origin_tid;
	nsec_t origin_ns;
	bool is_carrier; /* it seems to carry the packet that was in its buffer before */
};

struct sent_packets;

/* NULL with error. Memory: 150 bytes a buffer. */
struct sent_packets *sent_packets_new(struct timeline_reader *reader,
				      struct error *error);

/*
 * What is known of the packet of an event, NULL: nothing; good until the next call.
 * Events are asked for by ascending id. 0, or -1 with error.
 */
int sent_packets_find(struct sent_packets *packets, int64_t event,
		      const struct sent_packet **packet, struct error *error);

void sent_packets_free(struct sent_packets *packets);

#endif
