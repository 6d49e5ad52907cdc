/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../svg_check.h"
#include "pairs.h"

#include "sync/plot/plot.h"

static char *draw_graph(const struct sync *sync)
{
	uint32_t *order = pair_table_order(&sync->pairs);
	char *path = mem_printf("%s/graph.svg", directory);
	struct error error = ERROR_INIT;
	char *text;

	assert_int_equal(plot_graph(sync, order, path, &error), 0);
	text = take_file(path);
	free(path);
	free(order);
	return text;
}

/* So many clocks without a bound, of one trace each, in islands of so many. */
static void make_clocks(struct sync *sync, size_t clocks, size_t island)
{
	static const struct sync_options options = {.drift_limit_ppm = 200};

	sync_init(sync, &options);
	sync->clocks = sync->set.count = sync->seen.traces = clocks;
	sync->seen.trace = mem_zalloc(clocks * sizeof(*sync->seen.trace));
	sync->set.clock = mem_zalloc(clocks * sizeof(*sync->set.clock));
	sync->set.of_trace = mem_zalloc(clocks * sizeof(*sync->set.of_trace));
	sync->fitted = mem_zalloc(clocks * sizeof(*sync->fitted));
	sync->graph.nodes = clocks;
	sync->graph.node = mem_zalloc(clocks * sizeof(*sync->graph.node));
	sync->graph.islands = (clocks + island - 1) / island;
	sync->graph.island =
	    mem_zalloc(sync->graph.islands * sizeof(*sync->graph.island));
	for (uint32_t i = 0; i < clocks; i++) {
		struct island *of = &sync->graph.island[i / island];
		struct clock *clock = &sync->fitted[i];

		sync->seen.trace[i].name = mem_printf("node%u", i);
		sync->set.clock[i] = (struct run_clock){.name = sync->seen.trace[i].name,
							.first_trace = i};
		sync->set.of_trace[i].clock_index = i;
		sync->graph.node[i].island = (uint32_t)(i / island);
		of->member = mem_realloc(of->member, of->members + 1, sizeof(uint32_t));
		of->member[of->members++] = i;
		of->reference = of->member[0];
		clock->segments = 1;
		clock->segment = mem_zalloc(sizeof(*clock->segment));
	}
}

static void set_bound(struct sync *sync, uint32_t clock, nsec_t bound)
{
	struct clock *of = &sync->fitted[clock];

	of->bounds = 1;
	of->bound = mem_zalloc(sizeof(*of->bound));
	of->bound[0] = (struct clock_bound){.low_ns = -bound, .high_ns = bound};
}

static void add_pair(struct sync *sync, uint32_t a, uint32_t b, uint64_t messages,
		     enum clock_quality quality)
{
	uint32_t index = made_pair(&sync->pairs, a, b);
	struct pair *pair = &sync->pairs.pair[index];

	pair->messages_ab = messages / 2;
	pair->messages_ba = messages - messages / 2;
	pair->quality = quality;
}

/* A ring of clocks with chords, in islands of so many. */
static void check_ring(size_t clocks, size_t island)
{
	struct sync sync;
	char *text;

	make_clocks(&sync, clocks, island);
	for (uint32_t i = 0; i < clocks; i++) {
		set_bound(&sync, i, i * 1500);
		for (uint32_t k = 1; k <= 3; k += 2)
			if (i % island >= k)
				add_pair(&sync, i - k, i, 10 * i, CLOCK_ACCURATE);
	}
	text = draw_graph(&sync);
	check_svg(text);
	for (size_t i = 0; i < clocks; i++) {
		char *title = mem_printf("<title>node%zu: ", i);

		assert_int_equal(occurrences(text, title), 1);
		free(title);
	}
	assert_int_equal(occurrences(text, ": reference</title>"),
			 (clocks + island - 1) / island);
	free(text);
	sync_clear(&sync);
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
	struct sync sync;
	char *text;

	(void)state;
	make_clocks(&sync, COUNT(names), 3);
	for (uint32_t i = 0; i < COUNT(names); i++) {
		sync.set.clock[i].name = names[i];
	}
	set_bound(&sync, 0, 0);
	set_bound(&sync, 1, 1250);
	add_pair(&sync, 0, 1, 12345, CLOCK_ACCURATE);
	add_pair(&sync, 1, 2, 7, CLOCK_INCOMPLETE);
	add_pair(&sync, 0, 2, 1, CLOCK_CONTRADICTORY);
	sync.seen.matching.matched = 12353;
	text = draw_graph(&sync);
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
	sync_clear(&sync);
}

static void failure_leaves_nothing(void **state)
{
	char *missing = mem_printf("%s/missing/graph.svg", directory);
	struct error error = ERROR_INIT;
	struct sync sync;

	(void)state;
	make_clocks(&sync, 2, 2);
	assert_int_equal(plot_graph(&sync, NULL, missing, &error), -1);
	assert_has(error_text(&error), "/missing/graph.svg: No such file");
	assert_int_equal(files_in(directory), 0);
	error_clear(&error);
	sync_clear(&sync);
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
