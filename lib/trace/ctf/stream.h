/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_STREAM_H
#define CT_TRACE_CTF_STREAM_H

#include "trace/ctf/program.h"
#include "trace/reader_private.h"

/* What the head of one packet says. */
struct ctf_packet {
	const struct schema_stream *stream;
	uint64_t size, content; /* bits; content: as far as the file goes */
	unsigned char uuid[16];
	unsigned has; /* roles, a bit each */
	uint64_t value[ROLES];
};

static inline bool packet_has(const struct ctf_packet *packet, enum field_role role)
{
	return packet->has & 1u << role;
}

/* One file of a stream; LTTng may write several, one after the other. */
struct ctf_file {
	char *path;
	struct ctf_packet first; /* that all others must be like; no stream: not known */
};

/*
 * The bytes of a stream file that are looked at, read in large blocks. The file
 * is not mapped: one that gets shorter under a map ends the program by a signal.
 * Reading costs a few per cent (docs/benchmarks.md): a copy, but no page faults.
 * It is open only while a block is read, as a cluster has more streams than a
 * process may have open files.
 */
struct ctf_window {
	const struct schema *schema;
	const struct ctf_file *file;
	uint64_t size;       /* of the file: at first, or as reading found it */
	int error;           /* errno of a read that failed, or 0 */
	bool is_scattered;   /* read no more at once than is asked for */
	unsigned char *byte; /* `count` bytes of the file from `at` on */
	uint64_t at, count, capacity;
};

/*
 * Look at this file from now on. Return 0, or -1 with window->error if it cannot be read;
 * then it has no bytes.
 */
int ctf_window_open(struct ctf_window *window, const struct ctf_file *file);

/*
 * The bytes from `at` on: `count` or more of them, fewer only where the file
 * ends, of which window->size then tells, or where it cannot be read, which is
 * its end, too. Borrowed until the next call.
 */
struct ctf_bytes ctf_window_show(struct ctf_window *window, uint64_t at, uint64_t count);

/*
 * If a read failed, add a problem and forget the error. Return false if none failed.
 */
bool ctf_window_report(struct ctf_window *window, struct problem_list *problems);

void ctf_window_clear(struct ctf_window *window);

enum packet_found {
	PACKET_WHOLE,
	PACKET_CUT,     /* the file ends before the packet does */
	PACKET_GARBLED, /* no packet of this stream begins here */
	PACKET_NONE,    /* the file ends here */
};

/*
 * Look at the packet that begins at byte `at` of the file. Moves the cursor behind its
 * head, which also sets the clock and the slots; its slots and places must be
 * there. cursor->end may be beyond cursor->bytes.
 */
enum packet_found ctf_packet_at(struct ctf_window *window, struct ctf_cursor *cursor,
				uint64_t at, struct ctf_packet *packet);

/*
 * Where the next packet begins at byte `from` of the file or behind it, or the
 * file's size: for packets are found by the one before, and damage hides all
 * that follow. They begin with a magic number; without one in the metadata, or
 * after many that were none, nothing is found. The last packet of a file, if it is cut,
 * is known by its uuid only.
 */
uint64_t ctf_packet_seek(struct ctf_window *window, struct ctf_cursor *cursor,
			 uint64_t from);

/* Bytes of a file whose packets are read one after the other, order_parts of stream.c. */
struct ctf_part {
	size_t file;
	uint64_t from, to; /* UINT64_MAX: the file's end */
};

/*
 * One stream of a trace: its files in the order of their begins, one of them open, one
 * packet of that under the cursor, and of that one event.
 */
struct ctf_stream {
	struct trace_progress progress;
	struct problem_list *problems;
	struct ctf_file *file;
	size_t files, capacity;
	struct ctf_part *part;
	size_t parts, at_part;    /* the next to be read */
	struct ctf_window window; /* of the file at hand */
	uint64_t at, next;        /* bytes: of this and of the next packet */
	uint64_t until;           /* the end of the part at hand, or UINT64_MAX */
	uint64_t from,
	    rest; /* of the packet: bytes before what is shown of it, bits behind */
	struct ctf_packet packet;
	struct ctf_cursor cursor; /* its slots are the stream's own */
	nsec_t skip_before; /* packets that end before are not looked into, if they can */
	bool is_cut;        /* the file ends before the packet at hand does */
	uint64_t gaps, gap_bytes; /* of the part: places without a packet; bytes of all
				     but the first */

	/* For events.c. */
	const struct schema_event_class *class; /* of the event under the cursor */
	nsec_t event_ns;                        /* its stamp */
	bool has_reached; /* an event does not lie before the reader's begin */
	bool has_event;   /* the cursor is behind the header of an event */
	bool has_packet;  /* and within a packet */
	bool has_before;  /* sequence and discarded are those of the packet before */
	uint64_t sequence, discarded;
	uint64_t first_lost;     /* events, counted before its first packet */
	bool has_repeats;        /* `repeats_before` is set */
	uint64_t repeats_before; /* another trace has the packets before this number */
	uint64_t broken;         /* packets */
};

struct ctf_streams {
	struct ctf_stream *stream; /* by the names of their first files */
	size_t count, capacity;
	uint64_t bytes; /* of all files */
};

/*
 * Find the stream files of the trace in a directory. Those without a packet are
 * left out with a problem. -1 with error where the directory cannot be read.
 */
int ctf_streams_open(struct ctf_streams *streams, const struct schema *schema,
		     const char *path, struct problem_list *problems,
		     struct error *error);

/*
 * Go on to the next packet, in whichever file; what cannot be read becomes a
 * problem. False at the stream's end.
 */
bool ctf_stream_next(struct ctf_stream *stream);

/*
 * Show more of the packet at hand, from the cursor on: only a slice of it is in memory.
 * False where there is no more, or what is shown is a GiB already.
 */
bool ctf_stream_more(struct ctf_stream *stream);

void ctf_streams_clear(struct ctf_streams *streams);

#endif
