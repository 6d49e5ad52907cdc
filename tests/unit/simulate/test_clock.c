/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulated clocks: exact at every true time, and as curved as they should be. */
#include "../draw.h"

#include <string.h>

#include "simulate/clock.h"
#include "simulate/dice.h"

enum { TIMES = 20000 };

static const nsec_t begin = INT64_C(1767225600) * NSEC_PER_SEC;

static void init(struct sim_clock *clock, const struct scenario_clock *course,
		 nsec_t end_ns, uint64_t seed)
{
	struct dice wander;

	dice_init(&wander, seed, DICE_CLOCK, 0);
	sim_clock_init(clock, course, begin, end_ns, 1 << 16, &wander);
}

/* Any clock; returns its end. */
static nsec_t draw_clock(struct sim_clock *clock)
{
	nsec_t end_ns = begin + draw_between(NSEC_PER_SEC, 7200 * NSEC_PER_SEC);
	const struct scenario_clock course = {
	    .offset_s = draw_real(-1e9, 1e9),
	    .uptime_s = draw_real(0, 1e6),
	    .drift_ppm = draw_real(-200, 200),
	    .drift_change_ppb = draw() % 2 ? draw_real(-5, 5) : 0,
	    .slew_ms = draw() % 2 ? draw_real(-5, 5) : 0,
	    .slew_period_s = draw_real(60, 7200),
	    .slew_phase = draw_real(-1, 1),
	    .wander_ppm = draw() % 2 ? draw_real(0, 1) : 0,
	};

	init(clock, &course, end_ns, draw());
	return end_ns;
}

TEST(test_sine)
{
	for (int i = 0; i < TIMES; i++) {
		double turns = draw_real(-1000, 1000);

		assert_true(fabs(sim_clock_sine(turns) - sin(2 * M_PI * turns)) < 1e-9);
	}
}

/* A constant drift is a straight line, to the rounding of its corners. */
TEST(test_straight)
{
	const struct scenario_clock course = {
	    .offset_s = -12.345678901, .uptime_s = 777e-9, .drift_ppm = -37.25};
	nsec_t end_ns = begin + 86400 * NSEC_PER_SEC;
	struct sim_clock clock;

	init(&clock, &course, end_ns, 0);
	assert_int_equal(sim_clock_real(&clock, begin), begin - 12345678901);
	assert_int_equal(sim_clock_mono(&clock, begin), 777);
	for (int i = 0; i < TIMES; i++) {
		nsec_t at = draw_between(begin - 1000 * NSEC_PER_SEC,
					 end_ns + 1000 * NSEC_PER_SEC);
		double wanted = -37.25e-6 * (double)(at - begin);
		nsec_t gained = sim_clock_real(&clock, at) - at + 12345678901;

		assert_true(fabs((double)gained - wanted) <= 2);
	}
	sim_clock_clear(&clock);
}

/* The formulas, where there are any; chords leave curves by 1 ns. */
TEST(test_curves)
{
	const struct scenario_clock course = {.drift_ppm = 20,
					      .drift_change_ppb = 1,
					      .slew_ms = 2,
					      .slew_period_s = 1800,
					      .slew_phase = 0.125};
	nsec_t end_ns = begin + 3600 * NSEC_PER_SEC;
	struct sim_clock clock;

	init(&clock, &course, end_ns, 0);
	for (int i = 0; i < TIMES; i++) {
		nsec_t at = draw_between(begin, end_ns);
		double s = (double)(at - begin) / 1e9;
		double wanted =
		    20e3 * s + 0.5 * s * s +
		    2e6 * (sin(2 * M_PI * (0.125 + s / 1800)) - sin(2 * M_PI * 0.125));

		assert_true(fabs((double)(sim_clock_real(&clock, at) - at) - wanted) <
			    2.5);
	}
	sim_clock_clear(&clock);
}

TEST(test_wander_grows_with_the_root_of_time)
{
	const struct scenario_clock course = {.wander_ppm = 0.1};
	nsec_t end_ns = begin + 901 * NSEC_PER_SEC;
	double squares = 0;

	for (uint64_t seed = 0; seed < 200; seed++) {
		struct sim_clock clock;
		double ppm;

		init(&clock, &course, end_ns, seed);
		ppm = (double)(sim_clock_real(&clock, end_ns) -
			       sim_clock_real(&clock, end_ns - NSEC_PER_SEC) -
			       NSEC_PER_SEC) /
		      1e3;
		squares += ppm * ppm;
		sim_clock_clear(&clock);
	}
	/* 15 minutes: 0.1 sqrt(15) = 0.387 ppm. */
	assert_true(fabs(sqrt(squares / 200) - 0.387) < 0.08);
}

TEST(test_forward_and_exact)
{
	for (int i = 0; i < 60; i++) {
		struct sim_clock clock;
		nsec_t end_ns = draw_clock(&clock);

		for (int k = 0; k < 1000; k++) {
			nsec_t at = draw_between(begin, end_ns);
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

TEST(test_corners_are_met)
{
	for (int i = 0; i < 20; i++) {
		struct sim_clock clock;
		nsec_t end_ns = draw_clock(&clock);

		assert_int_equal(clock.corner[0].true_ns, begin);
		assert_int_equal(clock.corner[clock.corners - 1].true_ns, end_ns);
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

TEST(test_steps)
{
	const struct scenario_clock course = {.uptime_s = 1};
	struct sim_clock clock;
	nsec_t at = begin + 30 * NSEC_PER_SEC, back = begin + 60 * NSEC_PER_SEC;

	init(&clock, &course, begin + 100 * NSEC_PER_SEC, 0);
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

/* Both clocks gain while it lasts; an end, or a step, may lie anywhere in between. */
TEST(test_slews)
{
	const struct scenario_clock course = {.uptime_s = 1, .drift_ppm = 50};
	const struct sim_clock_slew fast = {begin + 20 * NSEC_PER_SEC,
					    begin + 40 * NSEC_PER_SEC, 500},
				    slow = {begin + 90 * NSEC_PER_SEC,
					    begin + 200 * NSEC_PER_SEC, -1e5};
	struct sim_clock clock;

	init(&clock, &course, begin + 100 * NSEC_PER_SEC, 0);
	sim_clock_add_slew(&clock, &fast);
	sim_clock_add_slew(&clock, &slow);
	assert_int_equal(sim_clock_real(&clock, fast.from_ns) - fast.from_ns,
			 NSEC_PER_MSEC);
	assert_int_equal(sim_clock_real(&clock, begin + 30 * NSEC_PER_SEC) - begin,
			 30 * NSEC_PER_SEC + 6500 * NSEC_PER_USEC);
	assert_int_equal(sim_clock_real(&clock, begin + 50 * NSEC_PER_SEC) - begin,
			 50 * NSEC_PER_SEC + 12500 * NSEC_PER_USEC);
	assert_int_equal(sim_clock_mono(&clock, begin + 50 * NSEC_PER_SEC),
			 51 * NSEC_PER_SEC + 12500 * NSEC_PER_USEC);
	assert_int_equal(sim_clock_real(&clock, begin + 95 * NSEC_PER_SEC) - begin,
			 95 * NSEC_PER_SEC + 14750 * NSEC_PER_USEC - 500 * NSEC_PER_MSEC);
	sim_clock_clear(&clock);
}
