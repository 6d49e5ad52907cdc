/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_PERFETTO_H
#define CT_EXPORT_PERFETTO_PERFETTO_H

#include "base/bytes.h"
#include "base/hash.h"
#include "export/format.h"

/*
 * A trace for Perfetto's viewer, written as it comes: tracks, and on them slices,
 * instants and values of counters. Times are nanoseconds on the timeline's axis.
 *
 * Trace processor sorts what it reads by time, and keeps the order of the file where
 * times are equal. So slices need not come in order of time, which spares us to hold
 * all that has not ended; but on one track they must come by their end, and may not
 * overlap: lanes see to both.
 */
enum perfetto_track_kind {
	PERFETTO_NODE,   /* a node: a machine, in JSON a process */
	PERFETTO_THREAD, /* a thread of it */
	PERFETTO_GROUP,  /* of other tracks, by their rank */
	PERFETTO_LIST,   /* of other tracks, by their names */
	PERFETTO_ROW,    /* of slices and instants */
	PERFETTO_COUNTER,
};

struct perfetto_track {
	enum perfetto_track_kind kind;
	uint32_t number;          /* in the file, from 1 */
	uint32_t parent;          /* number of another track; 0: none */
	int32_t pid;              /* of its node */
	int32_t tid;              /* as JSON has it: each row's own; 0: it is no row */
	int64_t own_pid, own_tid; /* of a thread: as its node has them */
	int32_t rank;             /* its place among its siblings */
	const char *name;
	const char *full_name; /* where there are no groups: in JSON */
	const char *unit;      /* of a counter; NULL: not known */
	nsec_t end_ns;         /* of the last slice on it */
	struct perfetto_track
	    *lane; /* another one, for slices that overlap; NULL: none */
};

/* The name of a value. */
struct perfetto_name {
	const char *text;
	uint64_t number; /* the form's own; 0: none yet */
};

/* An integer, or a text that is not empty. */
struct perfetto_value {
	struct perfetto_name *name;
	struct cell cell;
};

enum perfetto_event_kind { PERFETTO_SLICE, PERFETTO_INSTANT, PERFETTO_COUNT };

enum { PERFETTO_VALUES = 16 };

/* Texts are borrowed for the call. */
struct perfetto_event {
	enum perfetto_event_kind kind;
	const struct perfetto_track *track;
	nsec_t begin_ns, end_ns; /* of a slice; all others have the begin alone */
	double count;            /* PERFETTO_COUNT: and nothing of what follows */
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
	bool has_kernel; /* what kernels did goes to ftrace.c */
};
extern const struct perfetto_form perfetto_proto, perfetto_json;

/* Texts that have a number in the protobuf form. */
enum perfetto_sort {
	PERFETTO_CATEGORY,
	PERFETTO_NAME,
	PERFETTO_VALUE_NAME,
	PERFETTO_VALUE_TEXT,
	PERFETTO_SORTS
};

/* A node, in the protobuf form. */
struct perfetto_machine {
	uint32_t id;                       /* 0: of the first one */
	struct bytes told[PERFETTO_SORTS]; /* bits: which texts its packets have told */
	bool is_old;                       /* its kernel: before 4.14 */
	int64_t preempted;                 /* how it says so */
};

/* A trace while it is written; zeroed but for the first three, which are borrowed. */
struct perfetto {
	struct export *export;
	const struct perfetto_form *form;
	const struct text_list *parts; /* that --tracks names; none: all */
	struct bytes out;              /* not yet written */
	uint64_t events;               /* slices, instants and values so far */

	/* What the forms know. */
	struct texts known[PERFETTO_SORTS];
	struct bytes news;                /* of them: what this packet says of texts */
	struct perfetto_machine *machine; /* by the nodes' numbers */
	size_t machines;
	uint32_t machines_begun;
	bool any; /* JSON: whether an event stands before */

	/* What tracks.c knows. */
	struct perfetto_thread *thread; /* by node, tid, begin */
	size_t threads, thread_capacity;
	struct intmap thread_of; /* index by id */
	const struct perfetto_thread *last_thread;
	struct texts keys, names; /* of tracks, by their places; of anything */
	struct perfetto_track **track;
	size_t tracks, track_capacity;
	size_t last;          /* the track that was asked for last */
	uint32_t last_number; /* of the last track made */
	int32_t last_spare;   /* the last id of a thread that did not fit */
};

/* Write the begin, and the nodes as tracks. */
void perfetto_begin(struct perfetto *perfetto);

/* 0, or -1 with error: the file cannot be written. */
int perfetto_write(struct perfetto *perfetto, const struct perfetto_event *event,
		   struct error *error);

/*
 * Put the parts on their tracks, as far as they lie within the scope: the statements of
 * perfetto.sql that bear their names. 0, or -1 with error.
 */
int perfetto_add_parts(struct perfetto *perfetto, struct error *error);

/* Write the rest. 0, or -1 with error. */
int perfetto_end(struct perfetto *perfetto, struct error *error);

void perfetto_clear(struct perfetto *perfetto);

/* Add a value to an event; NULL and texts that are empty are left out. */
void perfetto_add(struct perfetto_event *event, struct perfetto_name *name,
		  const struct cell *cell);

/*
 * The tracks of a trace: made, numbered and named when something first goes on them.
 *
 * Two nodes may have the same process ids, and one node the same again. So a node is
 * a process whose id is its place among the nodes, from 1, and a thread's id is that
 * times ten million, plus the thread's own: 20000815 is thread 815 of the second node.
 * What does not fit that gets an id from 2010000000 on.
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
	/* What holds others. */
	ROW_CPUS,
	ROW_DISKS,
	ROW_NETWORK,
	ROW_CLOCKS,
	ROW_METRICS,
	ROW_ACTIVITY, /* of: its number */
	ROW_KINDS,
};

/* By its name in perfetto.sql; ROW_KINDS: there is none. */
enum perfetto_row perfetto_row_named(const char *name);

/* What goes on a track. */
struct perfetto_slot {
	enum perfetto_row kind;
	int64_t node, of, item;
	const char *name; /* of a disk, a counter */
	const char *unit; /* of a counter, or NULL */
	int64_t group;    /* of ROW_SAMPLES: number and name of the activity */
	const char *group_name;
	nsec_t begin_ns; /* of a thread's slice: whose it is may depend on it */
};

/* Of a node of the scope: its place among the nodes, from 1. It is its track's number,
 * and its process in JSON. */
int32_t perfetto_node_number(const struct perfetto *perfetto, int64_t node);

/* The track of a slot: instants and counters need no other. Good until perfetto_clear. */
struct perfetto_track *perfetto_track(struct perfetto *perfetto,
				      const struct perfetto_slot *slot);

/*
 * The track for a slice from the slot's begin to `end_ns`: one of its kind that has
 * nothing else between these times; where all have, one more is made. Slices must come
 * by their end.
 */
const struct perfetto_track *
perfetto_lane(struct perfetto *perfetto, const struct perfetto_slot *slot, nsec_t end_ns);

/* A row of the threads' names, in their order. As timeline_row_fn. */
int perfetto_take_thread(void *context, const struct cell *row, struct error *error);

/* Return the thread of an id, or NULL if it is not of a chosen node. */
const struct perfetto_thread *perfetto_find_thread(const struct perfetto *perfetto,
						   int64_t id);

/* "nginx 812": who had this tid then. Good until perfetto_clear. */
const char *perfetto_thread_name(struct perfetto *perfetto, int64_t node, int64_t tid,
				 nsec_t at_ns);

/* Frees what tracks.c knows. */
void perfetto_clear_tracks(struct perfetto *perfetto);

#endif
