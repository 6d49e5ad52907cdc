/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_READER_PRIVATE_H
#define CT_CTF_READER_PRIVATE_H

#include "ctf/reader.h"

/* For those who implement a reader: embed `base` first. */
struct ctf_reader_ops {
	/* Add the columns of a class. */
	void (*columns)(struct ctf_reader *reader, uint32_t index);
	void (*select)(struct ctf_reader *reader, uint32_t index,
		       const struct ctf_selection *selection);
	void (*begin)(struct ctf_reader *reader,
		      nsec_t local_ns); /* NULL: leaves nothing */
	bool (*step)(struct ctf_reader *reader, uint64_t most);
	void (*free)(struct ctf_reader *reader);
};

/* What a reader knows of a stream besides what it reads it by; embed it first. */
struct ctf_progress {
	nsec_t head_ns; /* no event of this stream to come is before */
	nsec_t last_ns; /* of the event before */
	uint64_t events;
	uint32_t index;
	int32_t cpu;
	bool began; /* last_ns is set */
};

struct ctf_reader {
	const struct ctf_reader_ops *ops;
	char *path;
	struct ctf_facts facts;
	struct problem_list problems;
	struct ctf_class **class; /* each stays where it is */
	size_t classes, room;
	/* Those that are still read, a heap: the one whose head is the earliest first. */
	struct ctf_progress **stream;
	size_t streams, stream_room;
	uint64_t stop_at; /* events at which the step ends */
	ctf_event_fn *give;
	void *context;
	bool has_ended;
};

/* The base of memory that is zero; copies the path. */
void ctf_reader_init(struct ctf_reader *reader, const struct ctf_reader_ops *ops,
		     const char *path);

/* One more event class, without columns; copies the name. */
struct ctf_class *ctf_reader_add_class(struct ctf_reader *reader, const char *name,
				       uint64_t id);

void ctf_class_add_column(struct ctf_class *class, const char *name, enum cell_type type,
			  bool context);

/* One more stream, which is numbered as it comes. */
void ctf_reader_add_stream(struct ctf_reader *reader, struct ctf_progress *stream);

/*
 * Go on with a stream up to its first event past `until`, whose stamp is then its head,
 * or to reader->stop_at. False at its end.
 */
typedef bool ctf_run_fn(struct ctf_reader *reader, struct ctf_progress *stream,
			nsec_t until);

/* A step of all streams, merged. */
bool ctf_reader_merge(struct ctf_reader *reader, uint64_t most, ctf_run_fn *run);

/* Up to the first event, so that clock, host and classes are known from the start. */
void ctf_reader_prime(struct ctf_reader *reader, ctf_run_fn *run);

struct schema_clock;

/* The clock of the first stream that has one, and the host, which may be NULL. */
void ctf_reader_set_clock(struct ctf_reader *reader, const char *host,
			  const struct schema_clock *clock);

/* One more event, of this stamp: for the facts and the stream's own. */
static inline void ctf_note_event(struct ctf_reader *reader, struct ctf_progress *stream,
				  nsec_t stamp)
{
	struct ctf_facts *facts = &reader->facts;

	if (!facts->events || stamp < facts->begin_ns)
		facts->begin_ns = stamp;
	if (!facts->events || stamp > facts->end_ns)
		facts->end_ns = stamp;
	if (stream->began && stamp < stream->last_ns)
		facts->backward++;
	stream->last_ns = stamp;
	stream->began = true;
	stream->events++;
	facts->events++;
}

/* The packet's end is before its last event. */
void ctf_tell_garbled(struct ctf_reader *reader, const struct ctf_progress *stream);

struct ctf_reader *ctf_own_open(const char *path, struct error *error);
struct ctf_reader *ctf_babeltrace2_open(const char *path, struct error *error);

#endif
