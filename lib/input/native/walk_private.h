/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_WALK_PRIVATE_H
#define CT_INPUT_NATIVE_WALK_PRIVATE_H

#include "input/ctf/files.h"
#include "input/native/ahead.h"
#include "input/native/stream.h"
#include "input/native/walk.h"
#include "input/stream_heap.h"

/* What a walk knows, for those that go from packet to packet and from event to event. */
/* What is known of a stream besides its files. */
struct native_reading {
	struct stream_head head;
	struct native_stream *of;
	const struct native_class *class; /* of the event under the cursor */
	nsec_t last_ns;                   /* of the event before */
	nsec_t event_ns;                  /* of the event under the cursor */
	uint64_t events;
	unsigned index;
	int32_t cpu;
	bool began;       /* last_ns is set */
	bool has_reached; /* an event does not lie before the walk's begin */
	bool has_event;   /* the cursor is behind the header of an event */
	bool has_packet;  /* and within a packet */
	bool has_before;  /* sequence and discarded are those of the packet before */
	uint64_t sequence, discarded;
	uint64_t broken; /* packets */
	/* Of the packet, if somebody has gone through it; and how far the walk is. */
	struct native_digest *digest;
	size_t at_event, at_wanted;
};

struct native_walk {
	char *path;
	struct native_visitor visitor;
	struct native_trace *trace;
	struct native_streams streams;
	struct native_ahead *ahead; /* NULL: nobody helps */
	struct reader_facts facts;
	struct problem_list problems;
	struct ctf_files files;
	uint64_t packets; /* read so far */
	struct native_reading *reading;
	struct stream_heap heap;
	nsec_t pass_before; /* classes that are passed are, up to there in each stream */
	uint64_t stop_at;   /* events at which the step ends */
};

/* Whether the stream still stands before what all events are wanted of. */
static inline bool native_is_before_begin(const struct native_walk *walk,
					  const struct native_reading *reading)
{
	return !reading->has_reached && walk->pass_before > NSEC_MIN;
}

/*
 * Go on to the next packet of the stream: with the facts that its head tells, and with
 * what helpers have done of it. False at the stream's end.
 */
bool native_begin_packet(struct native_walk *walk, struct native_reading *reading);

/* The packet's content is used up. */
void native_end_packet(struct native_walk *walk, struct native_reading *reading);

/* The rest of the packet cannot be understood. */
void native_break_packet(struct native_walk *walk, struct native_reading *reading);

/* Tell what there is to tell when a stream has no more packets. */
void native_end_stream(struct native_walk *walk, const struct native_reading *reading);

#endif
