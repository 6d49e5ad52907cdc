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
 */
struct stamps {
	struct merge_run *run;
	const struct merge_node *node;
	const struct merge_source *source; /* NULL: none */
	struct clock_samples samples;
	bool has_samples;
	bool is_told;    /* that the way is a shorter one */
	uint64_t doubts; /* stamps around a step of the clock, */
	nsec_t doubt_ns; /* at most so far off */
};

/* Reads the node's clock.csv, if there is one; what is odd goes to the run. */
void stamps_init(struct stamps *stamps, struct merge_run *run, uint32_t node);

/* A real-time stamp on the axis. What must be told of it is told once. */
nsec_t stamps_place(struct stamps *stamps, nsec_t realtime_ns);

/* Reports the stamps that were in doubt. */
void stamps_clear(struct stamps *stamps);

#endif
