/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_NATIVE_WALK_H
#define CT_INPUT_NATIVE_WALK_H

#include "input/native/trace.h"
#include "input/reader.h"

/*
 * What ctf_walk does, by our own reading of the files: every event of one
 * trace, all streams merged in the order of its clock, in the same order and
 * with the same facts. A packet with an event that cannot be read is left from
 * there on, told of, and the next one goes on.
 */
struct native_visit {
	const struct native_class *class;
	/* Places of what the event has, and the bytes; until the function returns. */
	const struct native_cursor *cursor;
	nsec_t local_ns;
	uint64_t ordinal; /* within the stream, from 0 */
	unsigned stream;
	int32_t cpu; /* of the packet that the event is in; -1: not recorded */
};

struct native_visitor {
	native_prepare_fn *prepare; /* called by native_walk_open */
	/* A stream begins; may be NULL. */
	void (*begin)(void *context, const struct native_stream_class *stream);
	void (*event)(void *context, const struct native_visit *visit);
	void *context;
};

struct native_walk;

/*
 * Open the trace in a directory that holds `metadata`; copies the visitor.
 * NULL with error, also where it is not for this reader. As with ctf_walk, one
 * walk is used by one thread at a time.
 */
struct native_walk *native_walk_open(const char *path,
				     const struct native_visitor *visitor,
				     struct error *error);

/* Read some more, `most` events or fewer. 1: there may be more; 0: the end. */
int native_walk_step(struct native_walk *walk, uint64_t most);

/*
 * Called before the first step, after `is_passed` of classes and `can_skip` of streams
 * were set anew: events of such classes, and packets of such streams, are left out up to
 * the first event of their stream that does not lie before this time.
 */
void native_walk_begin(struct native_walk *walk, nsec_t local_ns);

/* What is made of the metadata, to change what is passed. */
struct native_trace *native_walk_trace(struct native_walk *walk);

/*
 * From now on other threads may help, where the visitor does not want most events. They
 * go through packets ahead of the walk; see native/ahead.h. Called before the first step.
 */
void native_walk_allow_help(struct native_walk *walk);

/* Help; false where there is nothing to do. For any thread, until the walk is freed. */
bool native_walk_help(struct native_walk *walk);

/* wished and defined are the visitor's to set. */
struct reader_facts *native_walk_facts(struct native_walk *walk);

/* What was odd; the list belongs to the walk, its caller may move it away. */
struct problem_list *native_walk_problems(struct native_walk *walk);

void native_walk_free(struct native_walk *walk);

#endif
