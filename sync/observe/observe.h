/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_OBSERVE_OBSERVE_H
#define CT_SYNC_OBSERVE_OBSERVE_H

#include "base/progress.h"
#include "clock/map.h"
#include "input/run.h"
#include "sync/match/match.h"
#include "sync/observe/tie.h"
#include "sync/pair/message_log.h"

/*
 * Observing: what was read of a run, before anything is concluded from it.
 *
 * A source that could be opened is a trace, whether a trace or a capture. Traces of one
 * clock uuid share a clock.
 */
struct trace {
	char *name, *path;
	uint32_t source_index; /* in the list of sources that it was read from */
	uint32_t clock_index;  /* as read */
	uint32_t host_index;   /* the first trace of its host */
	nsec_t shift_ns;       /* local time plus this is its clock's local time */
	enum source_kind kind;
	struct trace_facts facts;
	struct packet_counts counts;
	bool is_apart; /* its clock is known to differ from that of its host */
	bool is_utc;   /* no trace, but UTC by claims; the last one */
};

struct observations {
	const struct source_list *sources; /* borrowed; NULL: messages without traces */
	struct trace *trace;               /* by trace index; of --messages one a node */
	size_t traces, trace_capacity;
	uint32_t *first_trace; /* by clock index; its local time is the clock's */
	size_t clocks;
	struct message_log log; /* ends: by source index, with their own clocks' times */
	struct tie_list ties;   /* offsets of two clocks of a host, by packets */
	struct clock_matching matching;
	struct declared_counts *declared; /* the declared messages that had an event */
	size_t declareds;
	uint64_t given_up;
};

struct observe_options {
	int threads;
	size_t in_flight; /* 0: by the number of sources */
	bool alone;       /* a single source will do */
	bool keeps_ends;  /* keep the ends of messages in the log */
};

/* Read and match the packets of the sources. Unreadable input becomes a problem. Return
 * 0, or -1 with error if fewer than two sources are left (with options->alone: none).
 * Clear the observations in any case; they need no initialization. */
int observe_sources(struct source_list *sources, const struct observe_options *options,
		    struct observations *seen, struct problem_list *problems,
		    struct progress *progress, struct error *error);

/* No traces yet. */
void observations_init(struct observations *seen);

/* The trace of a host's CLOCK_MONOTONIC, preferably the kernel's, or NULL. */
const struct trace *observations_monotonic(const struct observations *seen,
					   uint32_t host_index);

/* The name of a clock: that of its first trace. */
const char *observations_clock_name(const struct observations *seen,
				    uint32_t clock_index);

/* Return the number of traces that were read, which is without UTC. */
size_t observations_read(const struct observations *seen);

void observations_clear(struct observations *seen);

#endif
