/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../svg_check.h"

#include <math.h>

#include "sync/plot/plot.h"

static char *draw_graph(const struct plot_graph *graph)
{
	char *path = mem_printf("%s/graph.svg", directory);
	struct error error = ERROR_INIT;
	char *text;

	assert_int_equal(plot_graph_write(graph, path, &error), 0);
	text = take_file(path);
	free(path);
	return text;
}

/* A ring of nodes with chords, in islands of so many. */
struct ring {
	struct plot_graph_node *node;
	struct plot_graph_edge *edge;
	struct plot_graph graph;
};

static void ring_init(struct ring *ring, size_t nodes, size_t island)
{
	ring->node = mem_zalloc(nodes * sizeof(*ring->node));
	ring->edge = mem_zalloc(2 * nodes * sizeof(*ring->edge));
	ring->graph = (struct plot_graph){"a ring", ring->node, nodes, ring->edge, 0};
	for (size_t i = 0; i < nodes; i++) {
		ring->node[i].name = mem_printf("node%zu", i);
		ring->node[i].bound_us = (double)i * 1.5;
		ring->node[i].island = (int)(i / island);
		ring->node[i].is_reference = i % island == 0;
		for (size_t k = 1; k <= 3; k += 2)
			if (i % island >= k)
				ring->edge[ring->graph.edges++] =
				    (struct plot_graph_edge){i - k, i, 10 * i, 0.25,
							     "accurate"};
	}
}

static void ring_clear(struct ring *ring)
{
	for (size_t i = 0; i < ring->graph.nodes; i++)
		free((void *)ring->node[i].name);
	free(ring->node);
	free(ring->edge);
}

static void check_ring(size_t nodes, size_t island)
{
	struct ring ring;
	char *text;

	ring_init(&ring, nodes, island);
	text = draw_graph(&ring.graph);
	check_svg(text);
	assert_has(text, ">a ring</text>");
	for (size_t i = 0; i < nodes; i++) {
		char *title = mem_printf("<title>%s: ", ring.node[i].name);

		assert_int_equal(occurrences(text, title), 1);
		free(title);
	}
	assert_int_equal(occurrences(text, ": reference</title>"),
			 (nodes + island - 1) / island);
	free(text);
	ring_clear(&ring);
}

static void graphs_of_all_sizes(void **state)
{
	static const size_t sizes[] = {0, 1, 2, 3, 4, 5, 14, 15, 16, 60, 1000};

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++)
		check_ring(sizes[i], 1000);
	check_ring(60, 1);
	check_ring(60, 7);
	check_ring(61, 20);
}

static void graph_has_what_it_shows(void **state)
{
	const struct plot_graph_node node[] = {{"web<1>", 0, 4, 1},
					       {"db", 1.25, 4, 0},
					       {"cache", -1, 4, 0},
					       {"far", NAN, -3, 1}};
	const struct plot_graph_edge edge[] = {{0, 1, 12345, 1.5, "accurate"},
					       {1, 2, 7, -1, "incomplete"},
					       {0, 2, 1, 1e300, NULL},
					       {0, 9, 5, 1, "accurate"},
					       {1, 1, 5, 1, "accurate"}};
	const struct plot_graph graph = {NULL, node, COUNT(node), edge, COUNT(edge)};
	char *text = draw_graph(&graph);

	(void)state;
	check_svg(text);
	assert_has(text, ">web&lt;1&gt;</text>");
	assert_has(text, ">\xc2\xb1"
			 "1.25 \xc2\xb5s</text>");
	assert_has(text, ">no bound</text>");
	assert_has(text, ">12,345 \xc2\xb7 \xc2\xb1"
			 "1.50 \xc2\xb5s</text>");
	assert_has(text, ">accurate: 1 pair</text>");
	assert_has(text, ">incomplete: 1 pair</text>");
	assert_has(text, ">other: 1 pair</text>");
	assert_has(text, ">width: 1 to 12,345 messages, logarithmic</text>");
	assert_has(text, "<title>db - cache: 7 messages, no bound, incomplete</title>");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(graphs_of_all_sizes),
	    cmocka_unit_test(graph_has_what_it_shows),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
