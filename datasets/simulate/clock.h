/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_CLOCK_H
#define CT_SIMULATE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"
#include "simulate/scenario.h"

/*
 * Random numbers that are the same on every machine: xoshiro256** (Blackman
 * and Vigna 2018), seeded by splitmix64. Distributions use integers alone.
 * Everything that is random has dice of its own, so that a change of one
 * part of a scenario leaves the others as they were.
 */
struct dice {
	uint64_t state[4];
};

/* What dice are for; `number` tells apart those for the same purpose. */
enum dice_purpose {
	DICE_CLOCK = 1,
	DICE_PAIR,
	DICE_FLOW,
	DICE_HOST,
	DICE_TOPOLOGY,
	DICE_FALSE_MATCH,
	DICE_BOOT,
	DICE_LOAD,
};

void dice_init(struct dice *dice, uint64_t seed, enum dice_purpose purpose,
	       uint64_t number);

uint64_t dice_next(struct dice *dice);

/* From 0 up to but without `count`, which is not 0. */
uint64_t dice_below(struct dice *dice, uint64_t count);

/* From least to most, both included; least <= most. */
int64_t dice_between(struct dice *dice, int64_t least, int64_t most);

/* A probability as dice_chance takes it; share from 0 to 1. */
uint64_t dice_odds(double share);

bool dice_chance(struct dice *dice, uint64_t odds);

/* Exponential, up to 44 times the mean; mean from 0 to 2^56 ns. */
nsec_t dice_exponential(struct dice *dice, nsec_t mean);

/* By enum scenario_spread: the mean, up to `most`, or exponential. */
nsec_t dice_spread(struct dice *dice, int spread, nsec_t mean, nsec_t most);

/*
 * Nearly normal with deviation 1, in 2^-32: the sum of twelve even numbers,
 * never beyond 6 deviations.
 */
int64_t dice_normal(struct dice *dice);

/*
 * The clocks of one node, at any true time.
 *
 * A clock is a polygon by definition: between its corners it is straight, and
 * where it should be curved the corners are so close that the chord leaves
 * the curve by 1 ns. So truth.csv, which holds the corners, is exact: what
 * lies between two rows is their interpolation, rounded to a nanosecond.
 * Steps are kept apart from the polygon, which only ever goes forward.
 */
struct sim_clock_step {
	nsec_t true_ns;   /* the first instant that reads the new time */
	nsec_t amount_ns; /* forward where positive */
};

/* From one true time to another the clock runs fast by `ppm`: the corners say it, too. */
struct sim_clock_slew {
	nsec_t from_ns, to_ns;
	double ppm;
};

struct sim_clock_corner {
	nsec_t true_ns, local_ns;
	int64_t rate; /* from here on, over true time less 1, in 2^-62 */
};

struct sim_clock {
	struct sim_clock_corner *corner;
	size_t corners, capacity;
	size_t at; /* the last one used: times come nearly in order */
	struct sim_clock_step *step;
	size_t steps, step_capacity;
	struct sim_clock_slew *slew; /* as they were added */
	size_t slews, slew_capacity;
	bool trace_steps; /* steps show in CLOCK_MONOTONIC too */
	nsec_t boot_ns;   /* CLOCK_REALTIME less CLOCK_MONOTONIC, before any step */
	struct scenario_clock course; /* how it runs */
};

/*
 * A clock of this course, with corners from true begin_ns to end_ns: at most so many, 64
 * at least. `wander` are the dice of its wander.
 */
void sim_clock_init(struct sim_clock *clock, const struct scenario_clock *course,
		    nsec_t begin_ns, nsec_t end_ns, size_t corners_most,
		    const struct dice *wander);

/*
 * The clock of a node, numbered from 0: drawn within what the scenario says of all, exact
 * where it says so of one.
 */
void sim_clock_draw(struct sim_clock *clock, const struct scenario *scenario,
		    uint64_t seed, uint32_t node, nsec_t begin_ns, nsec_t end_ns);

void sim_clock_add_step(struct sim_clock *clock, nsec_t true_ns, nsec_t amount_ns);
void sim_clock_add_slew(struct sim_clock *clock, const struct sim_clock_slew *slew);
void sim_clock_clear(struct sim_clock *clock);

/* CLOCK_REALTIME and CLOCK_MONOTONIC at a true time, also before and after the ends. */
nsec_t sim_clock_real(struct sim_clock *clock, nsec_t true_ns);
nsec_t sim_clock_mono(struct sim_clock *clock, nsec_t true_ns);

/* sin(2 pi x) by sums and products alone, which every machine does alike. */
double sim_clock_sine(double turns);

#endif
