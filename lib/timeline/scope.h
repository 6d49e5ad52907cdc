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

/* Return the node with this id, or NULL. */
const struct scope_node *scope_find(const struct scope *scope, int64_t node);

/* Return true if the node with this id is selected. */
bool scope_has_node(const struct scope *scope, int64_t node);

/* Format the ids of the selected nodes as a JSON array. The caller frees the result. */
char *scope_nodes(const struct scope *scope);

/* Set `id` to the first and the last event.id in the selected time; if there are no
 * events, the last is less than the first. Return 0, or -1 with error. */
int scope_event_ids(const struct scope *scope, struct timeline_reader *reader,
		    int64_t id[2], struct error *error);

/* Set `id` to the first and the last message.id by time of sending. A request has the id
 * of a message that arrived, which may have been sent again after the request began: no
 * request before the first id began in the selected time, but one after the last can. */
int scope_message_ids(const struct scope *scope, struct timeline_reader *reader,
		      int64_t id[2], struct error *error);

/* Return true if less than half of the timeline's time is selected, so that it pays to
 * search the first span of each thread. */
bool scope_is_window(const struct scope *scope);

/*
 * SQL for the spans of a window, by the keys of a table that is stored by thread, which
 * is faster than to read all of it: `list` after WITH RECURSIVE, and the condition of
 * spans `s` CROSS JOINed to `list AS l`, from the last one on that began before the
 * parameter `begin`. Spans of a thread do not overlap, but for those of tid 0.
 */
#define SCOPE_THREADS(table)                                                             \
	"list (node, tid) AS (SELECT n.id, (SELECT min(t.tid) FROM " table               \
	" AS t WHERE t.node = n.id) FROM node AS n UNION ALL SELECT l.node, (SELECT "    \
	"min(t.tid) FROM " table " AS t WHERE t.node = l.node AND t.tid > l.tid) FROM "  \
	"list AS l WHERE l.tid IS NOT NULL ORDER BY 1, 2)"
#define SCOPE_SPANS(table, begin)                                                        \
	"s.node = l.node AND s.tid = l.tid AND s.begin_ns >= CASE l.tid WHEN 0 THEN "    \
	"-9223372036854775807 ELSE coalesce((SELECT max(b.begin_ns) FROM " table         \
	" AS b WHERE b.node = l.node AND b.tid = l.tid AND b.begin_ns <= " begin         \
	"), " begin ") END "

void scope_clear(struct scope *scope);

#endif
