/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_PROCESSES_H
#define CT_MERGE_PROCESSES_H

#include "merge/event_class.h"
#include "merge/run.h"
#include "timeline/rows.h"

/*
 * Which thread an event belongs to: by its context where `tid`, or `vtid` of user
 * space, was recorded, else by the last sched_switch on its CPU; the switch itself is
 * its prev_tid's. What lies before the first switch of a CPU cannot be known: then -1.
 */
struct follow;

struct follow *follow_new(size_t sources);

/*
 * Say that a source is of the same machine and clock as an earlier one, as user space
 * is with its kernel: then a switch that either recorded counts for both.
 */
void follow_share(struct follow *follow, uint32_t source, uint32_t with);

/* The thread of an event, -1: unknown. Events of a source come in order. */
int64_t follow_event(struct follow *follow, uint32_t source,
		     const struct event_class *class, const struct ctf_event *record);

void follow_free(struct follow *follow);

/*
 * Processes and threads of all nodes, from statedump, fork, exec, exit and switch
 * events of kernel traces. A pid that comes back after its exit is another one.
 */
struct processes;

struct processes *processes_new(void);

/* Events of a node come in order; ts_ns is on the timeline's axis. */
void processes_event(struct processes *processes, uint32_t node,
		     const struct event_class *class, const struct cell *cell,
		     nsec_t ts_ns, int64_t tid);

/* The row id of the process that had a pid at a time, 0: unknown. */
int64_t processes_find(const struct processes *processes, uint32_t node, int64_t pid,
		       nsec_t ts_ns);

/*
 * The row id of the thread that had a tid at a time, 0: unknown. `comm` gets its name as
 * its row has it, NULL: none.
 */
int64_t processes_thread(const struct processes *processes, uint32_t node, int64_t tid,
			 nsec_t ts_ns, const char **comm);

/* Add the rows, numbered as processes_find says. 0, or -1 with error. */
int processes_write(const struct processes *processes, const struct merge_run *run,
		    struct timeline_writer *writer, struct error *error);

void processes_free(struct processes *processes);

#endif
