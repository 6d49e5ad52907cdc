/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SAMPLES_H
#define CT_MERGE_SAMPLES_H

#include "base/hash.h"
#include "merge/processes.h"
#include "merge/run.h"
#include "merge/stamps.h"
#include "timeline/rows.h"

/*
 * Add what the nodes' other files hold: sar's metrics (*.sadf, *.sa), process
 * samples and sensors as metric, metric_item and sample rows, tasks as
 * invocation rows. Their stamps are the node's real-time clock's: clock.csv
 * places them on the monotonic clock and so on that of its kernel trace, whose
 * correction then holds; without it they are taken to be that trace's own
 * epoch time, or without a trace the timeline's, and that is reported. Broken
 * files become problems of the run. 0, or -1 with error when writing failed.
 */
int merge_samples(struct merge_run *run, const struct selection *selection,
		  const struct processes *processes, struct timeline_writer *writer,
		  struct error *error);

/* What all of them share, and which node's file is read. */
struct sampler {
	struct merge_run *run;
	const struct selection *selection;
	const struct processes *processes;
	struct timeline_writer *writer;
	struct error *error;
	struct texts metrics, items; /* those that have rows; a number + 1 is the id */
	uint32_t node;
	struct stamps stamps;
	uint64_t far; /* of the file at hand: stamps outside of the run */
};

/* Take in the tasks of a file. 0, also where it cannot be read, which is a problem of the
 * run; -1 with the sampler's error where writing failed. */
int sample_invocations(struct sampler *sampler, const char *path);

#endif
