/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate.h"

#include "sync/bounds/doubt.h"
#include "sync/print.h"

/* The stage that sets all qualities, without a trace that was read or a message. */

enum { CLOCKS = 3, TRACES = 5, LENGTH_NS = 1000000000 };

/* A chain: clock 0 is the reference, 1 has messages with it, and 2 has some with 1. */
struct bare {
	struct trace trace[TRACES];
	struct run_clock clock[CLOCKS];
	struct trace_clock of_trace[TRACES];
	struct tie tie;
	struct pair pair[CLOCKS - 1];
	struct graph_node node[CLOCKS];
	uint32_t member[CLOCKS], inside[CLOCKS - 1];
	struct island island;
	struct hull_point corner[2];
	struct network net;
	struct curves curves;
	struct latencies latencies;
	struct bounds bounds;
	struct verdict verdict;
	struct problem_list problems;
};

static void set_pair(struct bare *bare, uint32_t index)
{
	struct pair *pair = &bare->pair[index];

	*pair = (struct pair){.a = index,
			      .b = index + 1,
			      .messages_ab = 100,
			      .messages_ba = 100,
			      .fit.margin_ns = 1000};
	pair->hulls.lower.point = pair->hulls.upper.point = bare->corner;
	pair->hulls.lower.count = pair->hulls.upper.count = 2;
	bare->inside[index] = index;
}

static void set_clock(struct bare *bare, uint32_t index)
{
	struct clock *clock = &bare->curves.clock[index];
	struct clock_limits *limits = &bare->bounds.clock[index];

	bare->clock[index] = (struct run_clock){.name = "",
						.trace = &bare->trace[index],
						.end_ns = LENGTH_NS,
						.oscillator = -1};
	bare->node[index] = (struct graph_node){
	    .place = index, .parent = (int)index - 1, .parent_pair = (int)index - 1};
	bare->member[index] = index;
	clock->end_ns = LENGTH_NS;
	clock->segments = limits->bounds = 1;
	clock->segment = mem_zalloc(sizeof(*clock->segment));
	limits->bound = mem_alloc(sizeof(*limits->bound));
	*limits->bound = (struct clock_bound){0, -1000, 1000};
}

static void bare_init(struct bare *bare)
{
	*bare = (struct bare){.corner = {{0, 0}, {LENGTH_NS, LENGTH_NS}}};
	bare->curves.clock = mem_zalloc(CLOCKS * sizeof(*bare->curves.clock));
	bare->bounds.clock = mem_zalloc(CLOCKS * sizeof(*bare->bounds.clock));
	bare->latencies.pair = mem_zalloc(CLOCKS * sizeof(*bare->latencies.pair));
	bare->latencies.quick = mem_zalloc(CLOCKS * sizeof(*bare->latencies.quick));
	for (uint32_t i = 0; i < CLOCKS; i++)
		set_clock(bare, i);
	for (uint32_t i = 0; i + 1 < CLOCKS; i++)
		set_pair(bare, i);
	/* Trace 3 shares clock 1, and trace 4 is tied to clock 0. */
	for (uint32_t i = 0; i < TRACES; i++)
		bare->of_trace[i] = (struct trace_clock){i < CLOCKS ? i : CLOCKS + 1 - i,
							 NULL, &bare->trace[i], false};
	bare->of_trace[3].clock_index = 1;
	bare->of_trace[4].clock_index = 0;
	bare->of_trace[4].tie = &bare->tie;
	bare->island = (struct island){.member = bare->member,
				       .members = CLOCKS,
				       .inside = bare->inside,
				       .insides = CLOCKS - 1};
	bare->net = (struct network){.limit = 200e-6,
				     .limit_ppm = 200,
				     .clocks = {.clock = bare->clock,
						.count = CLOCKS,
						.of_trace = bare->of_trace,
						.traces = TRACES},
				     .pairs = {bare->pair, CLOCKS - 1},
				     .graph = {.node = bare->node,
					       .nodes = CLOCKS,
					       .island = &bare->island,
					       .islands = 1}};
}

/* Judge, compare the qualities of the three clocks, and free everything. */
static void check(struct bare *bare, enum clock_quality first, enum clock_quality second,
		  enum clock_quality third)
{
	judge(&bare->net, &bare->curves, &bare->latencies, &bare->bounds, &bare->verdict,
	      &bare->problems);
	assert_int_equal(bare->verdict.clock[0].quality, first);
	assert_int_equal(bare->verdict.clock[1].quality, second);
	assert_int_equal(bare->verdict.clock[2].quality, third);
	assert_int_equal(verdict_is_whole(&bare->net, &bare->verdict),
			 second != CLOCK_INCOMPLETE && third != CLOCK_INCOMPLETE);
	verdict_clear(&bare->verdict, &bare->net);
	bounds_clear(&bare->bounds, &bare->net);
	latencies_clear(&bare->latencies, &bare->net);
	problem_clear(&bare->problems);
}

TEST(good_clocks_are_accurate)
{
	struct bare bare;

	bare_init(&bare);
	check(&bare, CLOCK_EXACT, CLOCK_ACCURATE, CLOCK_ACCURATE);
}

TEST(the_bounds_limit_the_quality)
{
	struct bare bare;

	bare_init(&bare);
	bare.bounds.clock[2].is_open = true;
	check(&bare, CLOCK_EXACT, CLOCK_ACCURATE, CLOCK_INCOMPLETE);
	bare_init(&bare);
	bare.bounds.clock[1].is_no_line = true;
	check(&bare, CLOCK_EXACT, CLOCK_APPROXIMATE, CLOCK_ACCURATE);
	/* Some clock of the island moved, and which one is unknown. */
	bare_init(&bare);
	bare.bounds.clock[2].is_crossed = true;
	check(&bare, CLOCK_EXACT, CLOCK_APPROXIMATE, CLOCK_APPROXIMATE);
	bare_init(&bare);
	bare.bounds.clock[1].bound->high_ns = NSEC_MAX;
	check(&bare, CLOCK_EXACT, CLOCK_APPROXIMATE, CLOCK_ACCURATE);
}

TEST(a_pair_limits_what_is_below_it)
{
	struct bare bare;

	bare_init(&bare);
	bare.latencies.pair[1].violations = 1;
	check(&bare, CLOCK_EXACT, CLOCK_ACCURATE, CLOCK_APPROXIMATE);
	bare_init(&bare);
	bare.latencies.pair[0].violations = 1;
	check(&bare, CLOCK_EXACT, CLOCK_APPROXIMATE, CLOCK_APPROXIMATE);
	bare_init(&bare);
	bare.pair[1].is_doubtful = true;
	check(&bare, CLOCK_EXACT, CLOCK_APPROXIMATE, CLOCK_APPROXIMATE);
}

TEST(lone_clocks_are_absent_or_contradictory)
{
	for (int is_cut_off = 0; is_cut_off < 2; is_cut_off++) {
		struct bare bare;
		struct island island[CLOCKS];

		bare_init(&bare);
		for (uint32_t i = 0; i < CLOCKS; i++) {
			bare.node[i] = (struct graph_node){
			    .island = i, .parent = -1, .is_cut_off = is_cut_off};
			island[i] = (struct island){
			    .reference = i, .member = &bare.member[i], .members = 1};
		}
		bare.net.graph.island = island;
		bare.net.graph.islands = CLOCKS;
		bare.net.pairs.count = 0;
		judge(&bare.net, &bare.curves, &bare.latencies, &bare.bounds,
		      &bare.verdict, &bare.problems);
		for (uint32_t i = 0; i < CLOCKS; i++)
			assert_int_equal(bare.verdict.clock[i].quality,
					 is_cut_off ? CLOCK_CONTRADICTORY : CLOCK_ABSENT);
		assert_false(verdict_is_whole(&bare.net, &bare.verdict));
		verdict_clear(&bare.verdict, &bare.net);
		bounds_clear(&bare.bounds, &bare.net);
		latencies_clear(&bare.latencies, &bare.net);
	}
}

TEST(a_trace_is_as_good_as_its_clock)
{
	struct bare bare;

	bare_init(&bare);
	bare.trace[2].name = (char *)"back";
	bare.trace[2].facts.set_backs = 1;
	judge(&bare.net, &bare.curves, &bare.latencies, &bare.bounds, &bare.verdict,
	      &bare.problems);
	assert_int_equal(bare.verdict.trace[0], CLOCK_EXACT);
	assert_int_equal(bare.verdict.trace[1], CLOCK_ACCURATE);
	/* It was set back by an unknown time, which is reported. */
	assert_int_equal(bare.verdict.trace[2], CLOCK_APPROXIMATE);
	assert_int_equal(bare.problems.count, 1);
	assert_string_equal(bare.problems.item[0].place, "back");
	assert_int_equal(bare.verdict.trace[3], CLOCK_EXACT);
	assert_int_equal(bare.verdict.trace[4], CLOCK_ACCURATE);
	verdict_clear(&bare.verdict, &bare.net);
	bounds_clear(&bare.bounds, &bare.net);
	latencies_clear(&bare.latencies, &bare.net);
	problem_clear(&bare.problems);
}

/* A segment may have replaced the line of the island's fit: the map has its drift. */
TEST(the_table_has_the_drift_of_the_map)
{
	static const char *const names[CLOCKS] = {"a", "b", "c"};
	struct synchronization sync;
	struct clock_map map;
	struct bare bare;
	size_t length;
	char *text;
	FILE *file = open_memstream(&text, &length);

	bare_init(&bare);
	bare.net.clocks.traces = CLOCKS;
	for (uint32_t i = 0; i < CLOCKS; i++) {
		bare.trace[i].name = bare.trace[i].path = (char *)names[i];
		bare.clock[i].name = names[i];
	}
	bare.curves.clock[1].segment->rate_ppb = 5000;
	bare.bounds.clock[1].rate = (struct rate_bound){true, 4e-6, 7e-6};
	judge(&bare.net, &bare.curves, &bare.latencies, &bare.bounds, &bare.verdict,
	      &bare.problems);
	sync = (struct synchronization){.network = bare.net, .verdict = bare.verdict};
	describe_clocks(&sync, &(struct clock_matching){.sent = 0}, &map);
	print_clocks(&sync, &map, false, file);
	fclose(file);
	assert_true(map.clock[1].segment->rate_ppb == 5000);
	assert_non_null(strstr(text, "5.000 +-2.00"));
	free(text);
	clock_map_clear(&map);
	verdict_clear(&bare.verdict, &bare.net);
	bounds_clear(&bare.bounds, &bare.net);
	latencies_clear(&bare.latencies, &bare.net);
}

/* Find bounds of curves that are off by up to so much, and take them for the fit's. */
static void bound_wrong_curves(nsec_t most)
{
	const struct fit_options how = {.drift_limit_ppm = SIM_LIMIT,
					.max_rejected = 0.02,
					.segments.given.segments = 1,
					.bounds.threads = 1};
	struct network *net = &sim.sync.network;
	struct lines lines = {NULL, NULL};
	struct curves curves = {.clock = NULL};
	struct latencies latencies = {NULL, NULL};
	struct bounds bounds = {NULL};
	struct error error = ERROR_INIT;

	sim_add_traces();
	sim_add_messages();
	assert_int_equal(network_find(&sim.seen, &how, net, &sim.problems, &error), 0);
	assert_int_equal(lines_fit(net, NULL, &lines, &sim.problems, &error), 0);
	assert_int_equal(
	    segments_fit(net, &lines, &how.segments, &curves, &sim.problems, &error), 0);
	for (size_t i = 0; i < sim.clocks; i++) {
		if (net->graph.node[i].parent < 0)
			continue;
		curves.clock[i].segment->ref_ns += draw_between(-most, most);
		curves.clock[i].segment->rate_ppb +=
		    draw_real(-1, 1) * (double)most / (double)sim.length * 1e9;
	}
	assert_int_equal(latencies_find(net, &curves, &latencies, &error), 0);
	assert_int_equal(doubt_quickest(net, &curves, &error), 0);
	assert_int_equal(
	    bounds_find(net, &curves, &latencies, &how.bounds, &bounds, &error), 0);
	judge(net, &curves, &latencies, &bounds, &sim.sync.verdict, &sim.problems);
	bounds_clear(&bounds, net);
	latencies_clear(&latencies, net);
	curves_clear(&curves, net);
	lines_clear(&lines, net);
}

SIM_TEST(bounds_of_wrong_curves_hold_the_truth)
{
	static const nsec_t most[] = {0, 1000, SIM_LEAST / 2, 10 * SIM_MEAN,
				      10 * NSEC_PER_MSEC};

	for (int i = 0; i < 20; i++) {
		sim_init(3, 60 * SIM_SECONDS);
		sim_talk(0, 1, 500, 500);
		sim_talk(1, 2, 500, 500);
		bound_wrong_curves(most[i % 5]);
		sim_check_bounds();
	}
}
