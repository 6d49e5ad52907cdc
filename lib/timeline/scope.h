/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SCOPE_H
#define CT_TIMELINE_SCOPE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/nsec.h"
#include "base/options.h"
#include "timeline/reader.h"

/*
 * Instants before 1824 and after 2116 are no clock's: they are out of every scope, so
 * that the time between two instants of one always fits.
 */
#define SCOPE_MOST_NS (((nsec_t)1 << 62) - 1)

/*
 * From when to when the kernels of the nodes were traced. Outside of that it is not known
 * what their processors, threads and disks did: they were neither idle nor busy. Of a
 * node without a kernel's trace those of other tracers stand for it; a capture does not.
 */
struct recorded_span {
	int64_t node;
	nsec_t begin_ns, end_ns; /* both included */
};

struct recorded {
	struct recorded_span *span; /* of a node none touches another */
	size_t count, room;
};

/* To be cleared. 0, or -1 with error. */
int recorded_read(struct recorded *recorded, struct timeline_reader *reader,
		  struct error *error);

/* How much of the span from begin_ns to end_ns was recorded of the node. */
nsec_t recorded_within(const struct recorded *recorded, int64_t node, nsec_t begin_ns,
		       nsec_t end_ns);

void recorded_clear(struct recorded *recorded);

/*
 * The part of a timeline that a question is about: some nodes, and a span of time
 * on the reference's axis. Every reader of events and samples goes by it.
 */
struct scope_node {
	int64_t id;
	char *name;
	int64_t cpus;    /* 0: not known */
	double cpu_mhz;  /* 0: not known */
	int64_t mem_kib; /* 0: not known */
	bool chosen;
};

struct scope {
	nsec_t origin_ns, last_ns; /* first and last of what the timeline has */
	nsec_t begin_ns, end_ns; /* what was asked for, both included; within the above */
	struct scope_node *node; /* every node of the timeline, by id */
	size_t nodes;
	bool all_nodes, all_time; /* nothing was left out */
	bool is_limited;          /* something was, by SCOPE_MOST_NS */
	bool without_spans;       /* ctmerge was told to leave them out */
	struct recorded recorded; /* of what kernels did, in the whole timeline */
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

/* First and last event.id of its time; last below first: none. 0, or -1 with error. */
int scope_event_ids(const struct scope *scope, struct timeline_reader *reader,
		    int64_t id[2], struct error *error);

void scope_clear(struct scope *scope);

#endif
