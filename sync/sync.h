/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_SYNC_H
#define CT_SYNC_SYNC_H

#include <stdio.h>

#include "base/progress.h"
#include "clock/map.h"
#include "input/run.h"
#include "sync/fit/fit.h"
#include "sync/match/match.h"
#include "sync/pair/pair.h"
#include "sync/piecewise/piecewise.h"

struct sync;

/*
 * Ties: the capture and the kernel trace of one host.
 *
 * Their clocks, CLOCK_REALTIME and CLOCK_MONOTONIC, are one oscillator: they differ
 * by an offset that changes only where the former is stepped. Packets on their way
 * out tell the offset. One is tapped for the capture after it was queued and before
 * the driver has returned, both of which the trace says; so each packet bounds the
 * offset on both sides, and the least that all leave is some microseconds.
 */

/* What packets leave of the offset between two steps; of the times of the base. */
struct tie_part {
	nsec_t at_ns;           /* some time in its first cell */
	nsec_t from_ns, to_ns;  /* the first and last packet that tell of it */
	nsec_t low_ns, high_ns; /* the offset: the tied clock less the base */
	uint64_t packets;
	size_t cells; /* of time that these are of */
};

struct tie {
	uint32_t base, tied;   /* clocks, as they were read */
	struct tie_part *cell; /* what the packets of a short time leave, and new ones */
	size_t cells;
	unsigned shift;        /* a cell is 2^shift nanoseconds long */
	struct tie_part *part; /* what the cells say; none: no tie */
	size_t parts;
	nsec_t open_ns;     /* the least that a cell leaves of the offset */
	bool is_by_samples; /* made from the samples of clock.csv, not from packets */
	uint64_t packets, rejected; /* those that contradict the others */
};

/* Packets that two captures of one host have in common. */
struct capture_pair {
	uint32_t one, other;   /* clocks, as they were read */
	uint64_t packets, far; /* all; those with times that one clock cannot show */
};

struct tie_list {
	struct tie *item;
	size_t count, capacity;
	struct capture_pair *captures;
	size_t captures_count, captures_capacity;
};

/* A packet that both saw on its way out: the host's trace, the base, and its capture. */
void tie_note(struct tie_list *list, const struct match_handing *base,
	      const struct match_handing *tied);

/* Note a packet that two captures of a host recorded on its way out. */
void tie_note_captures(struct tie_list *list, const struct match_handing *one,
		       const struct match_handing *other);

/*
 * Add ties from clock.csv, for captures that packets do not tie. Their node must have a
 * trace with CLOCK_MONOTONIC, of the kernel or of user space.
 */
void tie_note_realtime(struct sync *sync, const struct source_list *sources);

/* Tie each capture that is not tied otherwise to another capture of its host. */
void tie_captures(struct sync *sync);

/*
 * After the reading: take tied clocks for their bases. Their messages become the
 * base's, each stamp on its safe side, and clocks are numbered anew. 0, or -1 with error.
 */
int tie_clocks(struct sync *sync, struct error *error);

/*
 * Check, after the fit, captures that are not tied to the trace of their host. Both
 * clocks count the same oscillator. If their bounds contradict that, add a problem and
 * mark the clock as approximate.
 */
void tie_hold_captures(struct sync *sync);

/* A tied source's time on its base: at the earliest and at the latest. */
nsec_t tie_earliest(const struct tie *tie, nsec_t local_ns);
nsec_t tie_latest(const struct tie *tie, nsec_t local_ns);

/*
 * For estimates: the part that a time of the tied clock belongs to, where each but the
 * first begins, and its offset, the middle of what is left of it.
 */
size_t tie_part_at(const struct tie *tie, nsec_t local_ns);
nsec_t tie_part_begin(const struct tie *tie, size_t part);
nsec_t tie_middle(const struct tie_part *part);

/* Times of the tied clock before and after which a part was surely not in force. */
nsec_t tie_part_from(const struct tie *tie, size_t part);
nsec_t tie_part_to(const struct tie *tie, size_t part);

void tie_list_clear(struct tie_list *list);

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
};

/* One trace, or with messages one node. */
struct sync_trace {
	char *name, *path;
	size_t source; /* index in the list of sources that it was read from */
	enum source_kind kind;
	struct ctf_facts facts;
	uint32_t clock;        /* traces of one clock uuid share one */
	nsec_t shift_ns;       /* local time plus this is its clock's local time */
	uint32_t host;         /* the first trace of its host */
	const struct tie *tie; /* to its clock, or NULL: it is that clock */
	bool is_apart;         /* its clock is known to differ from that of its host */
	uint32_t set_backs;    /* those of `facts` that are reported, a bit each */
	bool is_unsure;        /* some were reported without messages after them */
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
	struct sync_trace *trace;
	size_t traces, capacity;
	uint32_t
	    *clock_trace; /* by clock: its first trace, whose local time is the clock's */
	size_t clocks;
	struct pair_table pairs; /* between clocks */
	struct tie_list ties;
	struct message_log log; /* ends: by the sources read from, by their own clocks */
	struct clock_matching matching;
	uint64_t given_up;
	uint64_t rejected; /* messages left out as false matches */
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
 * Open the sources; those that can be read, by the index of their sync_trace. What cannot
 * becomes a problem. For free().
 */
struct packet_source **sync_open_sources(struct sync *sync, struct source_list *sources);

/* The name asked for, else the recorded host, else the path; maybe that of several. */
const char *sync_source_name(const struct source *source, const struct ctf_facts *facts);

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

/*
 * Note that a source's clock was stepped at a local time, and at no time outside of
 * `within`. Its local times gained `size` there. Add a problem, and return by how much
 * the clock itself was stepped: where it was set back, local times go on nevertheless.
 */
nsec_t sync_report_step(struct sync *sync, struct sync_trace *trace, nsec_t at,
			nsec_t size, const nsec_t within[2]);

/* Return what was added to a source's local times where it was set back between two. */
nsec_t sync_set_back(const struct ctf_facts *facts, nsec_t from, nsec_t to);

/* Report where clocks were set back and no messages show by how much. */
void sync_report_set_backs(struct sync *sync);

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
int print_rejected(struct sync *sync, FILE *file, struct error *error);

/*
 * Write the packet events of the sources, which are of one node, to one file
 * (input/packet_files.h). What was odd is in sync->problems, and in the file. 0, or -1
 * with error and no file.
 */
int extract_packets(struct sync *sync, struct source_list *sources, const char *path,
		    struct progress *progress, struct error *error);

/*
 * After the fit, of which the map is, the messages to the nodes: for each its own, as
 * NODE.messages (input/packet_files.h), into a directory. The log has ends. 0, or -1
 * with error.
 */
int messages_out_write(struct sync *sync, const struct clock_map *map,
		       const char *directory, struct error *error);

#endif
