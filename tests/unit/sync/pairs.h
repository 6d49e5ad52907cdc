/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_PAIRS_H
#define CT_TEST_PAIRS_H

/* Pairs without a log of messages. */
#include "base/mem.h"
#include "sync/pair/pair.h"

/* The index of a pair of two clocks, added to the table if it is new. */
static inline uint32_t made_pair(struct pair_table *pairs, uint32_t a, uint32_t b)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a;
	struct pair *pair = pairs->pair;

	for (uint32_t i = 0; i < pairs->count; i++)
		if (pair[i].a == low && pair[i].b == high)
			return i;
	pair = mem_realloc(pair, pairs->count + 1, sizeof(*pair));
	pair[pairs->count] =
	    (struct pair){.a = low, .b = high, .hulls.upper.upper = true};
	pairs->pair = pair;
	return (uint32_t)pairs->count++;
}

#endif
