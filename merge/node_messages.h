/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_NODE_MESSAGES_H
#define CT_MERGE_NODE_MESSAGES_H

#include "merge/run.h"
#include "sync/pair/message_log.h"

/*
 * One node of a run, merged by itself. Its messages come from a file of ctsync's; their
 * other ends are nodes and sources elsewhere. Ids need no coordination: those of nodes
 * and of the clock map's sources are their places in the map, from 1; rows count from
 * node_first_id of their node.
 */
enum {
	NODE_ROW_BITS = 40,
	NODE_NUMBERS =
	    1 << 22, /* numbers for the map's nodes, and as many for those it lacks */
};

/* The id before a node's first row. */
static inline int64_t node_first_id(int64_t node)
{
	return node << NODE_ROW_BITS;
}

/*
 * Add the messages of the one node of the run to `messages`, and what is elsewhere to the
 * run; `path` NULL: there are none, as the node is not in the clock map. Sets the ids of
 * nodes and sources. After the clocks. 0, or -1 with error: the file is damaged, another
 * node's, or of another clock map.
 */
int node_messages_read(struct merge_run *run, const char *path,
		       struct message_log *messages, struct error *error);

#endif
