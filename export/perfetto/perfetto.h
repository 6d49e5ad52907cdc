/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_PERFETTO_H
#define CT_EXPORT_PERFETTO_PERFETTO_H

#include "base/bytes.h"
#include "base/hash.h"
#include "export/format.h"

/*
 * A trace for Perfetto's viewer, written as it comes: tracks, and on them slices,
 * instants and counters. Times are nanoseconds on the timeline's axis. Texts are
 * borrowed for the call.
 *
 * Trace processor sorts what it reads by time, and keeps the order of the file where
 * times are equal. So slices need not come in order of time, which spares us to hold
 * all that has not ended; but on one track they must come by their end, and may not
 * overlap: rows see to both.
 */
enum perfetto_track_kind {
	PERFETTO_NODE,   /* a node, as a process */
	PERFETTO_THREAD, /* a thread of it */
	PERFETTO_GROUP,  /* of other tracks, by their rank */
	PERFETTO_LIST,   /* of other tracks, by their names */
	PERFETTO_ROW,    /* of slices and instants */
	PERFETTO_COUNTER,
};

/* Where a track is in the file. */
struct perfetto_place {
	uint32_t track; /* its number, from 1 */
	int32_t pid;    /* of its node */
	int32_t tid;    /* as JSON has it: each row's own; 0: it is no row */
};

struct perfetto_track {
	enum perfetto_track_kind kind;
	struct perfetto_place place;
	uint32_t parent; /* number of another track; 0: none */
	int32_t rank;    /* its place among its siblings */
	const char *name;
	const char *full_name; /* where there are no groups: in JSON */
	const char *unit;      /* of a counter; NULL: not known */
};

/* A text that comes again and again in one place. */
struct perfetto_word {
	const char *text;
	uint64_t number; /* the writer's own; 0: none yet */
};

/* A number or a text that is not empty. */
struct perfetto_value {
	struct perfetto_word *name;
	struct cell cell;
};

enum { PERFETTO_VALUES = 16 };

/* The two ends of an arrow, which have its number. */
enum perfetto_end { PERFETTO_NO_END, PERFETTO_FIRST_END, PERFETTO_LAST_END };

struct perfetto_event {
	struct perfetto_place place;
	nsec_t begin_ns, end_ns; /* the same of an instant */
	bool instant;
	const char *category, *name;
	enum perfetto_end end; /* of instants only */
	uint64_t flow;
	struct perfetto_value value[PERFETTO_VALUES];
	size_t values;
};

struct perfetto_writer;

/* Perfetto's protobuf form, or Chrome's JSON. */
struct perfetto_form {
	void (*begin)(struct perfetto_writer *writer);
	void (*track)(struct perfetto_writer *writer, const struct perfetto_track *track);
	void (*event)(struct perfetto_writer *writer, const struct perfetto_event *event);
	void (*counter)(struct perfetto_writer *writer,
			const struct perfetto_track *track, nsec_t at_ns, double value);
	const char *end;
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

/* Zeroed but for the first three. */
struct perfetto_writer {
	const struct perfetto_form *form;
	const struct export *export; /* borrowed */
	nsec_t origin_ns;            /* the timeline's first instant */
	struct bytes out;            /* not yet written */
	uint64_t events;             /* slices, instants and values so far */
	struct texts known[PERFETTO_SORTS];
	struct bytes news; /* of them: what this packet says of texts */
	bool any;          /* JSON: whether an event stands before */
};

/* 0, or -1 with error: the file cannot be written. */
int perfetto_write_event(struct perfetto_writer *writer,
			 const struct perfetto_event *event, struct error *error);
int perfetto_write_counter(struct perfetto_writer *writer,
			   const struct perfetto_track *track, nsec_t at_ns, double value,
			   struct error *error);

/* Write the rest. 0, or -1 with error. */
int perfetto_write_end(struct perfetto_writer *writer, struct error *error);

void perfetto_writer_clear(struct perfetto_writer *writer);

/* Add a value to an event; NULL and texts that are empty are left out. */
void perfetto_add(struct perfetto_event *event, struct perfetto_word *name,
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

struct perfetto_rows;

/* Reads the names of threads. Borrows the writer and the scope. NULL with error. */
struct perfetto_rows *perfetto_rows_new(struct perfetto_writer *writer,
					const struct scope *scope,
					struct timeline_reader *timeline,
					struct error *error);

/* What goes on a row. */
struct perfetto_slot {
	enum perfetto_row kind;
	int64_t node, of, item;
	const char *name; /* of a disk, a counter */
	const char *unit; /* of a counter, or NULL */
	int64_t group;    /* of ROW_SAMPLES: number and name of the activity */
	const char *group_name;
	nsec_t begin_ns, end_ns; /* of a slice */
};

/*
 * Where a slice, or an instant with begin = end, goes: a row of its kind that has
 * nothing else between these times; where all have, one more is made. Slices must
 * come by their end. Good until the next call.
 */
const struct perfetto_place *perfetto_rows_lane(struct perfetto_rows *rows,
						const struct perfetto_slot *slot);

/* A counter's track. Good until the next call. */
const struct perfetto_track *perfetto_rows_counter(struct perfetto_rows *rows,
						   const struct perfetto_slot *slot);

/* "nginx 812": who had this tid then. Borrowed until the rows are freed. */
const char *perfetto_rows_thread(struct perfetto_rows *rows, int64_t node, int64_t tid,
				 nsec_t at_ns);

void perfetto_rows_free(struct perfetto_rows *rows);

/* What the parts of a trace share; all borrowed. */
struct perfetto {
	struct export *export;
	struct perfetto_rows *rows;
	struct perfetto_writer *writer;
	const struct text_list *parts; /* that --tracks names; none: all */
};

/*
 * Put the parts on their tracks, as far as they lie within the scope: the statements of
 * perfetto.sql that bear their names. 0, or -1 with error.
 */
int perfetto_add_parts(struct perfetto *perfetto, struct error *error);

#endif
