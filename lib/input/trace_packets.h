/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_TRACE_PACKETS_H
#define CT_INPUT_TRACE_PACKETS_H

#include <stddef.h>

#include "base/cell.h"
#include "input/packet_source.h"

/* Open a trace. Return NULL with error. */
struct packet_source *trace_packets_open(const char *path, struct error *error);

/* Set the origin of a trace's clock, as trace_reader_set_origin() does. */
void trace_packets_set_origin(struct packet_source *source,
			      const struct clock_origin *origin);

struct declared_message;

/* Set the messages that are declared for a trace (input/declared.h). Borrows them. Before
 * the first step. */
void trace_packets_declare(struct packet_source *source,
			   const struct declared_message *const *message, size_t count);

/*
 * LTTng's kernel events for packets, of lttng-modules 2.9 to 2.13, and the addons' socket
 * events. An exit belongs to the entry of the same position.
 */
enum {
	CLASS_QUEUE,
	CLASS_RECEIVE,
	CLASS_OLD_RECEIVE,
	CLASS_XMIT,
	CLASS_GRO_ENTRY,
	CLASS_GRO_EXIT,
	CLASS_FRAGS_ENTRY,
	CLASS_FRAGS_EXIT,
	CLASS_SOCKET_OUT,
	CLASS_SOCKET_IN,
	PACKET_CLASSES,
};

/* A packet class and its selected fields. */
struct packet_class {
	const char *name;
	const char *const *field;
	size_t fields;
};

extern const struct packet_class packet_classes[PACKET_CLASSES];

/* Cells of CLASS_QUEUE and of either receive; headers follow. */
enum { FIELD_SKB, FIELD_NAME, FIELD_LENGTH, FIELD_HEADERS };

/*
 * Decode the packet of an event and its time to live, or the transport part of a socket
 * event. Return 0, or -1 if the event has no header that both hosts see.
 */
int trace_packet_decode(const struct cell *value, struct packet_event *packet_event);
int trace_socket_decode(const struct cell *value, struct packet *packet);

#endif
