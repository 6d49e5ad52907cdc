/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SCOPE_H
#define CT_TIMELINE_SCOPE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/nsec.h"
#include "base/options.h"
#include "timeline/reader.h"

/*
 * The part of a timeline that a query is about: some nodes, and a span of time
 * on the reference's axis. Every reader of events and samples goes by it.
 */
struct scope_node {
	int64_t id;
	char *name;
	bool chosen;
	/* How much of the time that was asked for its kernel was traced. Outside of that
	 * it is not known what its processors, threads and disks did: they were neither
	 * idle nor busy. Of a node without a kernel's trace other tracers stand for it; a
	 * capture does not. */
	nsec_t recorded_ns;
};

struct scope {
	nsec_t origin_ns, last_ns; /* first and last of what the timeline has */
	nsec_t begin_ns, end_ns; /* what was asked for, both included; within the above */
	struct scope_node *node; /* every node of the timeline, by id */
	size_t nodes;
	bool all_nodes, all_time; /* nothing was left out */
	bool is_limited;          /* something was no timestamp, nsec_is_stamp */
	bool without_spans;       /* ctmerge was told to leave them out */
	bool has_recorded;        /* of some node anything was, at any time */
};

/*
 * `begin`, `end`: as instant_parse takes them, NULL: open. `nodes`: names or globs, none:
 * all. A glob that no node has is an error that suggests the nearest name; so is a span
 * in which the timeline has nothing, which names the timeline's own. 0, or -1 with error.
 */
int scope_init(struct scope *scope, struct timeline_reader *reader, const char *begin,
	       const char *end, const struct text_list *nodes, struct error *error);

/* Of a node's id. NULL: no such node. */
const struct scope_node *scope_find(const struct scope *scope, int64_t node);

/* Whether a node's id was chosen. */
bool scope_has_node(const struct scope *scope, int64_t node);

/* The ids of the chosen nodes as a list of JSON; for free(). */
char *scope_nodes(const struct scope *scope);

/* First and last event.id of its time; last below first: none. 0, or -1 with error. */
int scope_event_ids(const struct scope *scope, struct timeline_reader *reader,
		    int64_t id[2], struct error *error);

void scope_clear(struct scope *scope);

#endif
