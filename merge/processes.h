/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_PROCESSES_H
#define CT_MERGE_PROCESSES_H

#include "merge/event_class.h"
#include "merge/run.h"
#include "timeline/rows.h"

/*
 * Processes and threads of all nodes, from statedump, fork, exec, exit and switch events
 * of kernel traces. A pid that is used again after an exit is another process.
 */
struct processes;

struct processes *processes_new(size_t nodes);

/* Add an event. Call in the order of a node's events; ts_ns is on the timeline's axis. */
void processes_event(struct processes *processes, const struct merged_event *event);

/*
 * Return the row id of the thread that had a tid at a time, or 0 if it is unknown. Set
 * `comm` to the name in its row, which may be NULL.
 */
int64_t processes_thread(const struct processes *processes, uint32_t node, int64_t tid,
			 nsec_t ts_ns, const char **comm);

/* Add the rows. Threads have the ids that processes_thread() returns. Return 0, or -1
 * with error. */
int processes_write(const struct processes *processes, const struct merge_run *run,
		    struct timeline_writer *writer, struct error *error);

void processes_free(struct processes *processes);

#endif
