/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_TRACKS_H
#define CT_EXPORT_PERFETTO_TRACKS_H

#include "export/perfetto/perfetto.h"

/* Write the start of the file, and the nodes as tracks. */
void perfetto_begin(struct perfetto *perfetto);

/*
 * Tracks: created, numbered and named on first use.
 *
 * Two nodes may have equal process ids, and a node may reuse one. So a node is a process
 * whose id is its index among the nodes, from 1, and a thread's id is that times ten
 * million plus its tid: 20000815 is thread 815 of the second node. Ids that do not fit
 * are counted from 2010000000.
 */
enum perfetto_row {
	ROW_STATES,   /* of: tid */
	ROW_SYSCALLS, /* of: tid */
	ROW_CPU,      /* of: cpu */
	ROW_IRQ,      /* of: cpu */
	ROW_SOFTIRQ,  /* of: cpu */
	ROW_DISK,     /* of: device number */
	ROW_SENT,
	ROW_RECEIVED,
	ROW_REQUESTS,
	ROW_SERVED,
	ROW_PATH, /* of: request */
	ROW_TASKS,
	ROW_RUN, /* what the file says of the run: the node */
	/* Counters, each by its own name. */
	ROW_FREQUENCY, /* of: cpu */
	ROW_BOUND,     /* of: source, 0 or 1 */
	ROW_SAMPLES,   /* of: metric, item */
	/* The parents of others. */
	ROW_CPUS,
	ROW_DISKS,
	ROW_NETWORK,
	ROW_CLOCKS,
	ROW_METRICS,
	ROW_PATHS,
	ROW_ACTIVITY, /* of: its number */
	ROW_KINDS,
};

/* Return the kind of that name in perfetto.sql, or ROW_KINDS. */
enum perfetto_row perfetto_row_named(const char *name);

/* The identity of a track. */
struct perfetto_slot {
	enum perfetto_row kind;
	int64_t node, of, item;
	const char *name; /* name of a disk or counter */
	const char *unit; /* a counter's; or NULL */
	int64_t group;    /* ROW_SAMPLES: number and name of the activity */
	const char *group_name;
	nsec_t begin_ns; /* start of a thread's slice; a tid can be reused */
};

/* Return a node's index among the nodes of the scope, from 1: the number of its track,
 * and its process in JSON. */
int32_t perfetto_node_number(const struct perfetto *perfetto, int64_t node);

/* The track of a slot: instants and counters need no other. Valid until
 * perfetto_clear_tracks(). */
struct perfetto_track *perfetto_track(struct perfetto *perfetto,
				      const struct perfetto_slot *slot);

/* Return a track of the slot's kind that is free from the slot's begin to `end_ns`; make
 * one if there is none. Call in order of the slices' ends. */
const struct perfetto_track *
perfetto_lane(struct perfetto *perfetto, const struct perfetto_slot *slot, nsec_t end_ns);

/* A row of the threads' names, in their order. As timeline_row_fn. */
int perfetto_add_thread(void *context, const struct cell *row, struct error *error);

/* Return the thread of an id, or NULL if it is not of a chosen node. */
const struct perfetto_thread *perfetto_find_thread(const struct perfetto *perfetto,
						   int64_t id);

/* Return the name of the thread that had this tid, "nginx 812". The result is valid until
 * perfetto_clear_tracks(). */
const char *perfetto_thread_name(struct perfetto *perfetto, int64_t node, int64_t tid,
				 nsec_t at_ns);

/* Free all tracks, threads and names. */
void perfetto_clear_tracks(struct perfetto *perfetto);

#endif
