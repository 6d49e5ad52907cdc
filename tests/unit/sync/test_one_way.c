/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate.h"

enum { ROUNDS = 10 };

/* Each answers to the next one only; the whole ring bounds every clock. */
SIM_TEST(a_ring_of_one_way_traffic_is_bounded)
{
	for (int i = 0; i < ROUNDS; i++) {
		/* Up to 7 hops, each of which may wait a second and drift. */
		nsec_t most = (i % 2 ? 2 : 6) * NSEC_PER_MSEC;

		sim_init((size_t)draw_between(3, 7), 20 * SIM_SECONDS);
		sim.bounds = i % 2 ? BOUNDS_STRAIGHT : BOUNDS_LIMIT;
		for (uint32_t k = 0; k < sim.clocks; k++)
			sim_traffic(k, (k + 1) % (uint32_t)sim.clocks,
				    (int)draw_between(50, 400), 0, sim.length);
		sim_fit(NULL);
		sim_check_bounds();
		assert_int_equal(sim_violations(false), 0);
		assert_int_equal(sim.sync.network.graph.islands, 1);
		for (size_t k = 0; k < sim.clocks; k++) {
			struct sim_look look = sim_look(k, sim.length / 2);

			/* Once around takes what every hop takes at least. */
			assert_true(look.bound.high_ns < most);
			assert_true(look.bound.low_ns > -most);
		}
	}
}

/* A clock that only receives has no upper bound, one that only sends no lower one. */
static void check_open_side(uint32_t receiver)
{
	uint32_t child = 1 - sim_reference(0);
	struct clock_bound bound = sim_look(child, sim.length / 2).bound;

	if (child == receiver) {
		assert_int_equal(bound.high_ns, NSEC_MAX);
		assert_true(bound.low_ns > NSEC_MIN);
	} else {
		assert_int_equal(bound.low_ns, NSEC_MIN);
		assert_true(bound.high_ns < NSEC_MAX);
	}
	assert_int_equal(sim.sync.verdict.clock[child].quality, CLOCK_INCOMPLETE);
	assert_int_equal(sim.sync.verdict.pair[0].quality, CLOCK_INCOMPLETE);
	assert_false(sim_is_whole());
}

SIM_TEST(one_direction_leaves_one_side_open)
{
	static const char *const method[] = {"hull", "margin", "joint", "regression"};

	for (uint32_t i = 0; i < ROUNDS; i++) {
		sim_init(2, NSEC_PER_SEC << draw_between(0, 10));
		sim.reference = i / 2 % 2 ? "n1" : "n0";
		sim_traffic(i % 2, 1 - i % 2, 1 << draw_between(0, 9), 0, sim.length);
		sim_fit(method[i % 4]);
		sim_check_bounds();
		check_open_side(1 - i % 2);
		assert_int_equal(sim_violations(false), 0);
	}
}

/* Check the bounded sides of a clock, and that it is incomplete unless both are. */
static void check_sides(uint32_t clock, bool low, bool high)
{
	struct clock_bound bound = sim_look(clock, sim.length / 2).bound;

	assert_int_equal(bound.low_ns > NSEC_MIN, low);
	assert_int_equal(bound.high_ns < NSEC_MAX, high);
	assert_int_equal(sim.sync.verdict.clock[clock].quality == CLOCK_INCOMPLETE,
			 !low || !high);
}

/* A receive bounds its node's time from below, a send from above; so do chains. */
SIM_TEST(direction_decides_which_side_is_bounded)
{
	for (int is_closed = 0; is_closed < 2; is_closed++) {
		sim_init(4, 20 * SIM_SECONDS);
		sim.reference = "n0";
		sim_traffic(0, 1, 100, 0, sim.length);
		sim_talk(1, 2, 100, 100);
		sim_traffic(3, 2, 100, 0, sim.length);
		if (is_closed)
			sim_traffic(2, 0, 100, 0, sim.length);
		sim_fit(NULL);
		sim_check_bounds();
		assert_int_equal(sim.sync.network.graph.islands, 1);
		check_sides(1, true, is_closed);
		check_sides(2, true, is_closed);
		/* No chain of messages leads from 0 to 3; one from 3 to 0 by the ring. */
		check_sides(3, false, is_closed);
	}
}

/* All is said within 100 ms of 20 s. */
SIM_TEST(a_blink_leaves_the_drift_to_the_limit)
{
	for (int i = 0; i < ROUNDS; i++) {
		nsec_t begin = draw_between(0, 19900) * NSEC_PER_MSEC, far;
		const struct rate_bound *rate;
		struct clock_bound bound;
		uint32_t child;
		bool late;

		sim_init(2, 20 * SIM_SECONDS);
		sim_traffic(0, 1, 300, begin, begin + 100 * NSEC_PER_MSEC);
		sim_traffic(1, 0, 300, begin, begin + 100 * NSEC_PER_MSEC);
		sim_fit(NULL);
		sim_check_bounds();
		child = 1 - sim_reference(0);
		rate = &sim.sync.verdict.rate[child];
		assert_true(rate->high > 0.99 * SIM_LIMIT * 1e-6);
		assert_true(rate->low < -0.99 * SIM_LIMIT * 1e-6);
		/* From the blink to the further end it opens by the limit. */
		late = begin > sim.length / 2;
		far = late ? begin : sim.length - begin;
		bound = sim_look(child, late ? 0 : sim.length).bound;
		assert_true((double)(bound.high_ns - bound.low_ns) >
			    2 * 0.99 * SIM_LIMIT * 1e-6 *
				(double)(far - 100 * NSEC_PER_MSEC));
	}
}

/* One message each way says where the clocks are, and nothing of their drift. */
SIM_TEST(two_messages_are_bounded)
{
	for (int i = 0; i < ROUNDS; i++) {
		sim_init(2, NSEC_PER_SEC << draw_between(0, 10));
		sim_talk(0, 1, 1, 1);
		sim_fit(NULL);
		sim_check_bounds();
		assert_int_equal(sim_violations(false), 0);
	}
}

/* Clocks that drift beyond the default need a wider limit, and then are fine. */
SIM_TEST(the_limit_is_that_of_the_options)
{
	sim_init(3, 20 * SIM_SECONDS);
	sim.limit_ppm = 2000;
	sim.clock[0].piece[0].rate = 900e-6;
	sim.clock[1].piece[0].rate = -900e-6;
	sim_talk(0, 1, 200, 200);
	sim_talk(1, 2, 1, 1);
	sim_fit(NULL);
	sim_check_bounds();
	assert_int_equal(sim_violations(false), 0);
}
