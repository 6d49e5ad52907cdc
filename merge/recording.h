/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_RECORDING_H
#define CT_MERGE_RECORDING_H

#include "merge/event_class.h"
#include "merge/run.h"
#include "timeline/writer.h"
#include "trace/recorded.h"

/*
 * A start or stop of the recording of a processor, or a loss of events, according to the
 * packets of the run's traces. Streams of one channel go on from one trace to the next,
 * because LTTng rotates a recording into chunks and takes snapshots; packets that two of
 * these have are read once.
 */
struct recording_mark {
	nsec_t ts_ns; /* NSEC_MIN: a start that the packets do not state */
	enum { MARK_START, MARK_LOSS, MARK_STOP } kind;
	int32_t cpu;    /* -1: not recorded */
	unsigned needs; /* enum event_need, a bit each */
	/* START: the previous stop; NSEC_MIN: this is the first start; NSEC_MAX: the
	 * packets do not state it. LOSS: its end. STOP: the next start; NSEC_MAX: there
	 * is none. */
	nsec_t other_ns;
	bool is_final; /* STOP: not after the last event of the node, see recording.c */
};

/* A source, and when it was recorded according to its packets. */
struct recording_source {
	struct trace_reader *reader;     /* NULL: the source is not read */
	const struct event_class *class; /* the reader's */
	size_t classes;
	struct trace_recorded recorded; /* by its own clock; without periods: unknown */
};

struct recording_node {
	struct recording_mark *mark; /* in the order in which they pass */
	size_t marks, next;
};

/* Return the time of a mark. A final stop is not later than its node's last event,
 * `last_ns`. */
static inline nsec_t recording_mark_ns(const struct recording_mark *mark, nsec_t last_ns)
{
	return mark->is_final && mark->ts_ns > last_ns ? last_ns : mark->ts_ns;
}

/* A period of a stream of a trace that is not the kernel's; NSEC_MIN, NSEC_MAX: unknown.
 * Those of a stream follow each other. */
struct recording_user {
	nsec_t begin_ns, end_ns;
	uint32_t source;
	int32_t cpu;   /* -1: not recorded */
	bool is_first; /* in its stream */
	bool is_lost;  /* no period of it, but one in which it lost events */
};

struct recording {
	struct recording_node *node; /* as the run's */
	size_t nodes;
	struct recording_user *user;
	size_t users, user_capacity;
};

/* Find when the sources were recorded; call before the first step of the readers. Report
 * events and packets that are missing between traces as problems of the run. */
struct recording *recording_new(struct merge_run *run,
				const struct recording_source *source);

/* Return the next mark of a node that comes before an event of that time, or NULL. With
 * NSEC_MAX, after the last event, final marks are not returned. */
static inline struct recording_mark *recording_next(struct recording *recording,
						    uint32_t node, nsec_t ts_ns)
{
	struct recording_node *of = &recording->node[node];
	struct recording_mark *mark = &of->mark[of->next];

	if (of->next == of->marks || mark->ts_ns + (mark->kind == MARK_STOP) > ts_ns ||
	    (ts_ns == NSEC_MAX && mark->is_final))
		return NULL;
	of->next++;
	return mark;
}

void recording_free(struct recording *recording);

#endif
