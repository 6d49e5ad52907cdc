/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKET_ROWS_H
#define CT_INPUT_PACKET_ROWS_H

#include "base/bytes.h"
#include "base/hash.h"
#include "input/packet.h"

/*
 * Packet events as bytes (docs/formats.md, Packet files). The events of one flow have the
 * same addresses, ports, device, stream and side, and of its other numbers only those are
 * written that differ from what the flow's last event lets expect.
 */
struct packet_flow;

/* Both sides of the codec know the same of what came before. All zero is the begin. */
struct packet_rows {
	struct bytes bytes; /* the rows written */
	struct bytes_cursor
	    cursor;      /* on the rows that are read, which their owner keeps */
	uint32_t count;  /* rows written */
	nsec_t event_ns; /* of the last row */
	struct packet_flow *flow;
	size_t flows, capacity;
	struct intmap index;    /* to write: the hash of a flow's identity -> its index */
	uint64_t other_ordinal; /* of a message, see messages_file.h */
};

void packet_rows_add(struct packet_rows *rows, const struct packet_event *packet_event);

/* The next row. False where the bytes are none: then nothing can be read any more. */
bool packet_rows_next(struct packet_rows *rows, struct packet_event *packet_event);

/* Begin anew, to write. */
void packet_rows_reset(struct packet_rows *rows);

/* Begin anew, to read these bytes. */
void packet_rows_open(struct packet_rows *rows, const uint8_t *bytes, size_t size);

void packet_rows_clear(struct packet_rows *rows);

#endif
