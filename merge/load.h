/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_LOAD_H
#define CT_MERGE_LOAD_H

#include "base/progress.h"
#include "merge/event_files.h"
#include "merge/requests.h"
#include "sync/pair/message_log.h"

/* The modules that make rows of events; all borrowed. */
struct load {
	struct merge_run *run;
	const struct selection *selection;
	struct timeline_writer *writer;
	struct event_files *files;    /* get the events instead, if there is no writer */
	struct message_log *messages; /* with their ends */
	struct requests *requests;    /* requests of these messages */
	struct progress *progress;
	int threads;
	bool payload, has_spans;
	uint64_t events; /* out: rows of `event` */
	uint64_t linked; /* out: messages that are not false */
};

/*
 * Merge the events of all sources into the timeline, in the order of their corrected
 * times, and at one time by node and source. Then write spans, the times at which they
 * were recorded, messages, threads, processes, and the rows of merge_samples().
 * Unreadable input becomes a problem of the run. Return 0, or -1 with error if writing
 * fails.
 */
int load_events(struct load *load, struct error *error);

#endif
