/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_DICE_H
#define CT_SIMULATE_DICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"

/*
 * Random numbers that are the same on every machine: xoshiro256** (Blackman
 * and Vigna 2018), seeded by splitmix64. Distributions use integers alone.
 * Each random quantity has a generator of its own, so that a change of one part of a
 * scenario leaves the others unchanged.
 */
struct dice {
	uint64_t state[4];
};

/* The purpose of a generator; `number` distinguishes generators of the same purpose. */
enum dice_purpose {
	DICE_CLOCK = 1,
	DICE_PAIR,
	DICE_FLOW,
	DICE_HOST,
	DICE_TOPOLOGY,
	DICE_FALSE_MATCH,
	DICE_BOOT,
	DICE_LOAD,
	DICE_CLAIMS,
};

void dice_init(struct dice *dice, uint64_t seed, enum dice_purpose purpose,
	       uint64_t number);

uint64_t dice_next(struct dice *dice);

/* Return a number from 0 to `count` - 1; `count` is not 0. */
uint64_t dice_below(struct dice *dice, uint64_t count);

/* Return a number from `least` to `most`, both included; least <= most. */
int64_t dice_between(struct dice *dice, int64_t least, int64_t most);

/* Convert a probability from 0 to 1 to the odds that dice_chance() expects. */
uint64_t dice_odds(double share);

bool dice_chance(struct dice *dice, uint64_t odds);

/* Draw from an exponential distribution, cut at 44 times the mean; `mean` from 0 to 2^56
 * ns. */
nsec_t dice_exponential(struct dice *dice, nsec_t mean);

/* Draw by enum scenario_spread: always `mean`, uniform from 0 to `most`, or exponential.
 */
nsec_t dice_spread(struct dice *dice, int spread, nsec_t mean, nsec_t most);

/*
 * Draw from a nearly normal distribution with deviation 1, in units of 2^-32: the sum of
 * twelve uniform numbers, never beyond 6 deviations.
 */
int64_t dice_normal(struct dice *dice);

#endif
