/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers: the same on every machine, and distributed as they say. */
#include "simulate/dice.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROLLS = 200000 };

/* From another implementation of the papers' definitions: must never change. */
static void test_sequence_is_fixed(void **unused)
{
	static const uint64_t wanted[] = {
	    UINT64_C(0xe1797241f7162608), UINT64_C(0x1e83e5493111d21c),
	    UINT64_C(0x94f6eced38bc2e01), UINT64_C(0x412454cc36e0d528)};
	struct dice dice;

	(void)unused;
	dice_init(&dice, 7, DICE_CLOCK, 3);
	for (int i = 0; i < 4; i++)
		assert_int_equal(dice_next(&dice), wanted[i]);
}

static void test_streams_differ(void **unused)
{
	struct dice a, b;

	(void)unused;
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

static void test_ranges(void **unused)
{
	struct dice dice;
	int least = 0, most = 0;

	(void)unused;
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

static void test_chance(void **unused)
{
	struct dice dice, before;
	int hits = 0;

	(void)unused;
	dice_init(&dice, 1, DICE_FLOW, 0);
	before = dice;
	for (int i = 0; i < 100; i++) {
		assert_false(dice_chance(&dice, dice_odds(0)));
		assert_true(dice_chance(&dice, dice_odds(1)));
	}
	/* What is certain takes no roll. */
	assert_memory_equal(&dice, &before, sizeof(dice));
	for (int i = 0; i < ROLLS; i++)
		hits += dice_chance(&dice, dice_odds(0.01));
	assert_true(abs(hits - ROLLS / 100) < 250);
}

static void test_exponential(void **unused)
{
	struct dice dice;
	double sum = 0;
	int beyond = 0;

	(void)unused;
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

static void test_normal(void **unused)
{
	struct dice dice;
	double sum = 0, squares = 0;

	(void)unused;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_sequence_is_fixed),
	    cmocka_unit_test(test_streams_differ),
	    cmocka_unit_test(test_ranges),
	    cmocka_unit_test(test_chance),
	    cmocka_unit_test(test_exponential),
	    cmocka_unit_test(test_normal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
