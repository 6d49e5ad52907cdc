/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_ROWS_H
#define CT_EXPORT_PERFETTO_ROWS_H

#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "export/perfetto/writer.h"
#include "timeline/reader.h"
#include "timeline/scope.h"

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

struct perfetto_slot {
	enum perfetto_row kind;
	int64_t node, of;
	const char *name; /* of a disk */
	nsec_t begin_ns, end_ns;
};

/*
 * Where a slice, or an instant with begin = end, goes: a row of its kind that has
 * nothing else between these times; where all have, one more is made. Slices must
 * come by their end. Good until the next call.
 */
const struct perfetto_place *perfetto_rows_lane(struct perfetto_rows *rows,
						const struct perfetto_slot *slot);

struct perfetto_counter {
	enum perfetto_row kind;
	int64_t node, of, item;
	const char *name, *unit; /* unit may be NULL */
	int64_t group;           /* of ROW_SAMPLES: number and name of the activity */
	const char *group_name;
};

/* A counter's track. Good until the next call. */
const struct perfetto_track *
perfetto_rows_counter(struct perfetto_rows *rows, const struct perfetto_counter *counter);

/* "nginx 812": who had this tid then. For free(). */
char *perfetto_rows_thread(const struct perfetto_rows *rows, int64_t node, int64_t tid,
			   nsec_t at_ns);

void perfetto_rows_free(struct perfetto_rows *rows);

#endif
