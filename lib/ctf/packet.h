/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_PACKET_H
#define CT_CTF_PACKET_H

#include "ctf/trace.h"
#include "ctf/window.h"

enum packet_found {
	PACKET_WHOLE,
	PACKET_CUT,     /* the file ends before the packet does */
	PACKET_GARBLED, /* no packet of this stream begins here */
	PACKET_NONE,    /* the file ends here */
};

/* What the head of one packet says. */
struct ctf_packet {
	const struct ctf_stream_class *stream;
	uint64_t size, content; /* bits; content: as far as the file goes */
	uint64_t head;          /* bits that are no events */
	unsigned char uuid[16];
	unsigned has; /* roles, a bit each */
	uint64_t value[ROLES];
};

static inline bool packet_has(const struct ctf_packet *packet, enum field_role role)
{
	return packet->has & 1u << role;
}

#define CTF_MAGIC 0xc1fc1fc1u /* that packets begin with */

/*
 * Look at the packet with which the cursor's bytes begin, which hold its head;
 * so many bytes of the file follow from there. `first` is the first packet of
 * the file, that all others must be like, or NULL. Moves the cursor behind its
 * head, which also sets the clock and the slots; its slots and places must be
 * there. cursor->end may be beyond cursor->bytes.
 */
enum packet_found ctf_packet_read(const struct ctf_trace *trace,
				  const struct ctf_packet *first,
				  struct ctf_cursor *cursor, uint64_t rest,
				  struct ctf_packet *packet);

/*
 * Where the next packet begins at byte `from` of the file or behind it, or the
 * file's size: for packets are found by the one before, and damage hides all
 * that follow. They begin with a magic number; without one in the metadata, or
 * after many that were none, nothing is found. `first` as ctf_packet_read
 * has it. The last packet of a file, if it is cut, is known by its uuid only.
 */
uint64_t ctf_seek(struct ctf_window *window, const struct ctf_trace *trace,
		  const struct ctf_packet *first, struct ctf_cursor *cursor,
		  uint64_t from);

/*
 * Look at the packet that begins at byte `at`, with as much of the file as a
 * head can take; see ctf_packet_read.
 */
enum packet_found ctf_packet_at(struct ctf_window *window, const struct ctf_trace *trace,
				const struct ctf_packet *first, struct ctf_cursor *cursor,
				uint64_t at, struct ctf_packet *packet);

#endif
