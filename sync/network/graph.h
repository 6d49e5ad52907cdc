/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_NETWORK_GRAPH_H
#define CT_SYNC_NETWORK_GRAPH_H

#include "sync/pair/pair.h"

/*
 * The clocks as nodes and their pairs as edges, except for contradictory pairs. The
 * length of an edge is the width that the pair leaves open for the relation of its two
 * clocks, so the shortest path is the most certain one.
 */
struct island {
	uint32_t reference;
	uint32_t *member; /* clocks, the reference first, then by distance from it */
	size_t members;
	uint32_t *inside; /* indexes of the pairs between members */
	size_t insides;
};

struct graph_node {
	uint32_t island;
	size_t place;     /* index among the island's members */
	int parent;       /* next clock towards the island's reference, -1 at it */
	int parent_pair;  /* the pair with the parent */
	double distance;  /* from the reference */
	bool is_too_fast; /* only rates beyond the limit satisfy the messages with its
			     parent */
	bool is_cut_off;  /* alone in its island, because its messages contradict each
			     other */
};

struct graph {
	struct graph_node *node; /* by clock */
	size_t nodes;
	struct island *island; /* the largest first, or the one with the reference */
	size_t islands;
	double *length; /* by pair */
};

/*
 * Find islands, references and trees. `reference` is the clock that must be its island's
 * reference, or -1. Clocks in `is_set_back` (by clock, or NULL) become references only if
 * all clocks of their island are in it, and none against which most others are too fast.
 * `limit` is that of a clock's drift against the reference, without unit. The pairs must
 * have been collected.
 */
void graph_make(struct graph *graph, size_t nodes, const struct pair_table *pairs,
		const bool *is_set_back, int reference, double limit);

/* Return the width that a pair leaves open for the relation of its clocks, ns. */
double graph_edge_length(const struct pair *pair);

void graph_clear(struct graph *graph);

#endif
