/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_DIGEST_H
#define CT_INPUT_NATIVE_DIGEST_H

#include "input/native/packet.h"

/*
 * A packet that one thread has gone through for another: the stamps of all its
 * events, and where those begin that somebody wants. Whoever walks the trace then
 * goes over the stamps and runs plans for what is wanted only.
 *
 * That gives the same as going through it in turn, for what the head of such a
 * packet says of the clock depends on no packet before (native_digest_can), and
 * fields refer to their own event and to their packet's head only. A packet that is
 * odd in any way has no digest.
 */
struct native_wanted {
	size_t event;       /* of the packet's, from 0 */
	uint64_t at, clock; /* of the cursor before its header */
};

struct native_digest {
	struct native_packet packet;
	unsigned char *byte; /* the packet's content */
	uint64_t bytes, room;
	nsec_t *stamp; /* one an event */
	size_t events, stamp_room;
	struct native_wanted *wanted;
	size_t wants, want_room;
	struct native_cursor cursor; /* behind the last event */
	bool is_sound;               /* all of the above is set */
};

/* Whether packets of this stream can be gone through in any order. */
bool native_digest_can(const struct native_stream_class *stream);

struct native_digest *native_digest_new(const struct native_trace *trace);

/* A packet of a file: whose first one is `first`, which has `size` bytes. */
struct native_piece {
	const char *path;
	const struct native_packet *first;
	uint64_t at, size;
};

/*
 * Read the packet's head. False where no whole packet of such a stream is there, or one
 * that is too large to be kept. `byte` then holds some of what is there.
 */
bool native_digest_begin(struct native_digest *digest, const struct native_trace *trace,
			 const struct native_piece *piece);

/* Read the rest and go through it; sets is_sound. */
void native_digest_finish(struct native_digest *digest, const struct native_piece *piece);

void native_digest_free(struct native_digest *digest);

#endif
