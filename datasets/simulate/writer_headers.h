/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_WRITER_HEADERS_H
#define CT_SIMULATE_WRITER_HEADERS_H

#include <stdbool.h>

#include "simulate/writer.h"

/* The headers of a packet as they stand on the wire. */
struct sim_headers {
	uint8_t bytes[40 + 60]; /* network header, transport header */
	size_t network;         /* bytes of the network header */
	size_t transport;       /* bytes of the transport header, or 0 */
	size_t total;           /* bytes of the packet, its data counted */
	uint8_t protocol;       /* IPPROTO_TCP, ... */
};

/*
 * Build them: RFC 791, 8200, 9293, 768, 792. All data is zeros, of which the
 * checksums are right; a TCP or UDP packet that was sent still waits for its
 * card to put in the checksum and has the pseudo header's sum there. Where
 * packet.payload does not go with packet.length, the TCP header has 20 bytes.
 * -1 with error where the packet is too short for its headers.
 */
int sim_headers_build(struct sim_headers *headers, const struct packet *packet, bool sent,
		      struct error *error);

/* The packet of an event, if it has one whose network header is known, or NULL. */
const struct packet *sim_event_packet(const struct sim_event *event);

/*
 * Build the headers of an event's packet, which is as sent unless its class
 * says that it was received. 1, or 0 without a packet, or -1 with error.
 */
int sim_headers_of_event(struct sim_headers *headers, const struct sim_event *event,
			 struct error *error);

#endif
