/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/network/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

/* Ways that contradict themselves, or go one way only, are the last resort. */
#define LENGTH_CONTRADICTED 1e12
#define LENGTH_ONE_WAY      1e15
#define LENGTH_SET_BACK     1e24 /* length to a reference that was set back */

double graph_edge_length(const struct pair *pair)
{
	if (!pair->hulls.lower.count || !pair->hulls.upper.count)
		return LENGTH_ONE_WAY;
	if (pair->fit.margin_ns < 0)
		return LENGTH_CONTRADICTED - pair->fit.margin_ns;
	return pair->fit.margin_ns + pair_chance_allowance(pair) + 1;
}

/* Return the pair of a turn in a walk through an island's pairs, forward and then back.
 */
static uint32_t to_and_fro(const struct island *island, size_t turn)
{
	return island
	    ->inside[turn < island->insides ? turn : 2 * island->insides - 1 - turn];
}

static bool relax_edge(struct graph_node *from, struct graph_node *to, uint32_t parent,
		       uint32_t pair, double length)
{
	if (from->distance + length >= to->distance)
		return false;
	to->distance = from->distance + length;
	to->parent = (int)parent;
	to->parent_pair = (int)pair;
	return true;
}

/* Find the shortest paths from one clock within an island (Bellman 1958): relax the pairs
 * until none shortens a path. Return the sum of the distances. */
static double find_shortest_paths(struct graph *graph, const struct island *island,
				  const struct pair_table *pairs, uint32_t from)
{
	struct graph_node *node = graph->node;
	double total = 0;

	for (size_t i = 0; i < island->members; i++) {
		struct graph_node *at = &node[island->member[i]];

		at->distance = island->member[i] == from ? 0 : INFINITY;
		at->parent = at->parent_pair = -1;
	}
	for (bool moves = true; moves;) {
		moves = false;
		for (size_t k = 0; k < 2 * island->insides; k++) {
			uint32_t at = to_and_fro(island, k);
			uint32_t a = pairs->pair[at].a, b = pairs->pair[at].b;
			double length = graph->length[at];

			moves |= relax_edge(&node[a], &node[b], a, at, length);
			moves |= relax_edge(&node[b], &node[a], b, at, length);
		}
	}
	for (size_t i = 0; i < island->members; i++)
		total += node[island->member[i]].distance;
	return total;
}

/*
 * Number the islands by their first clock, and return their number. Until nothing
 * changes, both clocks of a pair get the lower of their labels.
 */
static size_t find_islands(struct graph *graph, const struct pair_table *pairs)
{
	struct graph_node *node = graph->node;
	size_t islands = 0;

	for (uint32_t i = 0; i < graph->nodes; i++)
		node[i].island = i;
	for (bool changes = true; changes;) {
		changes = false;
		for (size_t i = 0; i < pairs->count; i++) {
			const struct pair *pair = &pairs->pair[i];
			uint32_t *a = &node[pair->a].island, *b = &node[pair->b].island;

			if (pair->contradictory || *a == *b)
				continue;
			changes = true;
			*a = *b = *a < *b ? *a : *b;
		}
	}
	/* A label is the first clock of its island, which already has its number. */
	for (uint32_t i = 0; i < graph->nodes; i++)
		node[i].island = node[i].island == i ? (uint32_t)islands++
						     : node[node[i].island].island;
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

/*
 * Return the member with the smallest sum of distances to the others. Members that were
 * set back count only if all were.
 */
static uint32_t best_connected(struct graph *graph, const struct island *island,
			       const struct pair_table *pairs, const bool *is_set_back)
{
	uint32_t best = island->member[0];
	double least = INFINITY;

	for (size_t i = 0; i < island->members && island->members > 1; i++) {
		double total =
		    find_shortest_paths(graph, island, pairs, island->member[i]) +
		    (is_set_back && is_set_back[island->member[i]] ? LENGTH_SET_BACK : 0);

		if (total < least) {
			least = total;
			best = island->member[i];
		}
	}
	return best;
}

static int by_distance(const void *a, const void *b, void *nodes)
{
	const uint32_t *p = a, *q = b;
	const struct graph_node *node = nodes;

	return COMPARE(node[*p].distance, node[*q].distance) ?: COMPARE(*p, *q);
}

static int by_size(const void *a, const void *b)
{
	const struct island *p = a, *q = b;

	return COMPARE(q->members, p->members) ?: COMPARE(p->member[0], q->member[0]);
}

/* Sort by size, the largest first, after the island of the requested reference. */
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
	SORT(graph->island + (reference >= 0), graph->islands - (reference >= 0),
	     by_size);
	for (uint32_t i = 0; i < graph->islands; i++)
		for (size_t k = 0; k < graph->island[i].members; k++)
			graph->node[graph->island[i].member[k]].island = i;
}

/* The least and the largest rate of a clock's correction. */
struct rates {
	double low, high;
};

/*
 * Return the rates that lines may have for a clock, by its messages with its parent and
 * the rates of that one. Where no line satisfies the messages, that is not known: the
 * rates are within the limit.
 */
static struct rates follow_rates(const struct pair *pair, bool is_b, struct rates parent,
				 double limit)
{
	const struct hulls *hulls = &pair->hulls;
	struct rates own = {-limit, limit};

	if (pair->fit.margin_ns < 0 || !hulls->lower.count || !hulls->upper.count)
		return own;
	own.low = pair_line_extreme(hulls, &pair->fit, -PAIR_RATE_MOST).rate;
	own.high = pair_line_extreme(hulls, &pair->fit, PAIR_RATE_MOST).rate;
	if (is_b)
		own =
		    (struct rates){-own.high / (1 + own.high), -own.low / (1 + own.low)};
	return (struct rates){parent.low + own.low + parent.low * own.low,
			      parent.high + own.high + parent.high * own.high};
}

/* In tree order, so that a clock's parent comes before it. Return how many are too fast.
 */
static size_t mark_members(struct graph *graph, const struct island *island,
			   const struct pair_table *pairs, double limit)
{
	AUTOFREE struct rates *rates = mem_zalloc(island->members * sizeof(*rates));
	size_t fast = 0;

	for (size_t i = 0; i < island->members; i++) {
		struct graph_node *node = &graph->node[island->member[i]];
		const struct pair *pair;

		node->place = i;
		node->is_too_fast = false;
		if (!i)
			continue;
		pair = &pairs->pair[node->parent_pair];
		rates[i] = follow_rates(pair, pair->b == island->member[i],
					rates[graph->node[node->parent].place], limit);
		node->is_too_fast = rates[i].low > limit || rates[i].high < -limit;
		if (!node->is_too_fast)
			rates[i] = (struct rates){fmax(rates[i].low, -limit),
						  fmin(rates[i].high, limit)};
		fast += node->is_too_fast;
	}
	return fast;
}

/* Make the tree of shortest paths from a clock. Return how many clocks are too fast. */
static size_t grow_tree(struct graph *graph, struct island *island,
			const struct pair_table *pairs, uint32_t reference, double limit)
{
	island->reference = reference;
	find_shortest_paths(graph, island, pairs, reference);
	qsort_r(island->member, island->members, sizeof(*island->member), by_distance,
		graph->node);
	return mark_members(graph, island, pairs, limit);
}

/* Choose the reference. If more than half of the clocks are too fast against the
 * best connected one, it is that one that is: choose another, if that helps. */
static void choose_reference(struct graph *graph, struct island *island,
			     const struct pair_table *pairs, const bool *is_set_back,
			     double limit)
{
	AUTOFREE bool *avoided = mem_zalloc(graph->nodes + 1);
	uint32_t first = best_connected(graph, island, pairs, is_set_back);
	size_t fast = grow_tree(graph, island, pairs, first, limit);
	uint32_t second;

	if (island->members < 3 || 2 * fast <= island->members)
		return;
	for (size_t i = 0; is_set_back && i < graph->nodes; i++)
		avoided[i] = is_set_back[i];
	avoided[first] = true;
	second = best_connected(graph, island, pairs, avoided);
	if (grow_tree(graph, island, pairs, second, limit) >= fast)
		grow_tree(graph, island, pairs, first, limit);
}

/* Mark the clocks that are alone in their islands although they have messages. */
static void mark_cut_off(struct graph *graph, const struct pair_table *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		for (int end = 0; end < 2; end++) {
			struct graph_node *node =
			    &graph->node[end ? pairs->pair[i].b : pairs->pair[i].a];

			node->is_cut_off = graph->island[node->island].members == 1;
		}
}

void graph_make(struct graph *graph, size_t nodes, const struct pair_table *pairs,
		const bool *is_set_back, int reference, double limit)
{
	AUTOFREE uint32_t *order = pair_table_order(pairs);

	memset(graph, 0, sizeof(*graph));
	graph->nodes = nodes;
	graph->node = mem_zalloc(nodes * sizeof(*graph->node));
	graph->length = mem_alloc((pairs->count + 1) * sizeof(*graph->length));
	for (size_t i = 0; i < pairs->count; i++)
		graph->length[i] = graph_edge_length(&pairs->pair[i]);
	graph->islands = find_islands(graph, pairs);
	graph->island = mem_zalloc(graph->islands * sizeof(*graph->island));
	fill_islands(graph, pairs, order);
	order_islands(graph, reference);
	for (size_t i = 0; i < graph->islands; i++) {
		struct island *island = &graph->island[i];

		if (reference >= 0 && i == 0)
			grow_tree(graph, island, pairs, (uint32_t)reference, limit);
		else
			choose_reference(graph, island, pairs, is_set_back, limit);
	}
	mark_cut_off(graph, pairs);
}

void graph_clear(struct graph *graph)
{
	for (size_t i = 0; i < graph->islands; i++) {
		free(graph->island[i].member);
		free(graph->island[i].inside);
	}
	free(graph->island);
	free(graph->length);
	free(graph->node);
	memset(graph, 0, sizeof(*graph));
}
