/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_PACKET_H
#define CT_TRACE_CTF_PACKET_H

#include "problem/problem.h"
#include "trace/ctf/program.h"

/* The header of a packet. */
struct ctf_packet {
	const struct schema_stream *stream;
	uint64_t size, content; /* bits; content: limited to the end of the file */
	unsigned char uuid[16];
	unsigned has; /* bit mask of roles */
	uint64_t value[ROLES];
};

static inline bool packet_has(const struct ctf_packet *packet, enum field_role role)
{
	return packet->has & 1u << role;
}

/* A file of a stream; LTTng may write several, one after the other. */
struct ctf_file {
	char *path;
	struct ctf_packet first; /* first packet, which all others must resemble; stream
				    NULL if unknown */
};

/*
 * The loaded bytes of a stream file, read in large blocks.
 *
 * The file is not mapped, because a mapped file that shrinks ends the program with a
 * signal. Reading costs a few per cent (docs/benchmarks.md): a copy, but no page faults.
 * The file is open only while a block is read, because a cluster has more streams than a
 * process may have open files.
 */
struct ctf_window {
	const struct schema *schema;
	const struct ctf_file *file;
	uint64_t size; /* size of the file when it was opened, or where reading failed */
	int error;     /* errno of a failed read, or 0 */
	bool is_scattered;   /* read no more at once than requested */
	unsigned char *byte; /* `count` bytes of the file from `at` on */
	uint64_t at, count, capacity;
};

/*
 * Select a file. Return 0, or -1 with window->error if it cannot be read; then it is
 * empty.
 */
int ctf_window_open(struct ctf_window *window, const struct ctf_file *file);

/*
 * Load at least `count` bytes from `at` on. They are fewer if the file ends, in which
 * case window->size is updated, or cannot be read, which counts as its end. Borrowed
 * until the next call.
 */
struct ctf_bytes ctf_window_load(struct ctf_window *window, uint64_t at, uint64_t count);

/* If a read failed, add a problem, clear the error and return true. */
bool ctf_window_report(struct ctf_window *window, struct problem_list *problems);

void ctf_window_clear(struct ctf_window *window);

/* Return false if the packet's uuid is not that of the trace. */
bool ctf_packet_has_uuid(const struct ctf_packet *packet, const struct schema *schema);

enum packet_found {
	PACKET_WHOLE,
	PACKET_CUT,     /* the file ends within the packet */
	PACKET_GARBLED, /* no packet of this stream starts here */
	PACKET_NONE,    /* the file ends here */
};

/*
 * Read the header of the packet at byte `at` of the file, and move the cursor past it.
 * This also sets the clock and the slots; the caller provides the cursor's slots and
 * places. cursor->end can exceed cursor->bytes.
 */
enum packet_found ctf_packet_at(struct ctf_window *window, struct ctf_cursor *cursor,
				uint64_t at, struct ctf_packet *packet);

/*
 * Find the next packet at or after byte `from`; return its offset, or the size of the
 * file if there is none.
 *
 * A packet is normally found from the previous one, so damage would hide all that follow.
 * The search is for the magic number; it fails without one in the metadata, or after many
 * that do not start a packet. A truncated last packet is recognized only by its uuid.
 */
uint64_t ctf_packet_seek(struct ctf_window *window, struct ctf_cursor *cursor,
			 uint64_t from);

#endif
