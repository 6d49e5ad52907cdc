/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_DICE_H
#define CT_SIMULATE_DICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"

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

/*
 * Nearly normal with deviation 1, in 2^-32: the sum of twelve even numbers,
 * never beyond 6 deviations.
 */
int64_t dice_normal(struct dice *dice);

#endif
