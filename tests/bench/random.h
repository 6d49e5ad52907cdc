/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_RANDOM_H
#define CT_TESTS_BENCH_RANDOM_H

#include <stdint.h>

#define RANDOM_SEED 0x2545f4914f6cdd1du /* the same in every run */

/* xorshift64* (Vigna 2016): the next of 64 bits; the state must not be 0. */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

/* Between 0 and 1, neither included. */
static inline double random_share(uint64_t *state)
{
	return ((double)(random_next(state) >> 12) + 0.5) * 0x1p-52;
}

#endif
