/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_LOAD_H
#define CT_MERGE_LOAD_H

#include "base/progress.h"
#include "merge/event_files.h"
#include "merge/requests.h"
#include "sync/pair/message_log.h"

/* Everything that takes part when events become rows; all borrowed. */
struct load {
	struct merge_run *run;
	const struct selection *selection;
	struct timeline_writer *writer;
	struct event_files *files;    /* get the events instead, if there is no writer */
	struct message_log *messages; /* with their ends */
	struct requests *requests;    /* get each of them */
	struct progress *progress;
	int threads;
	bool payload, has_spans;
	uint64_t events; /* out: rows of `event` */
	uint64_t linked; /* out: messages that are not false */
};

/*
 * Merge the events of all sources into the timeline, in the order of their
 * corrected times; of one time by node and source. Then write what threads and others
 * did, when that was recorded, messages, threads and processes. 0, or -1 with error when
 * writing failed; what cannot be read becomes a problem of the run.
 */
int load_events(struct load *load, struct error *error);

#endif
