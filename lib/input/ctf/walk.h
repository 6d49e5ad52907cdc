/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_CTF_WALK_H
#define CT_INPUT_CTF_WALK_H

#include <babeltrace2/babeltrace.h>

#include "input/reader.h"

/*
 * Every event of one CTF trace, all its streams merged in the order of its
 * clock; what becomes of the events is the visitor's. A stream whose own
 * stamps go backwards keeps its event order.
 */
struct ctf_visit {
	const bt_event *event; /* borrowed until the function returns */
	nsec_t local_ns;
	uint64_t ordinal; /* within the stream, from 0 */
	unsigned stream;
	int32_t cpu; /* of the packet that the event is in; -1: not recorded */
};

struct ctf_visitor {
	/* A stream begins; may be NULL. Called by ctf_walk_open already. */
	void (*begin)(void *context, const bt_stream *stream);
	/* Called by ctf_walk_step only. */
	void (*event)(void *context, const struct ctf_visit *visit);
	void *context;
};

struct ctf_walk;

/*
 * Open the trace in a directory that holds `metadata`; copies the visitor.
 * NULL with error on failure. Safe to call from several threads; one walk is
 * used by one thread at a time.
 */
struct ctf_walk *ctf_walk_open(const char *path, const struct ctf_visitor *visitor,
			       struct error *error);

/* Read some more, little more than `most` events. 1: there may be more; 0: the end. */
int ctf_walk_step(struct ctf_walk *walk, uint64_t most);

/* wished and defined are the visitor's to set. */
struct reader_facts *ctf_walk_facts(struct ctf_walk *walk);

/* What was odd; the list belongs to the walk, its caller may move it away. */
struct problem_list *ctf_walk_problems(struct ctf_walk *walk);

void ctf_walk_free(struct ctf_walk *walk);

#endif
