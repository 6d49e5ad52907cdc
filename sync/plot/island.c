/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void add_member(struct plot_island *island, size_t index, bool is_first)
{
	size_t at = is_first ? 0 : island->count;

	memmove(island->member + at + 1, island->member + at,
		(island->count - at) * sizeof(*island->member));
	island->member[at] = index;
	island->count++;
}

struct keyed {
	int island;
	size_t index;
};

static int by_island(const void *left, const void *right)
{
	const struct keyed *a = left, *b = right;

	if (a->island != b->island)
		return a->island < b->island ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Large islands first, then in the order of their numbers. */
static int by_size(const void *left, const void *right)
{
	const struct plot_island *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return (a->member > b->member) - (a->member < b->member);
}

/* All members stand in one array, island after island. */
static void group(struct plot_layout *layout, const struct plot_graph *graph)
{
	const size_t nodes = graph->nodes;
	struct keyed *keyed = mem_alloc(nodes * sizeof(*keyed));
	size_t *member = mem_alloc(nodes * sizeof(*member));
	size_t islands = 0;

	for (size_t i = 0; i < nodes; i++)
		keyed[i] = (struct keyed){graph->node[i].island, i};
	qsort(keyed, nodes, sizeof(*keyed), by_island);
	layout->island = mem_zalloc((nodes + 1) * sizeof(*layout->island));
	for (size_t i = 0; i < nodes; i++) {
		if (i == 0 || keyed[i].island != keyed[i - 1].island)
			layout->island[islands++].member = member + i;
		add_member(&layout->island[islands - 1], keyed[i].index,
			   graph->node[keyed[i].index].is_reference);
	}
	layout->islands = islands;
	layout->member = member;
	qsort(layout->island, islands, sizeof(*layout->island), by_size);
	free(keyed);
}

static size_t *count_degrees(const struct plot_graph *graph)
{
	size_t *degree = mem_zalloc(graph->nodes * sizeof(*degree));

	for (size_t i = 0; i < graph->edges; i++) {
		const struct plot_graph_edge *edge = &graph->edge[i];

		if (edge->a >= graph->nodes || edge->b >= graph->nodes)
			continue;
		degree[edge->a]++;
		degree[edge->b]++;
	}
	return degree;
}

/* A star has few edges but those of its middle. */
static size_t find_hub(const struct plot_island *island, const size_t *degree)
{
	size_t hub = 0, total = 0;

	for (size_t i = 0; i < island->count; i++) {
		total += degree[island->member[i]];
		if (degree[island->member[i]] > degree[island->member[hub]])
			hub = i;
	}
	if (island->count < 4 || degree[island->member[hub]] + 1 < island->count)
		return island->count;
	total = total / 2 - degree[island->member[hub]];
	return total <= island->count / 4 ? hub : island->count;
}

void plot_layout_group(struct plot_layout *layout, const struct plot_graph *graph)
{
	size_t *degree = count_degrees(graph);

	group(layout, graph);
	for (size_t i = 0; i < layout->islands; i++)
		layout->island[i].hub = find_hub(&layout->island[i], degree);
	free(degree);
}
