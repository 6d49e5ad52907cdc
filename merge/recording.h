/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_RECORDING_H
#define CT_MERGE_RECORDING_H

#include "ctf/recorded.h"
#include "merge/event_class.h"
#include "merge/run.h"
#include "timeline/writer.h"

/*
 * From when to when the processors of a run were recorded, by the packets of its traces:
 * where a recording starts and stops, and where events were lost in between. Streams of
 * one channel go on from one trace to the next, as LTTng rotates a recording into chunks
 * and takes snapshots; packets that two of these have are read once.
 */
struct recording_mark {
	nsec_t ts_ns; /* NSEC_MIN: a start that the packets do not say */
	enum { MARK_START, MARK_LOSS, MARK_STOP } kind;
	int32_t cpu;    /* -1: not recorded */
	unsigned needs; /* enum event_need, a bit each */
	/* START: when it stopped before, NSEC_MIN: it is the first, NSEC_MAX: the packets
	 * do not say. LOSS: until when. STOP: when it starts again, NSEC_MAX: never. */
	nsec_t other_ns;
	bool is_final; /* STOP: not after the last event of the node, see recording.c */
};

/* What was recorded by one source. */
struct recording_source {
	struct ctf_reader *reader;       /* NULL: it is not read */
	const struct event_class *class; /* of the reader */
	size_t classes;
	struct ctf_recorded recorded; /* by its own clock; without periods: unknown */
};

struct recording_node {
	struct recording_mark *mark; /* in the order in which they pass */
	size_t marks, next;
};

/* When a mark is, of a node with its last event then. */
static inline nsec_t recording_mark_ns(const struct recording_mark *mark, nsec_t last_ns)
{
	return mark->is_final && mark->ts_ns > last_ns ? last_ns : mark->ts_ns;
}

/* A period of a user-space trace beside a kernel; NSEC_MIN, NSEC_MAX: unknown. */
struct recording_user {
	nsec_t begin_ns, end_ns;
	uint32_t source;
};

struct recording {
	struct recording_node *node; /* as the run's */
	size_t nodes;
	struct recording_user *user;
	size_t users;
};

/* Before the first step of the readers. Reports what is missing between traces. */
struct recording *recording_new(struct merge_run *run,
				const struct recording_source *source);

/* The next mark of a node that comes before an event of that time, or NULL. With
 * NSEC_MAX, after the last event, all but final ones. */
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
