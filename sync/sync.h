/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_SYNC_H
#define CT_SYNC_SYNC_H

#include <stdio.h>

#include "base/progress.h"
#include "clock/map.h"
#include "input/run.h"
#include "sync/fit/fit.h"
#include "sync/network/clocks.h"
#include "sync/observe/observe.h"
#include "sync/pair/pair.h"
#include "sync/piecewise/piecewise.h"

struct sync;

/*
 * Synchronization as a whole: from traces, or from messages, to the clock
 * map. Programs fill a struct sync in three steps: read, fit, describe.
 */
enum bounds_model {
	BOUNDS_LIMIT,    /* a clock may do whatever the drift limit allows */
	BOUNDS_WANDER,   /* its rate keeps within wander_ppm of its mean, too */
	BOUNDS_STRAIGHT, /* a clock that one line describes is a line */
};

struct sync_options {
	const struct fit_method *method; /* NULL: by the number of traces */
	double drift_limit_ppm;
	struct piecewise_options segments;
	enum bounds_model bounds;
	double wander_ppm;
	double max_rejected;   /* share of a pair's messages that may be left out */
	const char *reference; /* name, or NULL: the best connected */
	int threads;
	size_t in_flight;     /* 0: by the number of sources */
	size_t messages_kept; /* of piecewise clocks before they are thinned; 0: 4 Mi */
	bool alone;           /* a single source will do */
	bool keeps_ends;
};

/* A step or a slew of a clock, in its local time. */
struct sync_event {
	uint32_t clock;
	struct piecewise_event is;
};

struct sync_event_list {
	struct sync_event *item;
	size_t count, capacity;
};

/* What the mean rate of a clock's true correction can be, without unit. */
struct rate_bound {
	bool known;
	double low, high;
};

struct sync {
	struct sync_options options;
	struct observations seen;
	struct clock_set set;
	size_t clocks;           /* of the set */
	struct pair_table pairs; /* between clocks */
	struct message_log log;
	struct problem_list problems;
	struct graph graph;      /* of the clocks */
	struct fit_clock *clock; /* by clock */
	struct rate_bound *rate; /* by clock */
	struct clock *fitted;    /* by clock: what became of it, with its bounds */
	struct sync_event_list event;
	char **unfit; /* by island: why no lines satisfy its messages, or NULL */
};

void sync_init(struct sync *sync, const struct sync_options *options);

/*
 * Read and match packets of the sources. What cannot be read becomes a
 * problem. 0, or -1 with error when fewer than two sources are left (with
 * options.alone: none).
 */
int sync_read_sources(struct sync *sync, struct source_list *sources,
		      struct progress *progress, struct error *error);

/*
 * Read messages from a CSV file of send_node,send_ns,recv_node,recv_ns with
 * or without that header line; "-" is standard input. 0, or -1 with error,
 * which names file and line.
 */
int sync_read_messages(struct sync *sync, const char *path, struct error *error);

/* Add the messages of such a file to the sources that were read: its names are those of
 * traces. 0, or -1 with error. */
int sync_add_messages(struct sync *sync, const char *path, struct error *error);

/* Find islands, reject false matches, fit, bound, count. 0, or -1 with error. */
int sync_fit(struct sync *sync, struct error *error);

/* The clock map of what was found. */
void sync_describe(const struct sync *sync, struct clock_map *map);

/* Whether every trace is tied to one reference from both sides, by all messages. */
bool sync_is_tied(const struct sync *sync);

/* Whether the messages of some pair tie nothing, as no possible clocks satisfy them. */
bool sync_has_contradictions(const struct sync *sync);

/* Whether a clock got several segments. */
bool sync_is_piecewise(const struct sync *sync, uint32_t clock);

/* The name of a clock: that of its first trace. */
const char *sync_clock_name(const struct sync *sync, uint32_t clock);

/* Hold captures that nothing ties against their hosts' traces. */
void sync_hold_captures(struct sync *sync);

/* Add a problem that says that a source's clock was slewed. */
void sync_report_slew(struct sync *sync, const char *name,
		      const struct piecewise_event *slew);

void sync_clear(struct sync *sync);

/* What ctsync prints for people: a line a clock. Times of day are UTC, or local. */
void print_clocks(const struct sync *sync, const struct clock_map *map, bool is_local,
		  FILE *file);

/* A line a pair. */
void print_pairs(const struct clock_map *map, FILE *file);

/* What was matched and what was not; islands, when there are several. */
void print_matching(const struct sync *sync, const struct clock_map *map, FILE *file);

/* The messages left out as false, at most so many. 0, or -1 with error. */
int print_rejected(const struct sync *sync, FILE *file, struct error *error);

/*
 * After the fit, of which the map is, the messages to the nodes: for each its own, as
 * NODE.messages (input/packet_files.h), into a directory. The log has ends. 0, or -1
 * with error.
 */
int messages_out_write(struct sync *sync, const struct clock_map *map,
		       const char *directory, struct error *error);

#endif
