/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_H
#define CT_INPUT_RUN_H

#include "base/error.h"
#include "input/claims.h"
#include "input/clock_samples.h"
#include "input/declared.h"
#include "input/packet_source.h"
#include "problem/problem.h"
#include "trace/reader.h"

/*
 * A source: a trace or a capture, with one clock. Sources are found in run directories or
 * given one by one.
 */
enum source_kind { SOURCE_TRACE, SOURCE_CAPTURE };

struct source {
	enum source_kind kind;
	char *name; /* as given or from its node; NULL for its recorded host */
	char *path;
	char *node;                 /* directory of its node, or NULL if unknown */
	struct node_address *local; /* addresses of its node, from node.json */
	size_t locals;
	struct capture_part
	    *part; /* files of a rotated capture in the order of time, or NULL */
	size_t parts;
	struct clock_origin origin; /* a trace.dat's clock, by node.json and clock.csv */
	struct trace_recorded
	    recorded; /* set for a trace.dat that was read; otherwise empty */
	const struct declared_message **declared; /* messages of a trace */
	size_t declareds, declared_capacity;
	struct realtime_offset *realtime; /* offsets on its node, from clock.csv */
	size_t realtimes;
	struct node_claims claims; /* its node's, if read from a .packets file */
	size_t extract; /* number in a .packets file, from 1; 0 if not in one */
};

struct source_list {
	struct source *item;
	size_t count, capacity;
	const char *only;        /* read only this node of a run directory; NULL: all */
	struct run_files *files; /* what source_add_run finds besides; NULL: not wanted */
	struct declared_list declared; /* those of all sources */
	bool accepts_extracts;         /* .packets files are sources, not skipped */
};

/*
 * Add every source of a run directory: each subdirectory is a node; its kernel trace (or
 * first source) has the node's name, further ones are NODE:FILE. Two names for one
 * directory (a link to it) are one node, and the later name is reported. A path that is
 * itself a node's directory is that node, and a trace or a capture, [NAME=]PATH, is added
 * as by source_add_trace(). Return 0, or -1 with error if the path contains no source.
 */
int source_add_run(struct source_list *list, const char *path,
		   struct problem_list *problems, struct error *error);

/*
 * Add the sources of one node, given its directory. Return 0, or -1 with error if it has
 * no source.
 */
int source_add_node(struct source_list *list, const char *path,
		    struct problem_list *problems, struct error *error);

/*
 * Add the traces below a path, one capture, or the sources of a .packets file; NAME=PATH
 * gives the name. Return 0, or -1 with error.
 */
int source_add_trace(struct source_list *list, const char *argument,
		     struct problem_list *problems, struct error *error);

/* Read the clock.csv of a source's node into the source. */
void source_read_realtime(struct source *source);

/* Return what opens a source that is a capture; borrows of it. */
struct capture_input source_capture(const struct source *source);

/* Parse an address, such as 10.7.0.1 or fe80::1. Return 0, or -1 if it is invalid. */
int node_address_parse(const char *text, struct node_address *address);

void source_list_clear(struct source_list *list);

/* The relation of two sources' clocks. */
enum same_clock {
	SAME_NOT,
	SAME_CLOCK,  /* kernel and user space of one boot of one node */
	SAME_CLONED, /* the same identity on two nodes */
};

/* Return true if two sources have the same clock identity, whatever their nodes. */
bool same_clock_identity(const struct trace_facts *a, const struct trace_facts *b);

/*
 * Compare the clocks of two sources. A clock's identity is copied with a machine: two
 * machines that were resumed from one snapshot have the same. So it counts only within a
 * node: in one node's directory or, if that is unknown for one of them, under one
 * recorded host name.
 */
enum same_clock same_clock(const struct source *a, const struct trace_facts *a_facts,
			   const struct source *b, const struct trace_facts *b_facts);

/*
 * Return a fingerprint that is equal for sources with the same events: one source under
 * two names, or a copy. It covers names, sizes and the first bytes of a trace's metadata
 * and streams, or of a capture's file. Return 0 if the source has no events or cannot be
 * read.
 */
uint64_t same_events_fingerprint(const struct source *source);

#endif
