/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_RUN_H
#define CT_MERGE_RUN_H

#include <stdint.h>

#include "base/options.h"
#include "clock/map.h"
#include "input/run.h"
#include "input/run_facts.h"
#include "input/run_files.h"
#include "trace/reader.h"

/*
 * A run as ctmerge sees it: nodes, and sources with a clock each. Their ids in the
 * timeline are their indexes plus 1, or, if one node of many is merged, follow from the
 * clock map (merge/node_messages.h). In that case the arrays also have, beyond those
 * that are counted, the nodes and sources elsewhere that messages name.
 */
struct merge_node {
	int64_t id;
	char *name;
	struct node_facts facts;      /* borrowed of files */
	const struct run_node *files; /* NULL: none besides traces and captures */
};

struct merge_source {
	int64_t id;
	uint32_t node; /* index */
	const char
	    *kind; /* "kernel", "user", "ftrace" beside "kernel", "trace", "capture" */
	struct clock clock; /* to the axis of the timeline; begin and end by its events */
	int64_t island;     /* index of its reference's clock in the map; -1: own epoch */
	bool is_mute;       /* the node has a kernel trace, which knows threads better */
	bool makes_spans;   /* a kernel, or what there is of a node instead */
	bool is_read;       /* it could be opened */
	bool is_twice;      /* another source has its events, so it is not used */
	bool tells_recorded; /* its packets state when it was recorded */
	bool is_corrected;   /* by a clock map; otherwise its clock is at its own epoch */
	struct trace_facts facts;  /* facts of what was read */
	uint64_t discarded_before; /* events lost since the trace that it continues */
	struct trace_loss *loss;   /* when a capture lost packets, by its own clock */
	size_t losses;
};

struct merge_run {
	char *path;
	const char *command; /* that merges it; NULL: not known */
	bool without_spans;
	struct run_files files;
	struct run_facts facts;
	struct merge_node *node;
	size_t nodes;
	struct source_list sources;  /* traces and captures, with unique names */
	struct merge_source *source; /* one an entry of `sources` */
	size_t count;
	size_t nodes_elsewhere, elsewhere; /* more nodes and sources, of messages alone */
	struct clock_map map; /* ctsync's; its traces bear the names of sources */
	bool is_part;         /* this run is one node of those that the map has */
	struct problem_list problems;
};

/* The part of a run that the user selected: --events, --skip, --begin, --end, --node. */
struct selection {
	struct text_list events, skip; /* globs of event class names; none: all, none */
	struct text_list nodes;        /* names or globs; none: all */
	nsec_t begin_ns, end_ns; /* on the timeline's axis; NSEC_MIN, NSEC_MAX: open */
};

bool selection_has_class(const struct selection *selection, const char *name);
bool selection_has_node(const struct selection *selection, const char *name);
bool selection_has_time(const struct selection *selection, nsec_t ts_ns);

/*
 * Check that each --node matches a node: a misspelt one would make an empty timeline.
 * Return 0, or -1 with error, which suggests the node with the most similar name.
 */
int selection_check_nodes(const struct selection *selection, const struct merge_run *run,
			  struct error *error);

/*
 * Survey a run directory, or, `node`, that node of it alone, which makes it a part; or
 * one or more traces and captures, [NAME=]PATH, each of a node of its own. Return 0, or
 * -1 with error if there is nothing to merge.
 */
int merge_run_open(struct merge_run *run, const struct text_list *paths, const char *node,
		   struct error *error);

/* Return true if the run has files other than traces and captures. */
bool merge_run_has_files(const struct merge_run *run);

/*
 * Move problems to the run's, but those that it has already: a source is read
 * twice, for its packets and for its events, and what is odd in it is reported once.
 */
void merge_run_report(struct merge_run *run, struct problem_list *problems);

/* The index of the source of that name, or -1. */
int64_t merge_run_find(const struct merge_run *run, const char *name);

/* Return the index of a node, or -1. */
int64_t merge_run_find_node(const struct merge_run *run, const char *name);

/*
 * Return the id of the source of that name in the clock map, or 0 if there is none. For a
 * part, it may be a source elsewhere.
 */
int64_t merge_run_source(const struct merge_run *run, const char *name);

/* Return true if a source is of a kind: "kernel", "user", ... */
bool merge_source_is(const struct merge_source *source, const char *kind);

/*
 * Set the times of the first and the last event, on the timeline's axis: of all sources,
 * or of those that make the spans of one node. Return false if there are no events.
 */
bool merge_run_extent(const struct merge_run *run, const struct merge_node *node,
		      nsec_t *first, nsec_t *last);

/* Return true if two sources have one clock: then nothing is in doubt between their
 * stamps. */
bool merge_is_one_clock(const struct merge_source *a, const struct merge_source *b);

/* Return a - b of two sides of bounds, or `open` if one of them is. */
nsec_t merge_bound_side(nsec_t a, nsec_t b, nsec_t open);

void merge_run_clear(struct merge_run *run);

#endif
