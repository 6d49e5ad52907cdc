/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_TRACE_H
#define CT_CTF_TRACE_H

#include "base/nsec.h"
#include "base/problem.h"
#include "ctf/fields.h"
#include "ctf/skip.h"

/*
 * The schema of one trace, made ready to go through its packets: what is known of it
 * before any stream file is opened.
 */
struct ctf_event_class {
	const struct schema_event *event;
	struct field_class *part[CTF_PARTS];
	struct ctf_program
	    *program;         /* of contexts and fields, behind the event's header */
	size_t places;        /* that the program notes */
	uint32_t index;       /* among all classes of the trace */
	bool is_given;        /* somebody wants its events, */
	bool is_passed;       /* but not those before a begin */
	struct ctf_skip skip; /* how its events are passed over */
};

struct ctf_clock {
	const struct schema_clock *of;
	nsec_t base_ns; /* since the epoch, at value 0 */
	/* Values that are nanoseconds, and instants that can be; none if least > most. */
	uint64_t least, most;
};

struct ctf_stream_class {
	const struct schema_stream *of;
	struct ctf_program *packet_context, *event_header;
	struct ctf_short_header quick; /* what the header's program does, most often */
	struct ctf_clock clock;        /* clock.of is NULL where events have no stamps */
	unsigned stamp_size;           /* of the first stamp in event headers, or 0 */
	struct ctf_event_class *class;
	uint32_t *by_id; /* index of a class, and one; 0: none has the id */
	size_t classes, ids;
	bool can_skip; /* its packets before the reader's begin, whole */
};

struct ctf_trace {
	struct schema *schema;
	size_t places; /* the most that a program notes */
	size_t ids;    /* of all streams, each up to its greatest one */
	size_t classes;
	struct ctf_program *packet_header;
	struct ctf_stream_class *stream; /* one a stream of the schema */
	bool has_magic, is_magic_big;    /* packets begin with it, and so it is written */
	/* What tracers are known to write wrong. */
	bool has_late_events;  /* stamps past the end of their packet */
	bool has_early_events; /* and before its begin */
};

/*
 * Read and compile the metadata of the trace in a directory. NULL with error, which says
 * what of it cannot be read.
 */
struct ctf_trace *ctf_trace_open(const char *path, struct problem_list *problems,
				 struct error *error);

/*
 * Compile an event class anew, after `place` of fields was set, up from 0; so many places
 * those are.
 */
void ctf_trace_compile(struct ctf_trace *trace, struct ctf_event_class *class,
		       size_t places);

/* The class of an id, or NULL. */
static inline struct ctf_event_class *
ctf_find_class(const struct ctf_stream_class *stream, uint64_t id)
{
	uint32_t index = id < stream->ids ? stream->by_id[id] : 0;

	return index ? &stream->class[index - 1] : NULL;
}

/* A clock's value as an instant. False where it is none that can be. */
bool ctf_instant(const struct ctf_clock *clock, uint64_t value, nsec_t *instant);

/* Nanoseconds since value 0, never less for a greater value. */
uint64_t ctf_clock_ns(const struct ctf_clock *clock, uint64_t value);

/* The instant of value 0, to the nearest nanosecond. */
nsec_t ctf_offset_ns(const struct schema_clock *clock);

void ctf_trace_free(struct ctf_trace *trace);

#endif
