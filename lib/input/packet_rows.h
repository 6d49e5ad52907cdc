/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKET_ROWS_H
#define CT_INPUT_PACKET_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "input/packet.h"

/*
 * The encoding of packet events (docs/formats.md, Packet files).
 *
 * The events of a flow have the same addresses, ports, device, stream and direction. Of
 * the other numbers, only those are written that differ from what the flow's previous
 * event predicts.
 */
struct packet_flow;

/*
 * The state of writing or reading rows, which both sides derive from the rows so far.
 * Zero-initialize before use.
 */
struct packet_rows {
	struct bytes bytes; /* the rows written */
	struct bytes_cursor
	    cursor;      /* on the rows that are read; their owner keeps them */
	uint32_t count;  /* rows written */
	nsec_t event_ns; /* time of the last row's event */
	struct packet_flow *flow;
	size_t flows, capacity;
	struct intmap index;    /* when writing: hash of a flow's identity -> its index */
	uint64_t other_ordinal; /* ordinal of the last message's other end */
	uint64_t number;        /* number of the last message's packet, as below */
};

void packet_rows_add(struct packet_rows *rows, const struct packet_event *packet_event);

/*
 * Read the next row. Return false if the bytes are damaged; then nothing more can be
 * read.
 */
bool packet_rows_next(struct packet_rows *rows, struct packet_event *packet_event);

/* Start again, for writing. */
void packet_rows_reset(struct packet_rows *rows);

/* Start again, for reading these bytes. Borrows them. */
void packet_rows_open(struct packet_rows *rows, const uint8_t *bytes, size_t size);

void packet_rows_clear(struct packet_rows *rows);

#endif
