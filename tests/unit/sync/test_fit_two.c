/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate.h"

/* Two clocks, every method. */
static const char *const method[] = {"hull", "margin", "joint", "regression", NULL};

enum { METHODS = sizeof(method) / sizeof(*method), ROUNDS = 25 };

/* Long and short runs, few and many messages, not as many each way. */
static void draw_two(struct sim *sim)
{
	sim_init(sim, 2, NSEC_PER_MSEC << draw_between(0, 26));
	sim_talk(sim, 0, 1, 1 << draw_between(0, 11), 1 << draw_between(0, 11));
}

static void truth_lies_inside_the_bounds(void **state)
{
	struct sim sim;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		draw_two(&sim);
		for (size_t k = 0; k < METHODS; k++) {
			sim_fit(&sim, method[k]);
			sim_check_bounds(&sim);
		}
		sim_clear(&sim);
	}
}

static void no_message_is_violated(void **state)
{
	struct sim sim;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		draw_two(&sim);
		for (size_t k = 0; k < METHODS; k++) {
			sim_fit(&sim, method[k]);
			if (method[k] && strcmp(method[k], "regression") == 0)
				continue;
			if (sim_violations(&sim, false))
				fail_msg("%s violates %" PRIu64 " of %zu messages",
					 method[k], sim_violations(&sim, false),
					 sim.messages);
		}
		sim_clear(&sim);
	}
}

/* More messages leave less open: a minute of them gives microseconds. */
static void a_lot_of_messages_gives_a_tight_bound(void **state)
{
	struct sim sim;

	(void)state;
	for (size_t k = 0; k < METHODS; k++) {
		sim_init(&sim, 2, 60 * SIM_SECONDS);
		sim.bounds = BOUNDS_STRAIGHT;
		sim_talk(&sim, 0, 1, 2000, 2000);
		sim_fit(&sim, method[k]);
		for (nsec_t at = 0; at <= sim.length; at += sim.length / 4) {
			uint32_t child = 1 - sim_reference(&sim, 0);
			struct sim_look look = sim_look(&sim, child, at);

			/* Two least delays, and what the extremes lie above them. */
			assert_true(look.bound.high_ns - look.bound.low_ns <
				    3 * SIM_LEAST);
		}
		assert_int_equal(sim.sync.verdict.pair[0].quality, CLOCK_ACCURATE);
		assert_true(sim_is_whole(&sim));
		sim_clear(&sim);
	}
}

/* The true rate, both by the fit and by what the region leaves open. */
static void the_rate_lies_inside_its_bounds(void **state)
{
	struct sim sim;

	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t reference, child;
		double rate;

		draw_two(&sim);
		sim_fit(&sim, NULL);
		reference = sim_reference(&sim, 0);
		child = 1 - reference;
		rate = (sim.clock[reference].piece[0].rate -
			sim.clock[child].piece[0].rate) /
		       (1 + sim.clock[child].piece[0].rate);
		assert_true(rate >= sim.sync.verdict.rate[child].low);
		assert_true(rate <= sim.sync.verdict.rate[child].high);
		sim_clear(&sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAW_TEST(truth_lies_inside_the_bounds),
	    DRAW_TEST(no_message_is_violated),
	    DRAW_TEST(a_lot_of_messages_gives_a_tight_bound),
	    DRAW_TEST(the_rate_lies_inside_its_bounds),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
