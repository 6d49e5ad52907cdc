/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_TRACE_H
#define CT_INPUT_NATIVE_TRACE_H

#include "base/nsec.h"
#include "input/native/plan.h"
#include "input/native/quick.h"
#include "input/tsdl/field_resolve.h"

/*
 * The metadata of one trace, made ready to walk its packets: what is known of
 * it before any stream file is opened.
 */
struct native_class {
	const struct tsdl_event *event;
	struct native_plan *plan; /* of contexts and fields, behind the event's header */
	size_t places;            /* that the plan notes */
	bool is_passed;           /* nobody wants its events, or those before a begin */
	void *data;               /* of whoever prepared the class */
};

/* Known fields of packet headers and contexts; the first four are of the header. */
enum native_head {
	HEAD_MAGIC,
	HEAD_UUID,
	HEAD_STREAM,
	HEAD_INSTANCE,
	HEAD_BEGIN,
	HEAD_END,
	HEAD_CONTENT,
	HEAD_SIZE,
	HEAD_SEQUENCE,
	HEAD_DISCARDED,
	HEAD_CPU,
	HEADS,
};

struct native_clock {
	const struct tsdl_clock *of;
	nsec_t base_ns; /* since the epoch, at value 0 */
	/* Values that are nanoseconds, and instants that can be; none if least > most. */
	uint64_t least, most;
};

/* How events of one id are passed over. */
struct native_skip {
	struct native_stretches of; /* all fields */
	bool can;
};

struct native_stream_class {
	const struct tsdl_stream *of;
	struct native_plan *packet_context, *event_header;
	struct native_quick quick; /* what the header's plan does, for most events */
	struct native_clock clock;
	const struct field_class *head[HEADS]; /* of its packets; NULL: not there */
	bool has_ends;                         /* of packets, by its clock */
	struct native_class *class;
	uint32_t *by_id;          /* index of a class, and one; 0: none has the id */
	struct native_skip *skip; /* one an id */
	size_t classes, ids;
	bool can_skip; /* its packets before the walk's begin, whole */
};

struct native_trace {
	struct tsdl *tsdl;
	struct field_slots slots;
	size_t places; /* the most that a plan notes */
	size_t ids;    /* of all streams, each up to its greatest one */
	struct native_plan *packet_header;
	struct native_stream_class *stream; /* one a stream of tsdl */
};

/*
 * Called once an event class, before its plan is made: set `place` of fields
 * that are wanted, up from 0, or is_passed. Returns how many places those are.
 */
typedef size_t native_prepare_fn(void *context, const struct native_stream_class *stream,
				 struct native_class *class);

/*
 * Read and compile the metadata of the trace in a directory. NULL with error,
 * which says what of it cannot be read by this reader.
 */
struct native_trace *native_trace_open(const char *path, native_prepare_fn *prepare,
				       void *context, struct error *error);

/* The class of an id, or NULL. */
const struct native_class *native_find_class(const struct native_stream_class *stream,
					     uint64_t id);

/* A clock's value as an instant. False where it is none that can be. */
bool native_instant(const struct native_clock *clock, uint64_t value, nsec_t *instant);

/* Nanoseconds since value 0, never less for a greater value. */
uint64_t native_clock_ns(const struct native_clock *clock, uint64_t value);

/* The instant of value 0, to the nearest nanosecond. */
nsec_t native_offset_ns(const struct tsdl_clock *clock);

void native_trace_free(struct native_trace *trace);

#endif
