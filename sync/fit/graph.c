/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/mem.h"

/* Ways that contradict themselves, or go one way only, are the last resort. */
#define LENGTH_CONTRADICTED 1e12
#define LENGTH_ONE_WAY      1e15

#define LUCK 32.0 /* how many times the margin */

struct edge {
	uint32_t to, pair;
	double length;
};

/* Edges by node: those of node i stand at edge[first[i]] up to first[i + 1]. */
struct adjacency {
	size_t *first;
	struct edge *edge;
};

double pair_luck(const struct pair *pair)
{
	uint64_t ab = pair->messages_ab, ba = pair->messages_ba;

	return LUCK * fmax(0, pair->margin_ns) / (double)(1 + (ab < ba ? ab : ba));
}

double graph_edge_length(const struct pair *pair)
{
	if (!pair->lower.count || !pair->upper.count)
		return LENGTH_ONE_WAY;
	if (pair->margin_ns < 0)
		return LENGTH_CONTRADICTED - pair->margin_ns;
	return pair->margin_ns + pair_luck(pair) + 1;
}

static void adjacency_make(struct adjacency *adjacency, size_t nodes,
			   const struct pair_table *pairs, const uint32_t *order)
{
	size_t *fill = mem_zalloc((nodes + 1) * sizeof(*fill));

	adjacency->first = mem_zalloc((nodes + 1) * sizeof(*adjacency->first));
	adjacency->edge = mem_alloc(2 * pairs->count * sizeof(*adjacency->edge));
	for (size_t i = 0; i < pairs->count; i++) {
		if (pairs->pair[i].contradictory)
			continue;
		adjacency->first[pairs->pair[i].a + 1]++;
		adjacency->first[pairs->pair[i].b + 1]++;
	}
	for (size_t i = 0; i < nodes; i++)
		adjacency->first[i + 1] += adjacency->first[i];
	for (size_t i = 0; i < pairs->count; i++) {
		const struct pair *pair = &pairs->pair[order[i]];
		double length = graph_edge_length(pair);
		size_t at_a, at_b;

		if (pair->contradictory)
			continue;
		at_a = adjacency->first[pair->a] + fill[pair->a]++;
		at_b = adjacency->first[pair->b] + fill[pair->b]++;
		adjacency->edge[at_a] = (struct edge){pair->b, order[i], length};
		adjacency->edge[at_b] = (struct edge){pair->a, order[i], length};
	}
	free(fill);
}

static void adjacency_clear(struct adjacency *adjacency)
{
	free(adjacency->first);
	free(adjacency->edge);
}

/* Distances are not negative, and in the order of their bits. */
static void push(struct heap *frontier, double distance, uint32_t node)
{
	int64_t key;

	memcpy(&key, &distance, sizeof(key));
	heap_push(frontier, key, node);
}

/*
 * Shortest ways from `from` (Dijkstra 1959). Fills distance, parent and
 * parent_pair of the nodes reached; returns the sum of their distances.
 */
static double shortest(struct graph_node *node, size_t nodes,
		       const struct adjacency *adjacency, uint32_t from)
{
	struct heap frontier = {0};
	double total = 0;

	for (size_t i = 0; i < nodes; i++) {
		node[i].distance = INFINITY;
		node[i].parent = node[i].parent_pair = -1;
	}
	node[from].distance = 0;
	push(&frontier, 0, from);
	while (frontier.count) {
		struct heap_item first = frontier.item[0];
		uint32_t at = first.item;
		double distance;

		memcpy(&distance, &first.key, sizeof(distance));
		heap_pop(&frontier);
		if (distance > node[at].distance)
			continue;
		total += distance;
		for (size_t k = adjacency->first[at]; k < adjacency->first[at + 1]; k++) {
			const struct edge *edge = &adjacency->edge[k];

			if (distance + edge->length >= node[edge->to].distance)
				continue;
			node[edge->to].distance = distance + edge->length;
			node[edge->to].parent = (int)at;
			node[edge->to].parent_pair = (int)edge->pair;
			push(&frontier, node[edge->to].distance, edge->to);
		}
	}
	heap_clear(&frontier);
	return total;
}

/* Spread `above` or `below` from the reference along the messages' direction. */
static void spread(struct graph *graph, const struct pair_table *pairs,
		   const struct adjacency *adjacency, uint32_t from, bool above)
{
	uint32_t *stack = mem_alloc(graph->nodes * sizeof(*stack));
	size_t depth = 0;
	bool *mark;

	stack[depth++] = from;
	*(above ? &graph->node[from].above : &graph->node[from].below) = true;
	while (depth) {
		uint32_t at = stack[--depth];

		for (size_t k = adjacency->first[at]; k < adjacency->first[at + 1]; k++) {
			const struct edge *edge = &adjacency->edge[k];
			const struct pair *pair = &pairs->pair[edge->pair];
			bool out = pair->a == at ? pair->lower.count : pair->upper.count;
			bool in = pair->a == at ? pair->upper.count : pair->lower.count;

			mark = above ? &graph->node[edge->to].above
				     : &graph->node[edge->to].below;
			/* A receive by the node bounds its time from below. */
			if (*mark || !(above ? in : out))
				continue;
			*mark = true;
			stack[depth++] = edge->to;
		}
	}
	free(stack);
}

/* Number the islands by their first trace; returns how many. */
static size_t find_islands(struct graph *graph, const struct adjacency *adjacency)
{
	struct graph_node *scratch = mem_zalloc(graph->nodes * sizeof(*scratch));
	size_t islands = 0;

	for (size_t i = 0; i < graph->nodes; i++)
		graph->node[i].island = UINT32_MAX;
	for (uint32_t i = 0; i < graph->nodes; i++) {
		if (graph->node[i].island != UINT32_MAX)
			continue;
		shortest(scratch, graph->nodes, adjacency, i);
		for (size_t k = 0; k < graph->nodes; k++)
			if (!isinf(scratch[k].distance))
				graph->node[k].island = (uint32_t)islands;
		islands++;
	}
	free(scratch);
	return islands;
}

static void fill_islands(struct graph *graph, const struct pair_table *pairs,
			 const uint32_t *order)
{
	for (size_t i = 0; i < graph->nodes; i++)
		graph->island[graph->node[i].island].members++;
	for (size_t i = 0; i < pairs->count; i++)
		if (!pairs->pair[i].contradictory)
			graph->island[graph->node[pairs->pair[i].a].island].insides++;
	for (size_t i = 0; i < graph->islands; i++) {
		struct island *island = &graph->island[i];

		island->member = mem_alloc(island->members * sizeof(*island->member));
		island->inside = mem_alloc(island->insides * sizeof(*island->inside));
		island->members = island->insides = 0;
	}
	for (uint32_t i = 0; i < graph->nodes; i++) {
		struct island *island = &graph->island[graph->node[i].island];

		island->member[island->members++] = i;
	}
	for (uint32_t i = 0; i < pairs->count; i++) {
		struct island *island =
		    &graph->island[graph->node[pairs->pair[order[i]].a].island];

		if (!pairs->pair[order[i]].contradictory)
			island->inside[island->insides++] = order[i];
	}
}

/* The member with the smallest sum of distances to the others. */
static uint32_t best_connected(const struct graph *graph, const struct island *island,
			       const struct adjacency *adjacency)
{
	struct graph_node *scratch = mem_zalloc(graph->nodes * sizeof(*scratch));
	uint32_t best = island->member[0];
	double least = INFINITY;

	for (size_t i = 0; i < island->members && island->members > 1; i++) {
		double total =
		    shortest(scratch, graph->nodes, adjacency, island->member[i]);

		if (total < least) {
			least = total;
			best = island->member[i];
		}
	}
	free(scratch);
	return best;
}

static int by_distance(const void *a, const void *b, void *nodes)
{
	const uint32_t *p = a, *q = b;
	const struct graph_node *node = nodes;

	if (node[*p].distance != node[*q].distance)
		return node[*p].distance < node[*q].distance ? -1 : 1;
	return (*p > *q) - (*p < *q);
}

/* Copy what `shortest` found for the island's own members. */
static void root_island(struct graph *graph, struct island *island,
			const struct pair_table *pairs, const struct adjacency *adjacency)
{
	struct graph_node *scratch = mem_zalloc(graph->nodes * sizeof(*scratch));

	shortest(scratch, graph->nodes, adjacency, island->reference);
	for (size_t i = 0; i < island->members; i++) {
		struct graph_node *node = &graph->node[island->member[i]];
		const struct graph_node *found = &scratch[island->member[i]];

		node->distance = found->distance;
		node->parent = found->parent;
		node->parent_pair = found->parent_pair;
	}
	free(scratch);
	qsort_r(island->member, island->members, sizeof(*island->member), by_distance,
		graph->node);
	spread(graph, pairs, adjacency, island->reference, true);
	spread(graph, pairs, adjacency, island->reference, false);
}

static int by_size(const void *a, const void *b)
{
	const struct island *p = a, *q = b;

	if (p->members != q->members)
		return p->members > q->members ? -1 : 1;
	return (p->member[0] > q->member[0]) - (p->member[0] < q->member[0]);
}

/* Largest first, but the asked reference's before all. */
static void order_islands(struct graph *graph, int reference)
{
	uint32_t wanted = 0;

	if (reference >= 0)
		wanted = graph->node[reference].island;
	if (reference >= 0 && wanted) {
		struct island first = graph->island[0];

		graph->island[0] = graph->island[wanted];
		graph->island[wanted] = first;
	}
	qsort(graph->island + (reference >= 0), graph->islands - (reference >= 0),
	      sizeof(*graph->island), by_size);
	for (uint32_t i = 0; i < graph->islands; i++)
		for (size_t k = 0; k < graph->island[i].members; k++)
			graph->node[graph->island[i].member[k]].island = i;
}

void graph_make(struct graph *graph, size_t nodes, const struct pair_table *pairs,
		int reference)
{
	uint32_t *order = pair_table_order(pairs);
	struct adjacency adjacency;

	memset(graph, 0, sizeof(*graph));
	graph->nodes = nodes;
	graph->node = mem_zalloc(nodes * sizeof(*graph->node));
	adjacency_make(&adjacency, nodes, pairs, order);
	graph->islands = find_islands(graph, &adjacency);
	graph->island = mem_zalloc(graph->islands * sizeof(*graph->island));
	fill_islands(graph, pairs, order);
	order_islands(graph, reference);
	for (size_t i = 0; i < graph->islands; i++) {
		struct island *island = &graph->island[i];

		island->reference = reference >= 0 && i == 0
					? (uint32_t)reference
					: best_connected(graph, island, &adjacency);
		root_island(graph, island, pairs, &adjacency);
	}
	adjacency_clear(&adjacency);
	free(order);
}

void graph_clear(struct graph *graph)
{
	for (size_t i = 0; i < graph->islands; i++) {
		free(graph->island[i].member);
		free(graph->island[i].inside);
	}
	free(graph->island);
	free(graph->node);
	memset(graph, 0, sizeof(*graph));
}
