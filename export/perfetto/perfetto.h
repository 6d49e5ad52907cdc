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
	PERFETTO_GROUP,  /* a group of other tracks, sorted by rank */
	PERFETTO_LIST,   /* a group of other tracks, sorted by name */
	PERFETTO_ROW,    /* with slices and instants */
	PERFETTO_COUNTER,
};

struct perfetto_track {
	enum perfetto_track_kind kind;
	uint32_t number;          /* in the file, from 1 */
	uint32_t parent;          /* number of the parent track; or 0 */
	int32_t pid;              /* the pid of its node */
	int32_t tid;              /* in JSON: unique to the row; 0 for other tracks */
	int64_t own_pid, own_tid; /* a thread's ids on its node */
	int32_t rank;             /* its place among its siblings */
	const char *name;
	const char *full_name;       /* in JSON, which has no groups */
	const char *unit;            /* a counter's; NULL if unknown */
	nsec_t end_ns;               /* end of its last slice */
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
	    end_ns;   /* a slice's start and end; other events have only begin_ns */
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
	int64_t pid;       /* its process; its own number if that is unknown */
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
	const struct text_list *parts; /* words of --tracks; empty: all */
	struct bytes out;              /* not yet written */
	uint64_t events;               /* slices, instants and values so far */
	bool is_later;                 /* a piece after the first one */
	int64_t request;               /* the one that the piece shows; or 0 */

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
	uint32_t last_number; /* number of the last new track */
	int32_t last_spare;   /* the last id of a thread that did not fit */
};

/* Write an event. Return 0, or -1 with error if the file cannot be written. */
int perfetto_write(struct perfetto *perfetto, const struct perfetto_event *event,
		   struct error *error);

/* Add a value to an event, unless it is NULL or an empty string. */
void perfetto_add(struct perfetto_event *event, struct perfetto_name *name,
		  const struct cell *cell);

#endif
