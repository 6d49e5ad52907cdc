/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_DRAW_H
#define CT_TEST_DRAW_H

/*
 * Random numbers of the tests of a file. The seed is printed; CT_SEED repeats a run.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "test.h"

static uint64_t draw_seed, draw_state;

/* splitmix64 (Steele, Lea and Flood 2014). */
static inline uint64_t draw(void)
{
	uint64_t z = draw_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline int64_t draw_between(int64_t least, int64_t most)
{
	uint64_t range = (uint64_t)most - (uint64_t)least + 1;

	return (int64_t)((uint64_t)least + (range ? draw() % range : draw()));
}

/* From 0 up to 1. */
static inline double draw_unit(void)
{
	return (double)(draw() >> 11) * 0x1p-53;
}

static inline double draw_real(double least, double most)
{
	return least + (most - least) * draw_unit();
}

static inline double draw_exponential(double mean)
{
	return -mean * log1p(-draw_unit());
}

static inline int draw_take_seed(void **unused)
{
	const char *given = getenv("CT_SEED");

	(void)unused;
	if (given)
		draw_seed = strtoull(given, NULL, 0);
	else if (getrandom(&draw_seed, sizeof(draw_seed), 0) != sizeof(draw_seed))
		return -1;
	draw_state = draw_seed;
	printf("seed: CT_SEED=%" PRIu64 "\n", draw_seed);
	return 0;
}

GROUP_FIXTURE(draw_take_seed, NULL)

#endif
