/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_SPANS_SPANS_H
#define CT_MERGE_SPANS_SPANS_H

#include "merge/event_class.h"
#include "merge/processes.h"
#include "merge/recording.h"
#include "merge/run.h"
#include "timeline/writer.h"

/*
 * The activity of a cluster's processors and threads, from the kernel's events as they
 * are merged: which thread ran where and when, which waited for what and what ended the
 * wait, interrupts, system calls, disk requests. Everything is a span from begin_ns to
 * end_ns on the timeline's axis, a row of `thread_state`, `irq`, `syscall` or
 * `block_request`.
 *
 * A span that began before its processor was recorded, or goes on afterwards, is cut
 * there and marked as cut; likewise at a hole in the recording. A span whose end was lost
 * is cut where it was last known. A span that may be several, because the tracer lost
 * events meanwhile, is marked as uncertain. Where no event shows a thread's state there
 * is no span of it; nothing is guessed. Spans follow from the selected events, because
 * only those become rows.
 *
 * Spans are added by their end and read back by thread and begin, their order in the
 * timeline: until then they are packed in memory and in an unnamed file.
 */
struct spans;

/* Nothing of a node is known before its first event, nor before `begin_ns`. The run must
 * outlive it. */
struct spans *spans_new(const struct merge_run *run, nsec_t begin_ns);

/* A class that a node's events may be of, before all events: what is recorded of the node
 * follows from its classes. */
void spans_class(struct spans *spans, uint32_t node, struct event_class *class);

enum span_wait { /* what ended a wait */
		 WAIT_UNKNOWN,
		 WAIT_THREAD,    /* another thread of the node */
		 WAIT_DISK,      /* a disk's interrupt or its softirq */
		 WAIT_NETWORK,   /* a packet: in the network's softirq */
		 WAIT_TIMER,     /* a timer's interrupt or softirq */
		 WAIT_INTERRUPT, /* any other interrupt */
};

/*
 * The cause of a wakeup or a send.
 *
 * WAIT_THREAD: thread `tid` did it. WAIT_NETWORK: the network softirq did it, in answer
 * to one of the packets whose receive events have the ids `first_recv` to `last_recv`;
 * the kernel can record several before it processes them. If the node does not record
 * interrupts, the cause is inferred and `is_assumed` is set (docs/analyses.md).
 */
struct span_cause {
	enum span_wait wait;
	bool is_assumed;
	int64_t tid;                   /* -1: not known */
	int64_t event;                 /* id of the wakeup; or 0 */
	int64_t first_recv, last_recv; /* or 0 */
};

/* Handle the next event. For a packet's event, set `cause` to what sent it or, in
 * first_recv, to the first packet of its softirq. */
int spans_event(struct spans *spans, const struct merged_event *event,
		struct span_cause *cause, struct error *error);

/* Handle a mark of the recording that comes before the next event. Return 0, or -1
 * with error. */
int spans_mark(struct spans *spans, uint32_t node, struct recording_mark *mark,
	       struct error *error);

/* End after the last event: open spans are cut where the recording of their node ends, at
 * most at `end_ns`. */
int spans_end(struct spans *spans, nsec_t end_ns, struct error *error);

void spans_free(struct spans *spans);

#endif
