/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers: the same on every machine, and distributed as they say. */
#include "simulate/dice.h"

#include <math.h>
#include <stdlib.h>

#include "../test.h"

enum { ROLLS = 200000 };

/* From another implementation of the papers' definitions: must never change. */
TEST(test_sequence_is_fixed)
{
	static const uint64_t wanted[] = {
	    UINT64_C(0xe1797241f7162608), UINT64_C(0x1e83e5493111d21c),
	    UINT64_C(0x94f6eced38bc2e01), UINT64_C(0x412454cc36e0d528)};
	struct dice dice;

	dice_init(&dice, 7, DICE_CLOCK, 3);
	for (int i = 0; i < 4; i++)
		assert_int_equal(dice_next(&dice), wanted[i]);
}

TEST(test_streams_differ)
{
	struct dice a, b;

	dice_init(&a, 7, DICE_CLOCK, 3);
	for (uint64_t seed = 7; seed < 9; seed++)
		for (uint64_t number = 3; number < 5; number++)
			for (int purpose = DICE_CLOCK; purpose <= DICE_PAIR; purpose++) {
				struct dice fresh = a;

				dice_init(&b, seed, (enum dice_purpose)purpose, number);
				assert_int_equal(dice_next(&fresh) == dice_next(&b),
						 seed == 7 && number == 3 &&
						     purpose == DICE_CLOCK);
			}
}

TEST(test_ranges)
{
	struct dice dice;
	int least = 0, most = 0;

	dice_init(&dice, 1, DICE_FLOW, 0);
	for (int i = 0; i < ROLLS; i++) {
		int64_t value = dice_between(&dice, -3, 4);

		assert_true(value >= -3 && value <= 4);
		least += value == -3;
		most += value == 4;
		assert_true(dice_below(&dice, 1) == 0);
	}
	assert_true(abs(least - ROLLS / 8) < 1000 && abs(most - ROLLS / 8) < 1000);
	assert_int_equal(dice_between(&dice, 5, 5), 5);
	(void)dice_between(&dice, INT64_MIN, INT64_MAX);
}

TEST(test_chance)
{
	struct dice dice, before;
	int hits = 0;

	dice_init(&dice, 1, DICE_FLOW, 0);
	before = dice;
	for (int i = 0; i < 100; i++) {
		assert_false(dice_chance(&dice, dice_odds(0)));
		assert_true(dice_chance(&dice, dice_odds(1)));
	}
	/* A certain event takes no roll. */
	assert_memory_equal(&dice, &before, sizeof(dice));
	for (int i = 0; i < ROLLS; i++)
		hits += dice_chance(&dice, dice_odds(0.01));
	assert_true(abs(hits - ROLLS / 100) < 250);
}

TEST(test_exponential)
{
	struct dice dice;
	double sum = 0;
	int beyond = 0;

	dice_init(&dice, 1, DICE_FLOW, 0);
	assert_int_equal(dice_exponential(&dice, 0), 0);
	for (int i = 0; i < ROLLS; i++) {
		nsec_t value = dice_exponential(&dice, 1000000);

		assert_true(value >= 0 && value <= 45 * 1000000);
		sum += (double)value;
		beyond += value > 3000000;
	}
	assert_true(fabs(sum / ROLLS - 1e6) < 1e4);
	assert_true(fabs((double)beyond / ROLLS - exp(-3)) < 0.003);
	assert_true(dice_exponential(&dice, INT64_C(1) << 56) >= 0);
}

TEST(test_normal)
{
	struct dice dice;
	double sum = 0, squares = 0;

	dice_init(&dice, 1, DICE_FLOW, 0);
	for (int i = 0; i < ROLLS; i++) {
		double value = (double)dice_normal(&dice) * 0x1p-32;

		assert_true(value >= -6 && value <= 6);
		sum += value;
		squares += value * value;
	}
	assert_true(fabs(sum / ROLLS) < 0.01);
	assert_true(fabs(squares / ROLLS - 1) < 0.02);
}
