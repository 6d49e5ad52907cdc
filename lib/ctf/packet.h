/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_PACKET_H
#define CT_CTF_PACKET_H

#include "ctf/trace.h"

/*
 * The bytes of a stream file that are looked at, read in large blocks. The file
 * is not mapped: one that gets shorter under a map ends the program by a signal.
 * Reading costs a few per cent (docs/benchmarks.md): a copy, but no page faults.
 * It is open only while a block is read, as a cluster has more streams than a
 * process may have open files.
 */
struct ctf_window {
	const char *path;    /* borrowed; NULL: of no file */
	uint64_t size;       /* of the file: at first, or as reading found it */
	bool is_scattered;   /* read no more at once than is asked for */
	unsigned char *byte; /* `count` bytes of the file from `at` on */
	uint64_t at, count, room;
};

/* Look at this file from now on. -1 with errno set where it cannot be read. */
int ctf_window_open(struct ctf_window *window, const char *path);

/*
 * The bytes from `at` on: `count` or more of them, fewer only where the file
 * ends, of which window->size then tells, or where it cannot be read, which is
 * its end, too. Borrowed until the next call.
 */
struct ctf_bytes ctf_window_show(struct ctf_window *window, uint64_t at, uint64_t count);

void ctf_window_clear(struct ctf_window *window);

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

/*
 * Look at the packet that begins at byte `at` of the file. `first` is the first packet of
 * the file, that all others must be like, or NULL. Moves the cursor behind its
 * head, which also sets the clock and the slots; its slots and places must be
 * there. cursor->end may be beyond cursor->bytes.
 */
enum packet_found ctf_packet_at(struct ctf_window *window, const struct ctf_trace *trace,
				const struct ctf_packet *first, struct ctf_cursor *cursor,
				uint64_t at, struct ctf_packet *packet);

/*
 * Where the next packet begins at byte `from` of the file or behind it, or the
 * file's size: for packets are found by the one before, and damage hides all
 * that follow. They begin with a magic number; without one in the metadata, or
 * after many that were none, nothing is found. `first` as ctf_packet_at
 * has it. The last packet of a file, if it is cut, is known by its uuid only.
 */
uint64_t ctf_seek(struct ctf_window *window, const struct ctf_trace *trace,
		  const struct ctf_packet *first, struct ctf_cursor *cursor,
		  uint64_t from);

#endif
