/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate.h"

/*
 * Clocks that bend or step by so much that no line satisfies their messages.
 * Smaller bends are straight lines to whoever knows the messages only.
 */
enum { ROUNDS = 8, BUSY = 2000 };

#define MINUTE (60 * SIM_SECONDS)

static nsec_t draw_time(void)
{
	return draw_between(MINUTE / 4, 3 * MINUTE / 4);
}

/* To a rate that is another by far, on one side or the other. */
static double other_rate(double rate)
{
	return rate > 0 ? draw_real(-SIM_DRIFT, rate - 80e-6)
			: draw_real(rate + 80e-6, SIM_DRIFT);
}

static void bend(struct sim *sim, uint32_t clock, nsec_t step)
{
	double rate = sim->clock[clock].piece[0].rate;

	sim_bend(sim, clock, draw_time(), step ? rate : other_rate(rate), step);
}

static void check_contradicted(const struct sim *sim)
{
	const struct sync *sync = &sim->sync;
	bool any = false;

	for (size_t i = 0; i < sync->pairs.count; i++)
		any |= sync->pairs.pair[i].margin_ns < 0;
	assert_true(any);
	assert_int_equal(sync->rejected, 0);
}

static void a_bend_lies_inside_the_bounds(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct sim sim;

		sim_init(&sim, 2, MINUTE);
		bend(&sim, (uint32_t)(i % 2), 0);
		sim_talk(&sim, 0, 1, BUSY, BUSY);
		sim_fit(&sim, NULL);
		check_contradicted(&sim);
		sim_check_bounds(&sim);
		sim_clear(&sim);
	}
}

static void a_step_forward_lies_inside_the_bounds(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct sim sim;

		sim_init(&sim, 2, MINUTE);
		bend(&sim, (uint32_t)(i % 2), NSEC_PER_MSEC << draw_between(0, 12));
		sim_talk(&sim, 0, 1, BUSY, BUSY);
		sim_fit(&sim, NULL);
		check_contradicted(&sim);
		sim_check_bounds(&sim);
		sim_clear(&sim);
	}
}

static void a_step_back_lies_inside_the_bounds(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct sim sim;

		sim_init(&sim, 2, MINUTE);
		bend(&sim, (uint32_t)(i % 2), -(NSEC_PER_MSEC << draw_between(0, 12)));
		sim_talk(&sim, 0, 1, BUSY, BUSY);
		sim_fit(&sim, NULL);
		check_contradicted(&sim);
		sim_check_bounds(&sim);
		sim_clear(&sim);
	}
}

/* What hangs on a clock that bends is no surer than that one. */
static void a_chain_lies_inside_the_bounds(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct sim sim;

		sim_init(&sim, 4, MINUTE);
		bend(&sim, (uint32_t)draw_between(1, 2), 0);
		sim_talk(&sim, 0, 1, BUSY, BUSY);
		sim_talk(&sim, 1, 2, BUSY, 1 << draw_between(2, 10));
		sim_talk(&sim, 2, 3, 1 << draw_between(2, 10), BUSY);
		sim.reference = "n0";
		sim_fit(&sim, NULL);
		check_contradicted(&sim);
		sim_check_bounds(&sim);
		sim_clear(&sim);
	}
}

/* Each bends some time, and each talks to each. */
static void a_cluster_lies_inside_the_bounds(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS / 2; i++) {
		struct sim sim;

		sim_init(&sim, 4, MINUTE);
		for (uint32_t k = 0; k < 4; k++)
			bend(&sim, k, 0);
		for (uint32_t a = 0; a < 4; a++)
			for (uint32_t b = 0; b < a; b++)
				sim_talk(&sim, a, b, BUSY / 2, BUSY / 2);
		sim_fit(&sim, NULL);
		check_contradicted(&sim);
		sim_check_bounds(&sim);
		sim_clear(&sim);
	}
}

/* A pause in the traffic, in which the clock bends: only the limit holds. */
static void a_pause_opens_the_bounds(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		nsec_t begin = MINUTE / 3, end = 2 * MINUTE / 3;
		struct sim sim;

		sim_init(&sim, 3, MINUTE);
		sim_bend(&sim, 1, draw_between(begin, end),
			 other_rate(sim.clock[1].piece[0].rate), 0);
		for (uint32_t k = 0; k < 2; k++) {
			sim_traffic(&sim, k, k + 1, BUSY, 0, begin);
			sim_traffic(&sim, k + 1, k, BUSY, 0, begin);
			sim_traffic(&sim, k, k + 1, BUSY, end, MINUTE);
			sim_traffic(&sim, k + 1, k, BUSY, end, MINUTE);
		}
		sim.reference = i % 2 ? "n0" : "n2";
		sim_fit(&sim, NULL);
		check_contradicted(&sim);
		sim_check_bounds(&sim);
		sim_clear(&sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAW_TEST(a_bend_lies_inside_the_bounds),
	    DRAW_TEST(a_step_forward_lies_inside_the_bounds),
	    DRAW_TEST(a_step_back_lies_inside_the_bounds),
	    DRAW_TEST(a_chain_lies_inside_the_bounds),
	    DRAW_TEST(a_cluster_lies_inside_the_bounds),
	    DRAW_TEST(a_pause_opens_the_bounds),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
