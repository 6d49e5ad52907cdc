/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_WRITER_H
#define CT_EXPORT_PERFETTO_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/nsec.h"

/*
 * A trace for Perfetto's viewer, written as it comes: tracks, and on them slices,
 * instants and counters. Times are nanoseconds on the timeline's axis. Texts are
 * borrowed for the call.
 *
 * Trace processor sorts what it reads by time, and keeps the order of the file where
 * times are equal. So slices need not come in order of time, which spares us to hold
 * all that has not ended; but on one track they must come by their end, and may not
 * overlap: perfetto/rows.h sees to both.
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

enum perfetto_type { PERFETTO_INTEGER, PERFETTO_TEXT };

/* A text that comes again and again in one place. */
struct perfetto_word {
	const char *text;
	uint64_t number; /* the writer's own; 0: none yet */
};

struct perfetto_value {
	struct perfetto_word *name;
	enum perfetto_type type;
	int64_t integer;
	const char *text;
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

struct perfetto_writer_ops {
	void (*track)(struct perfetto_writer *writer, const struct perfetto_track *track);
	void (*event)(struct perfetto_writer *writer, const struct perfetto_event *event);
	void (*counter)(struct perfetto_writer *writer,
			const struct perfetto_track *track, nsec_t at_ns, double value);
	void (*end)(struct perfetto_writer *writer);
	void (*free)(struct perfetto_writer *writer);
};

struct perfetto_writer {
	const struct perfetto_writer_ops *ops;
	FILE *file;       /* borrowed */
	const char *name; /* of the file, for messages; borrowed */
	struct bytes out; /* not yet written */
	int failed;       /* errno of a write */
	uint64_t events;  /* slices, instants and values so far */
};

/*
 * Perfetto's protobuf form, and Chrome's JSON; both borrow the file and its name.
 * `origin_ns`: the timeline's first instant.
 */
struct perfetto_writer *perfetto_proto_new(FILE *file, const char *name,
					   nsec_t origin_ns);
struct perfetto_writer *perfetto_json_new(FILE *file, const char *name, nsec_t origin_ns);

/* 0, or -1 where the file cannot be written: then perfetto_write_end says why. */
int perfetto_write_event(struct perfetto_writer *writer,
			 const struct perfetto_event *event);
int perfetto_write_counter(struct perfetto_writer *writer,
			   const struct perfetto_track *track, nsec_t at_ns,
			   double value);

/* Write the rest. 0, or -1 with error. */
int perfetto_write_end(struct perfetto_writer *writer, struct error *error);

void perfetto_writer_free(struct perfetto_writer *writer);

/* Add a value to an event; texts that are NULL or empty are left out. */
void perfetto_add_integer(struct perfetto_event *event, struct perfetto_word *name,
			  int64_t value);
void perfetto_add_text(struct perfetto_event *event, struct perfetto_word *name,
		       const char *text);

#endif
