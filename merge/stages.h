/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_STAGES_H
#define CT_MERGE_STAGES_H

#include <stdio.h>

#include "base/hash.h"
#include "base/options.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "base/progress.h"
#include "input/clock_samples.h"
#include "merge/requests.h"
#include "merge/run.h"
#include "sync/arguments.h"
#include "sync/pair/message_log.h"
#include "timeline/rows.h"
#include "timeline/writer.h"

/* The stages of a merge, in the order in which ctmerge.c calls them, but for
 * merge/load.h. */

struct merge_clock_options {
	const char *file;     /* a clock map; NULL: by synchronization */
	const char *messages; /* a CSV file of more messages, or NULL */
	bool none;            /* leave every clock at its own epoch */
	struct sync_options sync;
};

/*
 * Set the clock of every source: by synchronization, by a clock map read from a file (by
 * the names of sources), or none. Sources that nothing ties keep their own epoch, further
 * islands that of their reference, which is reported; traces of one clock uuid share one
 * correction, even those without a network event. The packets are always matched and
 * added to `messages`, with their ends by the indexes of sources, unless it is NULL.
 * Return 0, or -1 with error.
 *
 * For each source, also set whether it could be opened, its facts (sources that
 * synchronization did not read were only opened), and its island. With a file, the island
 * is also -1 if the map does not have the reference. If no source could be read, run->map
 * has no reference; with `none` its clocks are at their own epoch. The sources' problems
 * are in run->problems; reading their events reports the same again.
 */
int merge_clocks_find(struct merge_run *run,
		      const struct merge_clock_options *clock_options,
		      struct message_log *messages, struct progress *progress,
		      struct error *error);

/* After that: whether every source that is used is tied to one reference from both sides.
 */
bool merge_clocks_are_tied(const struct merge_run *run);

/*
 * One node of a run, merged by itself. Its messages come from a file of ctsync's; their
 * other ends are nodes and sources elsewhere. Ids need no coordination: those of nodes
 * and of the clock map's sources are their places in the map, from 1; rows count from
 * node_first_id of their node.
 */
enum {
	NODE_ROW_BITS = 40,
	NODE_NUMBERS =
	    1 << 22, /* of the map's nodes, and as many for those that it lacks */
};

/* The id before a node's first row. */
static inline int64_t node_first_id(int64_t node)
{
	return node << NODE_ROW_BITS;
}

/*
 * Add the messages of the one node of the run to `messages`, and what is elsewhere to the
 * run; `path` NULL: there are none, as the node is not in the clock map. Sets the ids of
 * nodes and sources. After the clocks. 0, or -1 with error: the file is damaged, another
 * node's, or of another clock map.
 */
int node_messages_read(struct merge_run *run, const char *path,
		       struct message_log *messages, struct error *error);

/*
 * Add what the nodes' other files hold: sar's metrics (*.sadf, *.sa), process
 * samples and sensors as metric, metric_item and sample rows, tasks as
 * invocation rows. Their stamps are the node's real-time clock's: clock.csv
 * places them on the monotonic clock and so on that of its kernel trace, whose
 * correction then holds; without it they are assumed to be that trace's own
 * epoch time, or without a trace the timeline's, and that is reported. Broken
 * files become problems of the run. 0, or -1 with error when writing failed.
 */
int merge_samples(struct merge_run *run, const struct selection *selection,
		  struct timeline_writer *writer, struct error *error);

/*
 * A stamp more than STAMPS_FAR_NS before the first or after the last event of all traces
 * and captures of the run is no time of this run: a clock that was not set, a mistaken
 * unit. What is of it is left out and reported. sar's logs are of whole days, so
 * yesterday's and tomorrow's are near. A run without traces and captures has no such
 * limit.
 */
#define STAMPS_FAR_NS (2 * 86400 * NSEC_PER_SEC)

/* What reads the files of all nodes, one node after the other. */
struct sampler {
	struct merge_run *run;
	const struct selection *selection;
	struct timeline_writer *writer;
	struct error *error;
	struct texts metrics, items; /* those that have rows; a number + 1 is the id */
	nsec_t first_ns, last_ns;    /* of what is near */

	uint32_t node;                     /* at hand */
	const struct merge_source *source; /* whose clock places it; NULL: none */
	struct clock_samples clock;
	bool has_clock;
	bool is_reported; /* that no source, or no clock.csv, places it */
	uint64_t doubts;  /* stamps around a step of the clock, */
	nsec_t doubt_ns;  /* at most so far off */
	uint64_t far;     /* of the file at hand: stamps outside of the run */
};

/*
 * A stamp of the node's real-time clock on the timeline's axis: by clock.csv on the
 * monotonic clock, so on the epoch of its kernel trace, and by the correction of that
 * trace. Without clock.csv the stamps are assumed to be of the trace's epoch; where the
 * node has no trace they are a capture's, or else the axis's own.
 */
nsec_t sampler_place(struct sampler *sampler, nsec_t realtime_ns);

/* Return true if an instant of the axis is outside of the run, by the above. */
bool sampler_is_far(const struct sampler *sampler, nsec_t ts_ns);

/* Take in the tasks of a file. 0, also where it cannot be read, which is a problem of the
 * run; -1 with the sampler's error where writing failed. */
int sample_invocations(struct sampler *sampler, const char *path);

/*
 * What is known of a run as a whole, after everything was read: the rows of
 * node, source, clock, clock_bound, clock_pair, problem, and of meta what
 * run.json says. 0, or -1 with error when writing failed.
 */
int tables_write(const struct merge_run *run, struct timeline_writer *writer,
		 struct error *error);

/*
 * Set what follows from rows that are written, in a timeline that its writer has just
 * finished: the sources of problems, the processes of invocations, and the parts of
 * requests where there are spans. `place` as timeline_update_open. 0, or -1 with error.
 */
int tables_derive(const char *timeline, const char *place, struct error *error);

extern const char derived_sql[]; /* derived.sql */

/* What there is to merge, as text and as JSON. Times of day are UTC, or local. */
void describe_text(const struct merge_run *run, bool is_local, FILE *file);
void describe_json(const struct merge_run *run, FILE *file);

/*
 * A part: the timeline of one node as a directory of Parquet tables that other parts can
 * be joined with, and a small timeline, part.db, of what the join needs: the short
 * tables, and the messages and requests of which the node knows one end. Whole if part.db
 * is there.
 */
extern const struct output_kind part_directory;

struct part {
	const char *timeline;  /* its path: whole, of one node, and written as a part */
	const char *directory; /* the tables and part.db come to it */
	const struct merge_run *run;
	const struct requests *requests;
	int threads;
	struct progress *progress;
};

/* 0, or -1 with error. The timeline is of no use then. */
int part_write(const struct part *part, struct error *error);

/*
 * Join parts to tables that are one timeline's: DIR/TABLE/part=NODE/ has links to the
 * files of each part, and DIR/TABLE.parquet what stands once. Pairs the messages and
 * requests of which each part has one end, and names the tables of the classes. `parts`
 * are directories; `command` is how it was called. 0, or -1 with error.
 */
int parts_join(const struct text_list *parts, const char *output, const char *command,
	       struct progress *progress, struct error *error);

#endif
