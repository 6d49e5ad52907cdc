/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_RUN_H
#define CT_INPUT_RUN_H

#include "base/error.h"
#include "input/declared.h"
#include "input/packet_source.h"
#include "input/samples.h"
#include "problem/problem.h"
#include "trace/reader.h"

/*
 * What a user points at: run directories, traces, captures. A source is one
 * thing with one clock.
 */
enum source_kind { SOURCE_TRACE, SOURCE_CAPTURE };

struct source {
	enum source_kind kind;
	char *name; /* as asked for or by its node; NULL: by its recorded host */
	char *path;
	char *node;                 /* the directory of its node, or NULL: not known */
	struct node_address *local; /* of its node, by node.json */
	size_t locals;
	struct capture_part *part; /* files of a rotated capture, by time, or NULL */
	size_t parts;
	enum trace_reader_kind reader; /* of a trace */
	struct clock_origin origin; /* a trace.dat's clock, by node.json and clock.csv */
	const struct declared_message **declared; /* of a trace */
	size_t declareds, declared_capacity;
	struct realtime_offset *realtime; /* offsets on its node, by clock.csv */
	size_t realtimes;
	size_t extract; /* its place in a .packets file, from 1; 0: it is itself */
};

struct source_list {
	struct source *item;
	size_t count, capacity;
	const char *only;        /* of a run directory: this node alone; NULL: all */
	struct run_files *files; /* what source_add_run finds besides; NULL: not wanted */
	struct declared_list declared; /* those of all sources */
	bool takes_extracts; /* .packets files are sources, too; else they are passed over
			      */
};

/*
 * Add every source of a run directory: each subdirectory is a node; its kernel
 * trace (or first source) bears the node's name, further ones NODE:FILE. Two names for
 * one directory (a link to it) are one node, and the later name is reported. A path
 * that is itself a node's directory is that node, and a trace or a capture, [NAME=]PATH,
 * is added as source_add_trace does. 0, or -1 with error when the path holds no source at
 * all.
 */
int source_add_run(struct source_list *list, const char *path,
		   struct problem_list *problems, struct error *error);

/*
 * Add the sources of one node: a directory as a run directory has one for each. 0, or
 * -1 with error where it holds no source.
 */
int source_add_node(struct source_list *list, const char *path,
		    struct problem_list *problems, struct error *error);

/*
 * Add the CTF traces found under a path, one capture, or what is in a .packets file;
 * NAME=PATH gives the name. 0, or -1 with error.
 */
int source_add_trace(struct source_list *list, const char *argument,
		     struct problem_list *problems, struct error *error);

/* Read what clock.csv says of the node that a source of its directory is from. */
void source_read_realtime(struct source *source);

/*
 * An address of the form 10.7.0.1 or fe80::1. 0, or -1 where it is none.
 */
int node_address_parse(const char *text, struct node_address *address);

void source_list_clear(struct source_list *list);

/* What two sources have in common. */
enum same_clock {
	SAME_NOT,
	SAME_CLOCK,  /* kernel and user space of one boot of one node */
	SAME_CLONED, /* one identity, as if of one boot, and yet two nodes */
};

/* Whether two sources say that they have one clock, whatever their nodes. */
bool same_clock_identity(const struct trace_facts *a, const struct trace_facts *b);

/*
 * A clock's identity is copied with a machine: two that were resumed from one snapshot
 * have the same. So it counts only within a node: in one node's directory, or where that
 * is not known of both, under one recorded host name.
 */
enum same_clock same_clock(const struct source *a, const struct trace_facts *a_facts,
			   const struct source *b, const struct trace_facts *b_facts);

/*
 * Equal for two sources that hold the same events: one under two names, or a copy. Of a
 * trace its metadata and streams tell, of a capture its file, by their names, sizes and
 * how they begin. 0: it has no events, or they cannot be read.
 */
uint64_t same_events_fingerprint(const struct source *source);

#endif
