/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate.h"

/* n0, n1 and n2 talk, n3 and n4 talk, nobody talks to n5. */
static void draw_islands(void)
{
	sim_init(6, 20 * SIM_SECONDS);
	sim_talk(0, 1, 100, 100);
	sim_talk(1, 2, 100, 100);
	sim_talk(3, 4, 100, 100);
}

SIM_TEST(each_island_has_its_reference)
{
	draw_islands();
	sim_fit(NULL);
	assert_int_equal(sim.sync.network.graph.islands, 3);
	assert_false(sim_is_whole());
	sim_check_bounds();
	assert_int_equal(sim.sync.network.graph.island[0].reference, 1);
	assert_int_equal(sim.sync.verdict.clock[1].quality, CLOCK_EXACT);
	assert_int_equal(sim.sync.verdict.clock[0].quality, CLOCK_ACCURATE);
	assert_true(sim.sync.verdict.clock[3].quality !=
		    sim.sync.verdict.clock[4].quality);
	assert_int_equal(sim.sync.verdict.clock[5].quality, CLOCK_ABSENT);
}

SIM_TEST(the_map_names_them)
{
	struct clock_map map;

	draw_islands();
	sim.reference = "n4";
	sim_fit(NULL);
	describe_clocks(&sim.sync, &sim.seen.matching, &map);
	assert_string_equal(map.reference, "n4");
	assert_int_equal(map.islands, 3);
	assert_string_equal(map.island[0].reference, "n4");
	assert_int_equal(map.island[0].traces, 2);
	assert_string_equal(map.island[0].trace[0], "n3");
	assert_string_equal(map.island[0].trace[1], "n4");
	assert_int_equal(map.island[1].traces, 3);
	assert_string_equal(map.island[2].reference, "n5");
	assert_string_equal(clock_map_find(&map, "n0")->reference, "n1");
	assert_string_equal(clock_map_find(&map, "n5")->reference, "n5");
	assert_int_equal(map.pairs, 3);
	assert_string_equal(map.pair[0].a, "n0");
	assert_string_equal(map.pair[0].b, "n1");
	assert_int_equal(map.pair[2].messages_ab, 100);
	clock_map_clear(&map);
}

SIM_TEST(a_reference_is_the_axis)
{
	draw_islands();
	for (uint32_t i = 0; i < 3; i++) {
		char name[] = {'n', (char)('0' + i), '\0'};

		sim.reference = name;
		sim_fit(NULL);
		assert_int_equal(sim.sync.network.graph.island[0].reference, i);
		assert_int_equal(sim.sync.verdict.clock[i].quality, CLOCK_EXACT);
		assert_int_equal(clock_correct(&sim.sync.verdict.clock[i], SIM_NOW),
				 SIM_NOW);
		assert_true(sim.sync.verdict.clock[i].segment[0].rate_ppb == 0);
		sim_check_bounds();
	}
}

/* No message at all: every trace is alone. */
SIM_TEST(silence_is_no_failure)
{
	sim_init(3, 20 * SIM_SECONDS);
	sim_fit(NULL);
	assert_int_equal(sim.sync.network.graph.islands, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(sim.sync.verdict.clock[i].quality, CLOCK_ABSENT);
}

/* The output must not depend on the order in which messages were found. */
SIM_TEST(the_order_of_messages_does_not_matter)
{
	struct clock_segment first[6];

	draw_islands();
	sim_fit(NULL);
	for (size_t i = 0; i < 6; i++)
		first[i] = sim.sync.verdict.clock[i].segment[0];
	for (size_t i = 0; i < sim.messages / 2; i++) {
		struct sim_message other = sim.message[i];

		sim.message[i] = sim.message[sim.messages - 1 - i];
		sim.message[sim.messages - 1 - i] = other;
	}
	sim_fit(NULL);
	for (size_t i = 0; i < 6; i++)
		assert_memory_equal(&first[i], sim.sync.verdict.clock[i].segment,
				    sizeof(struct clock_segment));
}
