/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TRACE_CTF_STREAM_H
#define CT_TRACE_CTF_STREAM_H

#include "trace/ctf/packet.h"
#include "trace/reader_private.h"

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
	uint64_t bytes; /* size of all files */
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
