/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_PACKET_H
#define CT_INPUT_NATIVE_PACKET_H

#include "input/ctf/packets.h"
#include "input/native/trace.h"

/* What the head of one packet says. */
struct native_packet {
	const struct native_stream_class *stream;
	uint64_t size, content; /* bits; content: as far as the file goes */
	uint64_t head;          /* bits that are no events */
	unsigned char uuid[16];
	bool has[HEADS];
	uint64_t value[HEADS]; /* of the integers */
};

#define NATIVE_MAGIC 0xc1fc1fc1u /* that packets begin with */

/*
 * Look at the packet with which the cursor's bytes begin, which hold its head;
 * so many bytes of the file follow from there. `first` is the first packet of
 * the file, that all others must be like, or NULL. Moves the cursor behind its
 * head, which also sets the clock and the slots; its slots and places must be
 * there. cursor->end may be beyond cursor->bytes.
 */
enum packet_found native_packet_read(const struct native_trace *trace,
				     const struct native_packet *first,
				     struct native_cursor *cursor, uint64_t rest,
				     struct native_packet *packet);

#endif
