/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SAMPLES_H
#define CT_MERGE_SAMPLES_H

#include "merge/run.h"
#include "timeline/writer.h"

/*
 * Add the rows of the nodes' other files: sar's metrics (*.sadf, *.sa), process samples
 * and sensors as metric, metric_item and sample rows, tasks as invocation rows. Their
 * timestamps are of the node's real-time clock. clock.csv converts these to the monotonic
 * clock, which is that of the kernel trace; the trace's correction then applies. Without
 * it they are assumed to have the trace's epoch, or without a trace the timeline's, and
 * that is reported. Broken files become problems of the run. Return 0, or -1 with error
 * if writing fails.
 */
int merge_samples(struct merge_run *run, const struct selection *selection,
		  struct timeline_writer *writer, struct error *error);

#endif
