/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_STREAM_H
#define CT_INPUT_NATIVE_STREAM_H

#include "base/nsec.h"
#include "base/problem.h"
#include "input/native/packet.h"
#include "input/native/window.h"

/* One file of a stream; LTTng may write several, one after the other. */
struct native_file {
	char *path;
	struct native_packet first;
	uint64_t
	    begin;   /* of its first packet, since the clock's value 0; 0: not recorded */
	size_t rank; /* among the files as their directory lists them */
};

/* Bytes of a file whose packets are read one after the other; see native/rotation.h. */
struct native_part {
	size_t file;
	uint64_t from, to; /* UINT64_MAX: the file's end */
};

/*
 * One stream of a trace: its files in the order of their begins, one of them open, and
 * one packet of that under the cursor.
 */
struct native_stream {
	struct native_file *file;
	size_t files, room;
	struct native_part *part;
	size_t parts, at_part;        /* the next to be read */
	const struct native_file *of; /* the file at hand, NULL: none yet */
	const char *path;             /* its */
	struct native_window window;  /* of it */
	uint64_t size, at, next; /* bytes: of the file, of this and the next packet */
	uint64_t until;          /* the end of the part at hand */
	struct native_packet packet;
	struct native_cursor cursor; /* its slots are the stream's own */
	nsec_t skip_before; /* packets that end before are not looked into, if they can */
	bool is_skipped;    /* the packet at hand was not; the cursor is at its end */
	bool is_cut;        /* the file ends before the packet at hand does */
	uint64_t packets;   /* read so far */
	uint64_t gaps, gap_bytes; /* of the file: places without a packet, all but the
				     first one's bytes */
};

struct native_streams {
	struct native_stream *stream; /* by the names of their first files */
	size_t count, room;
};

/*
 * Find the stream files of the trace in a directory. Those without a packet are
 * left out with a problem. -1 with error where the directory cannot be read.
 */
int native_streams_open(struct native_streams *streams, const struct native_trace *trace,
			const char *path, struct problem_list *problems,
			struct error *error);

/*
 * Go on to the next packet, in whichever file; what cannot be read becomes a
 * problem. False at the stream's end.
 */
bool native_stream_next(struct native_stream *stream, const struct native_trace *trace,
			struct problem_list *problems);

void native_streams_clear(struct native_streams *streams);

#endif
