/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_MESSAGE_GROUPS_H
#define CT_ANALYZE_MESSAGE_GROUPS_H

#include "analyze/bounds.h"
#include "analyze/distribution.h"
#include "analyze/keys.h"
#include "analyze/message_stream.h"
#include "analyze/result.h"

/* More than this are not told apart: each takes some 300 bytes. */
enum { MOST_GROUPS = 200000 };

/* Cells that a group may be told by, and those that tell of it. */
enum { GROUP_HEAD = 7, GROUP_CELLS = 10 };

/* What is known of one pair of nodes, or one flow, in one direction. */
struct group {
	struct distribution latency;
	uint64_t bytes, negative;
	struct bound bound; /* the widest of its messages */
};

/* Groups by the cells that tell them apart. Zeroed, but for `heads`, is empty. */
struct grouping {
	struct result_table *table; /* to be filled; NULL: none */
	size_t heads;               /* cells that tell groups apart */
	struct keys keys;
	struct group *group;
	struct cell *head; /* GROUP_HEAD cells a group, texts copied */
	size_t room, head_room;
	uint64_t merged; /* messages of groups that came after MOST_GROUPS */
};

/* Count a message; `head` are the cells that tell. */
void grouping_add(struct grouping *grouping, const struct cell *head,
		  const struct message_row *row);

/* The group of these cells; SIZE_MAX: none. */
size_t grouping_find(struct grouping *grouping, const struct cell *head);

/* The cells that tell of a group: those of GROUP_COLUMNS. */
void group_cells(struct group *group, struct cell cells[GROUP_CELLS]);

#define GROUP_COLUMNS                                                                    \
	{"messages", "MESSAGES", UNIT_COUNT}, {"bytes", "BYTES", UNIT_BYTES},            \
	    {"min_ns", "MIN", UNIT_SPAN}, {"mean_ns", "MEAN", UNIT_SPAN},                \
	    {"p50_ns", "MEDIAN", UNIT_SPAN}, {"p95_ns", "95 %", UNIT_SPAN},              \
	    {"p99_ns", "99 %", UNIT_SPAN}, {"max_ns", "MAX", UNIT_SPAN},                 \
	    {"bound_ns", "BOUND", UNIT_BOUND}, {"negative", "NEGATIVE", UNIT_COUNT},     \
	{                                                                                \
		NULL, NULL, 0                                                            \
	}

/* A row a group: `before` if there is one, the cells that tell it apart, the others. */
void grouping_print(struct grouping *grouping, const struct cell *before);

/* Forget the groups. */
void grouping_clear(struct grouping *grouping);

/* Nothing where a side is open. */
struct cell cell_of_side(nsec_t side);

#endif
