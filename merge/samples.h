/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SAMPLES_H
#define CT_MERGE_SAMPLES_H

#include "base/hash.h"
#include "input/clock_samples.h"
#include "merge/run.h"
#include "timeline/rows.h"

/*
 * Add what the nodes' other files hold: sar's metrics (*.sadf, *.sa), process
 * samples and sensors as metric, metric_item and sample rows, tasks as
 * invocation rows. Their stamps are the node's real-time clock's: clock.csv
 * places them on the monotonic clock and so on that of its kernel trace, whose
 * correction then holds; without it they are assumed to be that trace's own
 * epoch time, or without a trace the timeline's, and that is reported. Broken
 * files become problems of the run. 0, or -1 with error when writing failed.
 */
int merge_samples(struct merge_run *run, const struct selection *selection,
		  struct timeline_writer *writer, struct error *error);

/*
 * A stamp more than STAMPS_FAR_NS before the first or after the last event of all traces
 * and captures of the run is no time of this run: a clock that was not set, a mistaken
 * unit. What is of it is left out and reported. sar's logs are of whole days, so
 * yesterday's and tomorrow's are near. A run without traces and captures has no such
 * limit.
 */
#define STAMPS_FAR_NS (2 * 86400 * NSEC_PER_SEC)

/* What reads the files of all nodes, one node after the other. */
struct sampler {
	struct merge_run *run;
	const struct selection *selection;
	struct timeline_writer *writer;
	struct error *error;
	struct texts metrics, items; /* those that have rows; a number + 1 is the id */
	nsec_t first_ns, last_ns;    /* of what is near */

	uint32_t node;                     /* at hand */
	const struct merge_source *source; /* whose clock places it; NULL: none */
	struct clock_samples clock;
	bool has_clock;
	bool is_reported; /* that no source, or no clock.csv, places it */
	uint64_t doubts;  /* stamps around a step of the clock, */
	nsec_t doubt_ns;  /* at most so far off */
	uint64_t far;     /* of the file at hand: stamps outside of the run */
};

/*
 * A stamp of the node's real-time clock on the timeline's axis: by clock.csv on the
 * monotonic clock, so on the epoch of its kernel trace, and by the correction of that
 * trace. Without clock.csv the stamps are assumed to be of the trace's epoch; where the
 * node has no trace they are a capture's, or else the axis's own.
 */
nsec_t sampler_place(struct sampler *sampler, nsec_t realtime_ns);

/* Whether an instant of the axis is outside of the run, by the above. */
bool sampler_is_far(const struct sampler *sampler, nsec_t ts_ns);

/* Take in the tasks of a file. 0, also where it cannot be read, which is a problem of the
 * run; -1 with the sampler's error where writing failed. */
int sample_invocations(struct sampler *sampler, const char *path);

#endif
