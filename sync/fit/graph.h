/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_GRAPH_H
#define CT_SYNC_FIT_GRAPH_H

#include "sync/pair/pair.h"

/*
 * The traces as nodes, the pairs as edges, but for contradictory ones. An edge's length
 * is how far the pair leaves the relation of its two clocks open, so the shortest way is
 * the most certain one.
 */
struct island {
	uint32_t reference;
	uint32_t *member; /* traces, the reference first, then by distance from it */
	size_t members;
	uint32_t *inside; /* pairs between members, by index */
	size_t insides;
};

struct graph_node {
	uint32_t island;
	int parent;        /* towards the island's reference, -1 at it */
	int parent_pair;   /* the pair on that way */
	double distance;   /* from the reference */
	bool above, below; /* some chain of messages bounds it from that side */
};

struct graph {
	struct graph_node *node; /* by trace */
	size_t nodes;
	struct island *island; /* the largest first, or the one with the reference */
	size_t islands;
};

/*
 * Find islands, references and trees. `reference` is the trace that must be
 * its island's reference, or -1. Pairs have been settled and fitted.
 */
void graph_make(struct graph *graph, size_t nodes, const struct pair_table *pairs,
		int reference);

/* How far a pair leaves its clocks open, in nanoseconds. */
double graph_edge_length(const struct pair *pair);

void graph_clear(struct graph *graph);

#endif
