/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulated clocks: exact at every true time, and as curved as they should be. */
#include "../draw.h"

#include <string.h>

#include "simulate/clock.h"

enum { TIMES = 20000 };

static const nsec_t begin = INT64_C(1767225600) * NSEC_PER_SEC;

static struct sim_clock_plan draw_plan(void)
{
	nsec_t span = draw_between(NSEC_PER_SEC, 7200 * NSEC_PER_SEC);

	return (struct sim_clock_plan){
	    .begin_ns = begin,
	    .end_ns = begin + span,
	    .offset_ns = draw_between(-(INT64_C(1) << 60), INT64_C(1) << 60),
	    .uptime_ns = draw_between(0, INT64_C(1) << 50),
	    .drift_ppm = draw_real(-200, 200),
	    .drift_change_ppb = draw() % 2 ? draw_real(-5, 5) : 0,
	    .slew_ns = draw() % 2 ? draw_real(-5e6, 5e6) : 0,
	    .period_s = draw_real(60, 7200),
	    .phase_turns = draw_real(-1, 1),
	    .wander_ppm = draw() % 2 ? draw_real(0, 1) : 0,
	    .corners_most = 1 << 16,
	    .seed = draw(),
	};
}

static nsec_t draw_time(const struct sim_clock_plan *plan)
{
	return draw_between(plan->begin_ns, plan->end_ns);
}

static void test_sine(void **unused)
{
	(void)unused;
	for (int i = 0; i < TIMES; i++) {
		double turns = draw_real(-1000, 1000);

		assert_true(fabs(sim_clock_sine(turns) - sin(2 * M_PI * turns)) < 1e-9);
	}
}

/* A constant drift is a straight line, to the rounding of its corners. */
static void test_straight(void **unused)
{
	struct sim_clock_plan plan = {.begin_ns = begin,
				      .end_ns = begin + 86400 * NSEC_PER_SEC,
				      .offset_ns = -12345678901,
				      .uptime_ns = 777,
				      .drift_ppm = -37.25,
				      .corners_most = 64};
	struct sim_clock clock;

	(void)unused;
	sim_clock_init(&clock, &plan);
	assert_int_equal(sim_clock_real(&clock, begin), begin - 12345678901);
	assert_int_equal(sim_clock_mono(&clock, begin), 777);
	for (int i = 0; i < TIMES; i++) {
		nsec_t at = draw_between(begin - 1000 * NSEC_PER_SEC,
					 plan.end_ns + 1000 * NSEC_PER_SEC);
		double wanted = -37.25e-6 * (double)(at - begin);
		nsec_t gained = sim_clock_real(&clock, at) - at + 12345678901;

		assert_true(fabs((double)gained - wanted) <= 2);
	}
	sim_clock_clear(&clock);
}

/* The formulas, where there are any; chords leave curves by 1 ns. */
static void test_curves(void **unused)
{
	struct sim_clock_plan plan = {.begin_ns = begin,
				      .end_ns = begin + 3600 * NSEC_PER_SEC,
				      .drift_ppm = 20,
				      .drift_change_ppb = 1,
				      .slew_ns = 2e6,
				      .period_s = 1800,
				      .phase_turns = 0.125,
				      .corners_most = 1 << 16};
	struct sim_clock clock;

	(void)unused;
	sim_clock_init(&clock, &plan);
	for (int i = 0; i < TIMES; i++) {
		nsec_t at = draw_time(&plan);
		double s = (double)(at - begin) / 1e9;
		double wanted =
		    20e3 * s + 0.5 * s * s +
		    2e6 * (sin(2 * M_PI * (0.125 + s / 1800)) - sin(2 * M_PI * 0.125));

		assert_true(fabs((double)(sim_clock_real(&clock, at) - at) - wanted) <
			    2.5);
	}
	sim_clock_clear(&clock);
}

static void test_wander_grows_with_the_root_of_time(void **unused)
{
	double squares = 0;

	(void)unused;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct sim_clock_plan plan = {.begin_ns = begin,
					      .end_ns = begin + 901 * NSEC_PER_SEC,
					      .wander_ppm = 0.1,
					      .corners_most = 1 << 16,
					      .seed = seed};
		struct sim_clock clock;
		double ppm;

		sim_clock_init(&clock, &plan);
		ppm = (double)(sim_clock_real(&clock, plan.end_ns) -
			       sim_clock_real(&clock, plan.end_ns - NSEC_PER_SEC) -
			       NSEC_PER_SEC) /
		      1e3;
		squares += ppm * ppm;
		sim_clock_clear(&clock);
	}
	/* 15 minutes: 0.1 sqrt(15) = 0.387 ppm. */
	assert_true(fabs(sqrt(squares / 200) - 0.387) < 0.08);
}

static void test_forward_and_exact(void **unused)
{
	(void)unused;
	for (int i = 0; i < 60; i++) {
		struct sim_clock_plan plan = draw_plan();
		struct sim_clock clock;

		sim_clock_init(&clock, &plan);
		for (int k = 0; k < 1000; k++) {
			nsec_t at = draw_time(&plan);
			nsec_t later = at + draw_between(0, 3);
			nsec_t local = sim_clock_real(&clock, at);

			assert_true(sim_clock_real(&clock, later) >= local);
			/* The order of questions does not matter. */
			assert_int_equal(sim_clock_real(&clock, at), local);
			assert_int_equal(sim_clock_mono(&clock, at),
					 local - clock.boot_ns);
		}
		sim_clock_clear(&clock);
	}
}

static void test_corners_are_met(void **unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++) {
		struct sim_clock_plan plan = draw_plan();
		struct sim_clock clock;

		sim_clock_init(&clock, &plan);
		assert_int_equal(clock.corner[0].true_ns, plan.begin_ns);
		assert_int_equal(clock.corner[clock.corners - 1].true_ns, plan.end_ns);
		for (size_t k = 1; k < clock.corners; k++) {
			const struct sim_clock_corner *a = &clock.corner[k - 1];
			const struct sim_clock_corner *b = &clock.corner[k];
			nsec_t at = draw_between(a->true_ns, b->true_ns);
			__int128 gained =
			    (__int128)(at - a->true_ns) * (b->local_ns - a->local_ns);
			nsec_t wanted =
			    a->local_ns + (nsec_t)(gained / (b->true_ns - a->true_ns));

			assert_true(a->true_ns < b->true_ns);
			assert_int_equal(sim_clock_real(&clock, b->true_ns), b->local_ns);
			assert_true(llabs(sim_clock_real(&clock, at) - wanted) <= 1);
		}
		sim_clock_clear(&clock);
	}
}

static void test_steps(void **unused)
{
	struct sim_clock_plan plan = {.begin_ns = begin,
				      .end_ns = begin + 100 * NSEC_PER_SEC,
				      .uptime_ns = NSEC_PER_SEC,
				      .corners_most = 64};
	struct sim_clock clock;
	nsec_t at = begin + 30 * NSEC_PER_SEC, back = begin + 60 * NSEC_PER_SEC;

	(void)unused;
	sim_clock_init(&clock, &plan);
	sim_clock_add_step(&clock, back, -2 * NSEC_PER_SEC);
	sim_clock_add_step(&clock, at, 5 * NSEC_PER_MSEC);
	assert_int_equal(sim_clock_real(&clock, at - 1), at - 1);
	assert_int_equal(sim_clock_real(&clock, at), at + 5 * NSEC_PER_MSEC);
	assert_int_equal(sim_clock_real(&clock, back) - back,
			 5 * NSEC_PER_MSEC - 2 * NSEC_PER_SEC);
	assert_int_equal(sim_clock_mono(&clock, back), 61 * NSEC_PER_SEC);
	clock.trace_steps = true;
	assert_int_equal(sim_clock_mono(&clock, back),
			 61 * NSEC_PER_SEC + 5 * NSEC_PER_MSEC - 2 * NSEC_PER_SEC);
	sim_clock_clear(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAW_TEST(test_sine),
	    DRAW_TEST(test_straight),
	    DRAW_TEST(test_curves),
	    DRAW_TEST(test_wander_grows_with_the_root_of_time),
	    DRAW_TEST(test_forward_and_exact),
	    DRAW_TEST(test_corners_are_met),
	    DRAW_TEST(test_steps),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
