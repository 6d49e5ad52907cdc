/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_TRACE_H
#define CT_CTF_TRACE_H

#include "base/nsec.h"
#include "base/problem.h"
#include "ctf/fields.h"

/*
 * The schema of one trace, made ready to go through its packets: what is known of it
 * before any stream file is opened.
 */
struct ctf_event_class {
	struct ctf_stretches skip; /* its program, if can_pass */
	bool can_pass;             /* nobody wants its events, or those before a begin */
	uint32_t index;            /* among all classes of the trace */
	struct ctf_stream_class *stream;
	const struct schema_event *event;
	struct field_class *part[CTF_PARTS];
	struct ctf_program *program; /* of all parts, behind the event's header */
	size_t places;               /* that it notes */

	/* What is selected; fields are NULL where no cells are. */
	enum ctf_selected selected;
	enum ctf_use before;
	struct ctf_fields *fields;
};

struct ctf_clock {
	const struct schema_clock *of;
	nsec_t base_ns; /* since the epoch, at value 0 */
	/* Values that are nanoseconds, and instants that can be; none if least > most. */
	uint64_t least, most;
};

/*
 * The event headers that LTTng and sink.ctf.fs write, read at once: a little-endian id
 * and the low bits of the stamp behind it, or the whole stamp. An id of LTTng's may say
 * instead that a longer header follows. Every event has one, so a program for it would
 * cost more than all else of an event that nobody wants.
 */
struct ctf_short_header {
	unsigned id_size, stamp_size; /* bits; stamp 0: the header is another one */
	unsigned stamp_at, size;      /* from its begin: bits, bits in all */
	uint64_t last;                /* id that is no sign of a longer header */
	int slot;                     /* of the id; -1: nobody refers to it */
};

struct ctf_stream_class {
	const struct schema_stream *of;
	struct ctf_program *packet_context, *event_header;
	struct ctf_short_header short_header; /* as the program, most often */
	struct ctf_clock clock;         /* clock.of is NULL where events have no stamps */
	struct ctf_event_class **by_id; /* NULL: none has the id */
	size_t ids;
	bool can_skip; /* its packets before the reader's begin, whole */
};

struct ctf_trace {
	struct schema *schema;
	size_t places;                 /* the most that a program notes */
	size_t ids;                    /* of all streams, each up to its greatest one */
	struct ctf_event_class *class; /* those of stream 0 first */
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
	return id < stream->ids ? stream->by_id[id] : NULL;
}

/* The same where it is not one addition. */
bool ctf_instant_slow(const struct ctf_clock *clock, uint64_t value, nsec_t *instant);

/* A clock's value as an instant. False where it is none that can be. */
static inline bool ctf_instant(const struct ctf_clock *clock, uint64_t value,
			       nsec_t *instant)
{
	if (value < clock->least || value > clock->most)
		return ctf_instant_slow(clock, value, instant);
	*instant = clock->base_ns + (nsec_t)value;
	return true;
}

/* Nanoseconds since value 0, never less for a greater value. */
uint64_t ctf_clock_ns(const struct ctf_clock *clock, uint64_t value);

/* The instant of value 0, to the nearest nanosecond. */
nsec_t ctf_offset_ns(const struct schema_clock *clock);

void ctf_trace_free(struct ctf_trace *trace);

#endif
