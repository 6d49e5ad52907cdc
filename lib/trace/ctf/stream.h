/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_STREAM_H
#define CT_TRACE_CTF_STREAM_H

#include "trace/ctf/program.h"
#include "trace/reader_private.h"

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
	uint64_t size;       /* of the file when it was opened, or where reading failed */
	int error;           /* errno of a failed read, or 0 */
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

/* A range of a file whose packets are read in sequence; see order_parts(). */
struct ctf_part {
	size_t file;
	uint64_t from, to; /* bytes; `to` is UINT64_MAX for the end of the file */
};

/*
 * A stream of a trace and its current packet.
 *
 * Its files are sorted by their start. One of them is open, the cursor is in one of its
 * packets, and within that at an event.
 */
struct ctf_stream {
	struct trace_progress progress;
	struct problem_list *problems;
	struct ctf_file *file;
	size_t files, capacity;
	struct ctf_part *part;
	size_t parts, at_part;    /* at_part: index of the next one to read */
	struct ctf_window window; /* on the current file */
	uint64_t at, next;        /* byte offsets of this and of the next packet */
	uint64_t until;           /* end of the current part, or UINT64_MAX */
	uint64_t from,
	    rest; /* in the packet: bytes before the loaded slice, and bits after it */
	struct ctf_packet packet;
	struct ctf_cursor cursor; /* its slots belong to the stream */
	nsec_t skip_before;       /* packets that end before this time need not be read */
	bool is_cut;              /* the file ends within the current packet */
	uint64_t gaps, gap_bytes; /* in the current part: number of gaps; bytes of all but
				     the first */

	/* For events.c. */
	const struct schema_event_class *class; /* class of the event at the cursor */
	nsec_t event_ns;                        /* timestamp of the event at the cursor */
	bool has_reached; /* an event at or after the reader's start was read */
	bool has_event;   /* the cursor is past the header of an event */
	bool has_packet;  /* the cursor is within a packet */
	bool has_before;  /* sequence and discarded are those of the previous packet */
	uint64_t sequence, discarded;
	uint64_t first_lost; /* events, counted as lost before its first packet */
	bool has_repeats;    /* `repeats_before` is set */
	uint64_t
	    repeats_before; /* another trace contains the packets before this number */
	uint64_t broken;    /* number of packets that could not be read to their end */
};

struct ctf_streams {
	struct ctf_stream *stream; /* sorted by the names of their first files */
	size_t count, capacity;
	uint64_t bytes; /* of all files */
};

/*
 * Find the stream files of the trace in a directory. Files without a packet are skipped
 * with a problem. Return 0, or -1 with error if the directory cannot be read.
 */
int ctf_streams_open(struct ctf_streams *streams, const struct schema *schema,
		     const char *path, struct problem_list *problems,
		     struct error *error);

/*
 * Go on to the next packet, possibly in the next file. What cannot be read becomes a
 * problem. Return false at the end of the stream.
 */
bool ctf_stream_next(struct ctf_stream *stream);

/*
 * Load more of the current packet, from the cursor on; only a slice of it is in memory.
 * Return false if there is no more, or if half a GiB is loaded already.
 */
bool ctf_stream_more(struct ctf_stream *stream);

void ctf_streams_clear(struct ctf_streams *streams);

#endif
