/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SCOPE_H
#define CT_TIMELINE_SCOPE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/nsec.h"
#include "base/options.h"
#include "timeline/reader.h"

/*
 * The selected part of a timeline: some nodes, and a time range on the reference's axis.
 * All readers of events and samples observe it.
 */
struct scope_node {
	int64_t id;
	char *name;
	bool chosen;
	/* The part of the selected time in which the kernel was traced, or if there is no
	 * kernel trace another tracer ran; a capture does not count. Outside of it the
	 * states of processors, threads and disks are unknown, neither idle nor busy. */
	nsec_t recorded_ns;
};

struct scope {
	nsec_t origin_ns, last_ns; /* first and last time in the timeline */
	nsec_t begin_ns, end_ns;   /* selected time, inclusive; within the above */
	struct scope_node *node;   /* all nodes of the timeline, by id */
	size_t nodes;
	bool all_nodes, all_time; /* the selection includes everything */
	bool is_limited;          /* a time was clamped, not being nsec_is_stamp() */
	bool without_spans;       /* ctmerge ran with an option that omits spans */
	bool has_recorded;        /* the table `recorded` has rows of some node */
};

/*
 * Select a part of a timeline. `begin` and `end` are in the format of instant_parse(), or
 * NULL for no limit. `nodes` are globs; all nodes are selected if there are none. A glob
 * without a match and a time range outside of the timeline's are errors. Return 0, or -1
 * with error.
 */
int scope_init(struct scope *scope, struct timeline_reader *reader, const char *begin,
	       const char *end, const struct text_list *nodes, struct error *error);

/* Return the node with this id, or NULL if there is none. */
const struct scope_node *scope_find(const struct scope *scope, int64_t node);

/* Return true if the node with this id is selected. */
bool scope_has_node(const struct scope *scope, int64_t node);

/* Format the ids of the selected nodes as a JSON array. The caller frees the result. */
char *scope_nodes(const struct scope *scope);

/* Set `id` to the first and the last event.id in the selected time; if there are no
 * events, the last is less than the first. Return 0, or -1 with error. */
int scope_event_ids(const struct scope *scope, struct timeline_reader *reader,
		    int64_t id[2], struct error *error);

void scope_clear(struct scope *scope);

#endif
