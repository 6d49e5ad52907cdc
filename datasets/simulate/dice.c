/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/dice.h"

#include "base/hash.h"
#include "simulate/scenario.h"

static uint64_t next_splitmix(uint64_t *state)
{
	return hash_mix(*state += 0x9e3779b97f4a7c15u);
}

void dice_init(struct dice *dice, uint64_t seed, enum dice_purpose purpose,
	       uint64_t number)
{
	uint64_t state = seed;

	state = next_splitmix(&state) ^ (uint64_t)purpose;
	state = next_splitmix(&state) ^ number;
	for (int i = 0; i < 4; i++)
		dice->state[i] = next_splitmix(&state);
}

static uint64_t rotate_left(uint64_t value, int bits)
{
	return (value << bits) | (value >> (64 - bits));
}

uint64_t dice_next(struct dice *dice)
{
	uint64_t *state = dice->state;
	uint64_t result = rotate_left(state[1] * 5, 7) * 9, shifted = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= shifted;
	state[3] = rotate_left(state[3], 45);
	return result;
}

uint64_t dice_below(struct dice *dice, uint64_t count)
{
	return (uint64_t)(((unsigned __int128)dice_next(dice) * count) >> 64);
}

int64_t dice_between(struct dice *dice, int64_t least, int64_t most)
{
	uint64_t range = (uint64_t)most - (uint64_t)least + 1;

	return (int64_t)((uint64_t)least +
			 (range ? dice_below(dice, range) : dice_next(dice)));
}

uint64_t dice_odds(double share)
{
	return share >= 1 ? UINT64_MAX : share <= 0 ? 0 : (uint64_t)(share * 0x1p64);
}

bool dice_chance(struct dice *dice, uint64_t odds)
{
	/* Certain outcomes draw no number. */
	return odds && (odds == UINT64_MAX || dice_next(dice) < odds);
}

/*
 * Return -log2(value / 2^64) in units of 2^-32; value > 0. Squaring a mantissa doubles
 * its logarithm, so each carry past 2 is the next binary digit.
 */
static uint64_t negative_log2(uint64_t value)
{
	int zeros = __builtin_clzll(value);
	uint64_t mantissa = value << zeros, fraction = 0; /* 1 is 2^63 */

	for (int i = 0; i < 32; i++) {
		unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
		uint64_t high = (uint64_t)(square >> 64), carry = high >> 63;
		uint64_t next = (uint64_t)square >> 63;

		/* Both outcomes are equally likely, so avoid a branch. */
		fraction = fraction << 1 | carry;
		mantissa = high << (1 - carry) | (next & (1 - carry));
	}
	return ((uint64_t)(zeros + 1) << 32) - fraction;
}

nsec_t dice_exponential(struct dice *dice, nsec_t mean)
{
	static const uint64_t ln2 = 0xb17217f8u; /* in 2^-32 */
	uint64_t log2, log;

	if (mean <= 0)
		return 0;
	log2 = negative_log2(dice_next(dice) | 1);
	log = (uint64_t)(((unsigned __int128)log2 * ln2) >> 32);
	return (nsec_t)(((unsigned __int128)log * (uint64_t)mean) >> 32);
}

nsec_t dice_spread(struct dice *dice, int spread, nsec_t mean, nsec_t most)
{
	switch (spread) {
	case SPREAD_UNIFORM:
		return dice_between(dice, 0, most);
	case SPREAD_EXPONENTIAL:
		return dice_exponential(dice, mean);
	default:
		return mean;
	}
}

int64_t dice_normal(struct dice *dice)
{
	int64_t sum = 0;

	for (int i = 0; i < 6; i++) {
		uint64_t two = dice_next(dice);

		sum += (int64_t)(two >> 32) + (int64_t)(two & 0xffffffff);
	}
	return sum - 6 * (INT64_C(1) << 32);
}
