/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../svg_check.h"
#include "pairs.h"

#include "sync/plot/graph.h"
#include "sync/sync.h"

struct drawn {
	struct trace *trace;
	struct network net;
	struct verdict verdict;
	uint64_t matched;
};

static char *draw_graph(const struct drawn *drawn)
{
	const struct plot_run run = {&drawn->net, &drawn->verdict, drawn->matched};
	uint32_t *order = pair_table_order(&drawn->net.pairs);
	char *path = mem_printf("%s/graph.svg", directory);
	struct error error = ERROR_INIT;
	char *text;

	assert_int_equal(plot_graph(&run, order, path, &error), 0);
	text = take_file(path);
	free(path);
	free(order);
	return text;
}

/* Make clocks without a bound, of one trace each, in islands of `island` clocks. */
static void make_clocks(struct drawn *drawn, size_t clocks, size_t island)
{
	struct clock_set *set = &drawn->net.clocks;
	struct graph *graph = &drawn->net.graph;

	*drawn = (struct drawn){.net.limit_ppm = 200};
	drawn->trace = mem_zalloc(clocks * sizeof(*drawn->trace));
	set->count = set->traces = graph->nodes = clocks;
	set->clock = mem_zalloc(clocks * sizeof(*set->clock));
	set->of_trace = mem_zalloc(clocks * sizeof(*set->of_trace));
	drawn->verdict.clock = mem_zalloc(clocks * sizeof(*drawn->verdict.clock));
	graph->node = mem_zalloc(clocks * sizeof(*graph->node));
	graph->islands = (clocks + island - 1) / island;
	graph->island = mem_zalloc(graph->islands * sizeof(*graph->island));
	for (uint32_t i = 0; i < clocks; i++) {
		struct island *of = &graph->island[i / island];
		struct clock *clock = &drawn->verdict.clock[i];
		struct trace *trace = &drawn->trace[i];

		trace->name = mem_printf("node%u", i);
		set->clock[i] = (struct run_clock){.name = trace->name, .trace = trace};
		set->of_trace[i] = (struct trace_clock){i, NULL, trace};
		graph->node[i].island = (uint32_t)(i / island);
		of->member = mem_realloc(of->member, of->members + 1, sizeof(uint32_t));
		of->member[of->members++] = i;
		of->reference = of->member[0];
		clock->segments = 1;
		clock->segment = mem_zalloc(sizeof(*clock->segment));
	}
}

static void drawn_clear(struct drawn *drawn)
{
	for (size_t i = 0; i < drawn->net.clocks.count; i++)
		free(drawn->trace[i].name);
	free(drawn->trace);
	verdict_clear(&drawn->verdict, &drawn->net);
	network_clear(&drawn->net);
}

static void set_bound(struct drawn *drawn, uint32_t clock, nsec_t bound)
{
	struct clock *of = &drawn->verdict.clock[clock];

	of->bounds = 1;
	of->bound = mem_zalloc(sizeof(*of->bound));
	of->bound[0] = (struct clock_bound){.low_ns = -bound, .high_ns = bound};
}

static void add_pair(struct drawn *drawn, uint32_t a, uint32_t b, uint64_t messages,
		     enum clock_quality quality)
{
	uint32_t index = made_pair(&drawn->net.pairs, a, b);
	struct pair *pair = &drawn->net.pairs.pair[index];

	pair->messages_ab = messages / 2;
	pair->messages_ba = messages - messages / 2;
	drawn->verdict.pair =
	    mem_realloc(drawn->verdict.pair, index + 1, sizeof(*drawn->verdict.pair));
	drawn->verdict.pair[index].quality = quality;
}

/* A ring of clocks with chords, in islands of so many. */
static void check_ring(size_t clocks, size_t island)
{
	struct drawn drawn;
	char *text;

	make_clocks(&drawn, clocks, island);
	for (uint32_t i = 0; i < clocks; i++) {
		set_bound(&drawn, i, i * 1500);
		for (uint32_t k = 1; k <= 3; k += 2)
			if (i % island >= k)
				add_pair(&drawn, i - k, i, 10 * i, CLOCK_ACCURATE);
	}
	text = draw_graph(&drawn);
	check_svg(text);
	for (size_t i = 0; i < clocks; i++) {
		char *title = mem_printf("<title>node%zu: ", i);

		assert_int_equal(occurrences(text, title), 1);
		free(title);
	}
	assert_int_equal(occurrences(text, ": reference</title>"),
			 (clocks + island - 1) / island);
	free(text);
	drawn_clear(&drawn);
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
	static const char *const names[] = {"web<1>", "db", "cache", "far"};
	struct drawn drawn;
	char *text;

	(void)state;
	make_clocks(&drawn, COUNT(names), 3);
	for (uint32_t i = 0; i < COUNT(names); i++) {
		drawn.net.clocks.clock[i].name = names[i];
	}
	set_bound(&drawn, 0, 0);
	set_bound(&drawn, 1, 1250);
	add_pair(&drawn, 0, 1, 12345, CLOCK_ACCURATE);
	add_pair(&drawn, 1, 2, 7, CLOCK_INCOMPLETE);
	add_pair(&drawn, 0, 2, 1, CLOCK_CONTRADICTORY);
	drawn.matched = 12353;
	text = draw_graph(&drawn);
	check_svg(text);
	assert_has(text, ">4 clocks, 3 pairs, 12353 messages</text>");
	assert_has(text, ">web&lt;1&gt;  reference</text>");
	assert_has(text, ">db  \xc2\xb1"
			 "1.25 \xc2\xb5s</text>");
	assert_has(text, ">cache  no bound</text>");
	assert_has(text, ">12,345 \xc2\xb7 \xc2\xb1"
			 "1.25 \xc2\xb5s</text>");
	assert_has(text, ">accurate: 1 pair</text>");
	assert_has(text, ">incomplete: 1 pair</text>");
	assert_has(text, ">contradictory: 1 pair</text>");
	assert_has(text, ">width: 1 to 12,345 messages, logarithmic</text>");
	assert_has(text, "<title>db - cache: 7 messages, no bound, incomplete</title>");
	free(text);
	drawn_clear(&drawn);
}

static void failure_leaves_nothing(void **state)
{
	char *missing = mem_printf("%s/missing/graph.svg", directory);
	struct error error = ERROR_INIT;
	struct plot_run run;
	struct drawn drawn;

	(void)state;
	make_clocks(&drawn, 2, 2);
	run = (struct plot_run){&drawn.net, &drawn.verdict, 0};
	assert_int_equal(plot_graph(&run, NULL, missing, &error), -1);
	assert_has(error_text(&error), "/missing/graph.svg: No such file");
	assert_int_equal(files_in(directory), 0);
	error_clear(&error);
	drawn_clear(&drawn);
	free(missing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(graphs_of_all_sizes),
	    cmocka_unit_test(graph_has_what_it_shows),
	    cmocka_unit_test(failure_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
