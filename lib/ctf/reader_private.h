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

/* The streams that are still read, the one whose next event is the earliest first. */
struct ctf_stream_head {
	nsec_t head_ns; /* no event of this stream to come is before */
};

struct ctf_stream_heap {
	struct ctf_stream_head **head;
	size_t count;
};

struct ctf_reader {
	const struct ctf_reader_ops *ops;
	char *path;
	struct ctf_facts facts;
	struct problem_list problems;
	struct ctf_class **class; /* each stays where it is */
	size_t classes, room;
	struct ctf_stream_heap heap;
	ctf_event_fn *give;
	void *context;
	bool has_ended;
};

/* What a reader knows of a stream besides what it reads it by; embed `head` first. */
struct ctf_progress {
	struct ctf_stream_head head;
	uint64_t events;
	nsec_t last_ns; /* of the event before */
	uint32_t index;
	int32_t cpu;
	bool began; /* last_ns is set */
};

/* The base of memory that is zero; copies the path. */
void ctf_reader_init(struct ctf_reader *reader, const struct ctf_reader_ops *ops,
		     const char *path);

/* One more event class, without columns; copies the name. */
struct ctf_class *ctf_reader_add_class(struct ctf_reader *reader, const char *name,
				       uint64_t id);

void ctf_class_add_column(struct ctf_class *class, const char *name, enum cell_type type,
			  bool context);

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

void ctf_heap_init(struct ctf_stream_heap *heap, size_t streams);
void ctf_heap_add(struct ctf_stream_heap *heap, struct ctf_stream_head *head);

/* The head of every stream but the first, or the end of time. */
nsec_t ctf_heap_second(const struct ctf_stream_heap *heap);

/* The first stream has gone on, or is at its end and leaves. */
void ctf_heap_settle(struct ctf_stream_heap *heap);
void ctf_heap_remove(struct ctf_stream_heap *heap);

struct ctf_reader *ctf_own_open(const char *path, struct error *error);
struct ctf_reader *ctf_babeltrace2_open(const char *path, struct error *error);

#endif
