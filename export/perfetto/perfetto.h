/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_PERFETTO_H
#define CT_EXPORT_PERFETTO_PERFETTO_H

#include "base/bytes.h"
#include "base/hash.h"
#include "export/format.h"

/*
 * A trace for Perfetto's viewer: tracks with slices, instants and counter values. Times
 * are nanoseconds on the timeline's axis.
 *
 * Trace processor sorts by time, and keeps the file's order among equal times. So slices
 * need not be in order of time, and those that have not ended need not be held in memory.
 * But on one track they must be in order of their ends and not overlap: lanes ensure
 * both.
 */
enum perfetto_track_kind {
	PERFETTO_NODE,   /* a node: a machine, in JSON a process */
	PERFETTO_THREAD, /* a thread of it */
	PERFETTO_GROUP,  /* of other tracks, sorted by rank */
	PERFETTO_LIST,   /* of other tracks, sorted by name */
	PERFETTO_ROW,    /* with slices and instants */
	PERFETTO_COUNTER,
};

struct perfetto_track {
	enum perfetto_track_kind kind;
	uint32_t number;          /* in the file, from 1 */
	uint32_t parent;          /* number of the parent track; or 0 */
	int32_t pid;              /* of its node */
	int32_t tid;              /* in JSON: unique to the row; 0 for other tracks */
	int64_t own_pid, own_tid; /* of a thread: as on its node */
	int32_t rank;             /* its place among its siblings */
	const char *name;
	const char *full_name;       /* in JSON, which has no groups */
	const char *unit;            /* of a counter; NULL if unknown */
	nsec_t end_ns;               /* of its last slice */
	struct perfetto_track *lane; /* next lane, for slices that overlap; or NULL */
};

/* The name of a value. */
struct perfetto_name {
	const char *text;
	uint64_t number; /* assigned by the form; 0 if not yet */
};

/* An integer, or a string that is not empty. */
struct perfetto_value {
	struct perfetto_name *name;
	struct cell cell;
};

enum perfetto_event_kind { PERFETTO_SLICE, PERFETTO_INSTANT, PERFETTO_COUNT };

enum { PERFETTO_VALUES = 16 };

/* Borrows its strings for the call. */
struct perfetto_event {
	enum perfetto_event_kind kind;
	const struct perfetto_track *track;
	nsec_t begin_ns,
	    end_ns;   /* begin and end of a slice; other events have only the begin */
	double count; /* PERFETTO_COUNT: and nothing of what follows */
	const char *category, *name;
	int64_t arrow; /* number of an arrow that an instant begins; negative: ends */
	struct perfetto_value value[PERFETTO_VALUES];
	size_t values;
};

/* A thread, and what it is called. */
struct perfetto_thread {
	int64_t node, tid;
	nsec_t begin_ns;   /* NSEC_MIN: before the recording */
	nsec_t end_ns;     /* NSEC_MAX: unknown */
	int64_t life;      /* how many threads with this tid were before it */
	int64_t pid;       /* of its process; its own number where that is not known */
	const char *label; /* "nginx 812" */
	const char *name;  /* the same of its process: "worker 815 of nginx 812" */
	const char *comm;  /* NULL: unknown */
};

struct perfetto;

/* Perfetto's protobuf form, or Chrome's JSON. */
struct perfetto_form {
	void (*begin)(struct perfetto *perfetto);
	void (*track)(struct perfetto *perfetto, const struct perfetto_track *track);
	void (*event)(struct perfetto *perfetto, const struct perfetto_event *event);
	const char *end;
	bool has_kernel; /* its kernel activity is written by ftrace.c */
};
extern const struct perfetto_form perfetto_proto, perfetto_json;

/* Kinds of interned strings in the protobuf form. */
enum perfetto_sort {
	PERFETTO_CATEGORY,
	PERFETTO_NAME,
	PERFETTO_VALUE_NAME,
	PERFETTO_VALUE_TEXT,
	PERFETTO_SORTS
};

/* A node, in the protobuf form. */
struct perfetto_machine {
	uint32_t id; /* 0: of the first one */
	struct bytes
	    told[PERFETTO_SORTS]; /* bits: the strings that its packets have defined */
	bool is_old;              /* its kernel: before 4.14 */
	int64_t preempted;        /* how it says so */
};

/* The state of writing a trace. The first three members are borrowed, the others zeroed.
 */
struct perfetto {
	struct export *export;
	const struct perfetto_form *form;
	const struct text_list *parts; /* of --tracks; empty: all */
	struct bytes out;              /* not yet written */
	uint64_t events;               /* slices, instants and values so far */
	bool is_later;                 /* a piece after the first one */

	/* state of the forms */
	struct texts known[PERFETTO_SORTS];
	struct bytes news; /* definitions of strings for the current packet */
	struct perfetto_machine *machine; /* by the nodes' numbers */
	size_t machines;
	uint32_t machines_begun;
	bool any; /* JSON: an event has been written */

	/* state of tracks.c */
	struct perfetto_thread *thread; /* by node, tid, begin */
	size_t threads, thread_capacity;
	struct intmap thread_of; /* index by id */
	const struct perfetto_thread *last_thread;
	struct texts keys, names; /* keys of tracks, by index; all names */
	struct perfetto_track **track;
	size_t tracks, track_capacity;
	size_t last;          /* the track that was asked for last */
	uint32_t last_number; /* of the last new track */
	int32_t last_spare;   /* the last id of a thread that did not fit */
};

/* Write the start of the file, and the nodes as tracks. */
void perfetto_begin(struct perfetto *perfetto);

/* Write an event. Return 0, or -1 with error if the file cannot be written. */
int perfetto_write(struct perfetto *perfetto, const struct perfetto_event *event,
		   struct error *error);

/* Write the parts within the scope, by the statements of perfetto.sql with their names.
 * Return 0, or -1 with error. */
int perfetto_add_parts(struct perfetto *perfetto, struct error *error);

/* Write the end of the file. Return 0, or -1 with error. */
int perfetto_end(struct perfetto *perfetto, struct error *error);

void perfetto_clear(struct perfetto *perfetto);

/* Add a value to an event, unless it is NULL or an empty string. */
void perfetto_add(struct perfetto_event *event, struct perfetto_name *name,
		  const struct cell *cell);

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
	ROW_ACTIVITY, /* of: its number */
	ROW_KINDS,
};

/* Return the kind of that name in perfetto.sql, or ROW_KINDS. */
enum perfetto_row perfetto_row_named(const char *name);

/* The identity of a track. */
struct perfetto_slot {
	enum perfetto_row kind;
	int64_t node, of, item;
	const char *name; /* of a disk or counter */
	const char *unit; /* of a counter; or NULL */
	int64_t group;    /* ROW_SAMPLES: number and name of the activity */
	const char *group_name;
	nsec_t begin_ns; /* of a thread's slice; it can decide whose it is */
};

/* Return a node's index among the nodes of the scope, from 1: the number of its track,
 * and its process in JSON. */
int32_t perfetto_node_number(const struct perfetto *perfetto, int64_t node);

/* The track of a slot: instants and counters need no other. Good until perfetto_clear. */
struct perfetto_track *perfetto_track(struct perfetto *perfetto,
				      const struct perfetto_slot *slot);

/* Return a track of the slot's kind that is free from the slot's begin to `end_ns`; make
 * one if there is none. Call in order of the slices' ends. */
const struct perfetto_track *
perfetto_lane(struct perfetto *perfetto, const struct perfetto_slot *slot, nsec_t end_ns);

/* A row of the threads' names, in their order. As timeline_row_fn. */
int perfetto_take_thread(void *context, const struct cell *row, struct error *error);

/* Return the thread of an id, or NULL if it is not of a chosen node. */
const struct perfetto_thread *perfetto_find_thread(const struct perfetto *perfetto,
						   int64_t id);

/* Return the name of the thread that had this tid, "nginx 812". The result is valid until
 * perfetto_clear(). */
const char *perfetto_thread_name(struct perfetto *perfetto, int64_t node, int64_t tid,
				 nsec_t at_ns);

/* Frees what tracks.c knows. */
void perfetto_clear_tracks(struct perfetto *perfetto);

#endif
