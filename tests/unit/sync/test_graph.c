/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/network/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#include "../draw.h"
#include "pairs.h"

enum { NODES = 24 };

#define LIMIT 200e-6

/* A pair that leaves so much open; -1: it contradicts itself. */
static void tie(struct pair_table *pairs, uint32_t a, uint32_t b, double margin_ns)
{
	uint32_t index = made_pair(pairs, a, b);
	struct pair *pair = &pairs->pair[index];

	hull_add(&pair->hulls.lower, 0, 1);
	hull_add(&pair->hulls.upper, 0, -1);
	hull_settle(&pair->hulls.lower);
	hull_settle(&pair->hulls.upper);
	pair->fit.margin_ns = margin_ns;
}

TEST(the_shortest_way_is_the_tree)
{
	struct pair_table pairs = {0};
	struct graph graph;

	/* Around is shorter than straight on, and what contradicts is the last. */
	tie(&pairs, 0, 3, 1000);
	tie(&pairs, 0, 1, 100);
	tie(&pairs, 1, 2, 100);
	tie(&pairs, 2, 3, 100);
	tie(&pairs, 3, 4, -1);
	tie(&pairs, 2, 4, 5000);
	graph_make(&graph, 5, &pairs, NULL, 0, LIMIT);
	assert_int_equal(graph.islands, 1);
	assert_int_equal(graph.island[0].reference, 0);
	assert_int_equal(graph.node[0].parent, -1);
	assert_int_equal(graph.node[1].parent, 0);
	assert_int_equal(graph.node[2].parent, 1);
	assert_int_equal(graph.node[3].parent, 2);
	assert_int_equal(graph.node[4].parent, 2);
	assert_int_equal(graph.node[4].parent_pair, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(graph.island[0].member[i], i);
	graph_clear(&graph);
	pair_table_clear(&pairs);
}

TEST(the_best_connected_is_the_reference)
{
	struct pair_table pairs = {0};
	struct graph graph;

	/* A star around 2, with one long arm. */
	for (uint32_t i = 0; i < 5; i++)
		if (i != 2)
			tie(&pairs, 2, i, 100 + i);
	tie(&pairs, 0, 1, 150);
	graph_make(&graph, 5, &pairs, NULL, -1, LIMIT);
	assert_int_equal(graph.island[0].reference, 2);
	graph_clear(&graph);
	graph_make(&graph, 5, &pairs, NULL, 4, LIMIT);
	assert_int_equal(graph.island[0].reference, 4);
	assert_int_equal(graph.node[2].parent, 4);
	assert_int_equal(graph.node[0].parent, 2);
	graph_clear(&graph);
	pair_table_clear(&pairs);
}

TEST(islands_come_by_size)
{
	struct pair_table pairs = {0};
	struct graph graph;

	tie(&pairs, 5, 6, 10);
	tie(&pairs, 1, 2, 10);
	tie(&pairs, 2, 4, 10);
	graph_make(&graph, 7, &pairs, NULL, -1, LIMIT);
	assert_int_equal(graph.islands, 4);
	assert_int_equal(graph.island[0].members, 3);
	assert_int_equal(graph.island[0].insides, 2);
	assert_int_equal(graph.island[0].reference, 2);
	assert_int_equal(graph.island[1].members, 2);
	assert_int_equal(graph.island[2].reference, 0);
	assert_int_equal(graph.island[3].reference, 3);
	assert_int_equal(graph.island[3].insides, 0);
	graph_clear(&graph);
	/* The asked one's island is the first, whatever its size. */
	graph_make(&graph, 7, &pairs, NULL, 3, LIMIT);
	assert_int_equal(graph.island[0].reference, 3);
	assert_int_equal(graph.island[1].members, 3);
	assert_int_equal(graph.node[3].island, 0);
	assert_int_equal(graph.node[1].island, 1);
	graph_clear(&graph);
	pair_table_clear(&pairs);
}

/* A pair whose messages in 10 s take 100 us, and whose clock b gains `ppm` on a. */
static void tie_drifting(struct pair_table *pairs, uint32_t a, uint32_t b, nsec_t ppm)
{
	uint32_t index = made_pair(pairs, a, b);
	struct pair *pair = &pairs->pair[index];

	for (nsec_t x = 0; x <= 10 * NSEC_PER_SEC; x += NSEC_PER_SEC) {
		hull_add(&pair->hulls.lower, x, x + x / 1000000 * ppm + 100000);
		hull_add(&pair->hulls.upper, x, x + x / 1000000 * ppm - 100000);
	}
	hull_settle(&pair->hulls.lower);
	hull_settle(&pair->hulls.upper);
	pair->fit = pair_line_or_too_fast(&pair->hulls, 2 * LIMIT);
}

TEST(a_clock_is_too_fast_against_the_reference_not_against_its_parent)
{
	struct pair_table pairs = {0};
	struct graph graph;

	/* +-20 ppm are left open by each. */
	tie_drifting(&pairs, 0, 1, 150);
	tie_drifting(&pairs, 1, 2, 150);
	tie_drifting(&pairs, 2, 3, -260);
	tie_drifting(&pairs, 0, 4, -210);
	tie_drifting(&pairs, 4, 5, -15);
	tie_drifting(&pairs, 5, 6, 450);
	graph_make(&graph, 7, &pairs, NULL, 0, LIMIT);
	for (uint32_t k = 1; k < 7; k++)
		assert_int_equal(graph.node[k].is_too_fast, k == 2 || k == 6);
	graph_clear(&graph);
	pair_table_clear(&pairs);
}

/* By all ways of one more step, again and again. */
static void plain_distances(const struct pair_table *pairs, uint32_t from,
			    double distance[NODES])
{
	for (size_t i = 0; i < NODES; i++)
		distance[i] = i == from ? 0 : INFINITY;
	for (size_t round = 0; round < NODES; round++)
		for (size_t i = 0; i < pairs->count; i++) {
			const struct pair *pair = &pairs->pair[i];
			double length = graph_edge_length(pair);

			distance[pair->a] =
			    fmin(distance[pair->a], distance[pair->b] + length);
			distance[pair->b] =
			    fmin(distance[pair->b], distance[pair->a] + length);
		}
}

static void check_tree(const struct graph *graph, const struct pair_table *pairs)
{
	double distance[NODES];

	for (size_t i = 0; i < graph->islands; i++) {
		const struct island *island = &graph->island[i];

		plain_distances(pairs, island->reference, distance);
		assert_int_equal(island->member[0], island->reference);
		for (size_t k = 0; k < island->members; k++) {
			uint32_t at = island->member[k];

			assert_int_equal(graph->node[at].island, i);
			assert_true(fabs(graph->node[at].distance - distance[at]) < 1e-3);
			if (k)
				assert_true(graph->node[at].distance >=
					    graph->node[graph->node[at].parent].distance);
		}
	}
}

TEST(distances_are_those_of_all_ways)
{
	for (int i = 0; i < 100; i++) {
		struct pair_table pairs = {0};
		struct graph graph;

		for (int64_t k = draw_between(0, 60); k > 0; k--) {
			uint32_t a = (uint32_t)draw_between(0, NODES - 1);
			uint32_t b = (uint32_t)draw_between(0, NODES - 1);

			if (a != b)
				tie(&pairs, a, b, draw_real(0, 1e6));
		}
		graph_make(&graph, NODES, &pairs, NULL, -1, LIMIT);
		check_tree(&graph, &pairs);
		graph_clear(&graph);
		pair_table_clear(&pairs);
	}
}

/* Two messages may leave little room by luck. */
TEST(few_messages_make_a_long_edge)
{
	struct pair few = {.messages_ab = 1, .messages_ba = 500, .fit.margin_ns = 1e5};
	struct pair many = {.messages_ab = 900, .messages_ba = 500, .fit.margin_ns = 3e5};

	few.hulls.lower.count = few.hulls.upper.count = 1;
	many.hulls.lower.count = many.hulls.upper.count = 1;
	assert_true(graph_edge_length(&few) > graph_edge_length(&many));
	few.messages_ab = 500;
	assert_true(graph_edge_length(&few) < graph_edge_length(&many));
}
