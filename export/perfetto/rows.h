/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PERFETTO_ROWS_H
#define CT_EXPORT_PERFETTO_ROWS_H

#include <stdint.h>

#include "base/error.h"
#include "base/nsec.h"
#include "export/perfetto/names.h"
#include "export/perfetto/writer.h"
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
	ROW_ACTIVITY, /* of: a number of samples.c */
	ROW_KINDS,
};

struct perfetto_rows;

/* Borrows all three. */
struct perfetto_rows *perfetto_rows_new(struct perfetto_writer *writer,
					const struct scope *scope,
					const struct perfetto_names *names);

/*
 * Where a slice, or an instant with begin = end, goes: a row of its kind that has
 * nothing else between these times; where all have, one more is made. Slices must
 * come by their end. Good until the next call.
 */
const struct perfetto_place *perfetto_rows_lane(struct perfetto_rows *rows,
						enum perfetto_row kind, int64_t node,
						int64_t of, nsec_t begin_ns,
						nsec_t end_ns);

struct perfetto_counter {
	enum perfetto_row kind;
	int64_t node, of, item;
};

/* A counter's track, or NULL where there is none yet. */
const struct perfetto_track *
perfetto_rows_counter(struct perfetto_rows *rows, const struct perfetto_counter *counter);

struct perfetto_label {
	enum perfetto_row group; /* in which it goes */
	int64_t group_of;
	const char *group_name;  /* of ROW_ACTIVITY, else NULL */
	const char *name, *unit; /* copied; unit may be NULL */
};

/* Make one that there is none of. */
const struct perfetto_track *
perfetto_rows_new_counter(struct perfetto_rows *rows,
			  const struct perfetto_counter *counter,
			  const struct perfetto_label *label);

void perfetto_rows_free(struct perfetto_rows *rows);

#endif
