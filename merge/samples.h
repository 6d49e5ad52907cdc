/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SAMPLES_H
#define CT_MERGE_SAMPLES_H

#include "merge/run.h"
#include "timeline/writer.h"

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

#endif
