/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_NET_FLOW_H
#define CT_ANALYZE_NET_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/keys.h"
#include "base/cell.h"
#include "base/nsec.h"

/*
 * Flows as their senders saw them: packets of one protocol from one address and port to
 * another, and which of TCP's were sent again. A segment whose bytes all lie below the
 * highest that was sent is a retransmission (RFC 793 sequence arithmetic; tcptrace and
 * Wireshark count likewise); of one that only begins below it, the part below.
 */
struct packet_seen {
	nsec_t at_ns;
	int64_t node; /* that sent it */
	const char *protocol;
	char src[64], dst[64]; /* addresses; "" if not recorded */
	int64_t sport, dport;  /* -1: none */
	int64_t bytes;         /* from the network header on */
	bool is_tcp;           /* then: */
	uint32_t seq;
	int64_t payload;
	unsigned flags; /* FIN 1, SYN 2, RST 4 */
};

struct flow {
	int64_t node;
	char *protocol, *src, *dst;
	int64_t sport, dport;
	uint64_t packets, bytes, again_packets, again_bytes;
	nsec_t first_ns, last_ns;
	uint32_t high; /* one past the highest sequence number sent */
	bool has_high;
};

enum { MOST_FLOWS = 200000 };

/* Zeroed is empty. */
struct flows {
	struct keys keys;
	struct flow *item;
	size_t room;
	uint64_t merged; /* packets of flows after MOST_FLOWS, counted with the last */
};

void flows_add(struct flows *flows, const struct packet_seen *packet);

void flows_clear(struct flows *flows);

/* An address as tracers record it: a text, 4 or 16 bytes, a JSON array of 4 bytes or of 8
 * words. "" if it is none. */
void flow_address(char text[64], const struct cell *cell);

#endif
