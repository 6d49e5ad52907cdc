/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_TRACE_HEADERS_H
#define CT_INPUT_TRACE_HEADERS_H

#include "base/cell.h"
#include "input/packet.h"

/*
 * Which events and fields of LTTng kernel traces hold packets: lttng-modules
 * 2.9 to 2.13, and the addons' socket events.
 */
/* Places in trace_wishes; the first exit goes with the first entry, and so on. */
enum {
	WISH_QUEUE,
	WISH_RECEIVE,
	WISH_OLD_RECEIVE,
	WISH_XMIT,
	WISH_GRO_ENTRY,
	WISH_GRO_EXIT,
	WISH_FRAGS_ENTRY,
	WISH_FRAGS_EXIT,
	WISH_SOCKET_OUT,
	WISH_SOCKET_IN,
	TRACE_WISHES,
};

/* An event class that holds packets, and its fields that are wanted. */
struct event_wish {
	const char *name;
	const char *const *field;
	size_t fields;
};

extern const struct event_wish trace_wishes[TRACE_WISHES];

/* Cells of WISH_QUEUE and of either receive; headers follow. */
enum { FIELD_SKB, FIELD_NAME, FIELD_LENGTH, FIELD_HEADERS };

/* Cells of WISH_XMIT. */
enum { XMIT_SKB, XMIT_NAME, XMIT_RC };

/* Fill in a packet; -1 where the event holds no header that hosts share. */
int trace_packet_decode(const struct cell *value, struct packet *packet);

/* The time to live of a packet that was filled in; 0 where it is not recorded. */
uint8_t trace_packet_hops(const struct cell *value);

/* The same for WISH_SOCKET_OUT and _IN: the transport part only. */
int trace_socket_decode(const struct cell *value, struct packet *packet);

#endif
