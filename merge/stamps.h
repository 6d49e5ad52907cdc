/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_STAMPS_H
#define CT_MERGE_STAMPS_H

#include "input/clock_samples.h"
#include "merge/run.h"

/*
 * From a node's real-time clock to the timeline's axis: by clock.csv to the
 * monotonic clock, so to the epoch of its kernel trace, and by the correction of
 * that trace. Without clock.csv the stamps are taken to be of the trace's epoch;
 * where the node has no trace they are a capture's, or else the axis's own.
 *
 * A stamp more than STAMPS_FAR_NS before the first or after the last event of all traces
 * and captures of the run is no time of this run: a clock that was not set, a mistaken
 * unit. What is of it is left out and told. sar's logs are of whole days, so yesterday's
 * and tomorrow's are near. A run without traces and captures has no such limit.
 */
#define STAMPS_FAR_NS (2 * 86400 * NSEC_PER_SEC)

struct stamps {
	struct merge_run *run;
	const struct merge_node *node;
	const struct merge_source *source; /* NULL: none */
	struct clock_samples samples;
	bool has_samples;
	bool is_told;             /* that the way is a shorter one */
	uint64_t doubts;          /* stamps around a step of the clock, */
	nsec_t doubt_ns;          /* at most so far off */
	nsec_t first_ns, last_ns; /* of what is near */
};

/* Reads the node's clock.csv, if there is one; what is odd goes to the run. */
void stamps_init(struct stamps *stamps, struct merge_run *run, uint32_t node);

/* A real-time stamp on the axis. What must be told of it is told once. */
nsec_t stamps_place(struct stamps *stamps, nsec_t realtime_ns);

/* Whether an instant of the axis is outside of the run, by the above. */
bool stamps_is_far(const struct stamps *stamps, nsec_t ts_ns);

/* Reports the stamps that were in doubt. */
void stamps_clear(struct stamps *stamps);

#endif
