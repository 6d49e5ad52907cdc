/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_NODE_MESSAGES_H
#define CT_MERGE_NODE_MESSAGES_H

#include "merge/run.h"
#include "sync/pair/message_log.h"

/*
 * One node of a run, merged alone. Its messages are read from a file by ctsync; their
 * other ends are nodes and sources elsewhere. Ids need no coordination: nodes and the
 * clock map's sources are numbered by their places in the map, from 1, and rows from
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
 * Read the messages of the run's node into `messages`, add the nodes and sources
 * elsewhere to the run, and set the ids of nodes and sources. `path` is NULL if the node
 * is not in the clock map and so has no messages. Call after the clocks are set. Return
 * 0, or -1 with error if the file is damaged, another node's, or of another clock map.
 */
int node_messages_read(struct merge_run *run, const char *path,
		       struct message_log *messages, struct error *error);

#endif
