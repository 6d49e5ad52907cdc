/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Octaves of magnitudes, twice for the sign; values below PARTS have bins of their own,
 * in the first octave of their sign. */
enum { OCTAVES = 64, PARTS_BITS = 7, PARTS = 1 << PARTS_BITS, STEPS = 3 * 20 };

struct distribution_bins {
	uint64_t *octave[2 * OCTAVES]; /* of PARTS each, NULL where none fell into it */
	uint64_t step[STEPS];          /* how many from 1, 2, 5, 10, ... on */
	uint64_t below_one;
};

struct place {
	size_t octave, part;
};

static struct place place_of(int64_t value)
{
	uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	struct place place = {0};

	if (size >= PARTS) {
		int top = 63 - __builtin_clzll(size), shift = top - PARTS_BITS;

		place.octave = (size_t)shift + 1;
		place.part = (size_t)(size >> shift) - PARTS;
	} else {
		place.part = (size_t)size;
	}
	if (value < 0)
		place.octave += OCTAVES;
	return place;
}

/* The middle of a bin. */
static int64_t middle_of(size_t octave, size_t part)
{
	bool negative = octave >= OCTAVES;
	uint64_t size, width = 1;

	octave %= OCTAVES;
	if (octave) {
		width = (uint64_t)1 << (octave - 1);
		size = (PARTS + part) * width + width / 2;
	} else {
		size = part;
	}
	return negative ? (int64_t)(0 - size) : (int64_t)size;
}

/* 1, 2, 5, 10, ... */
static int64_t step_begin(size_t step)
{
	static const int64_t first[] = {1, 2, 5};
	int64_t value = first[step % 3];

	for (size_t i = 0; i < step / 3; i++)
		if (__builtin_mul_overflow(value, 10, &value))
			return INT64_MAX;
	return value;
}

static size_t step_of(int64_t value)
{
	size_t step = 0;

	while (value >= 10) {
		value /= 10;
		step += 3;
	}
	return step + (value >= 5 ? 2 : value >= 2 ? 1 : 0);
}

static void count_in_step(struct distribution_bins *bins, int64_t value)
{
	if (value < 1)
		bins->below_one++;
	else
		bins->step[step_of(value)]++;
}

static void count_in_bin(struct distribution_bins *bins, int64_t value, uint64_t times)
{
	struct place place = place_of(value);
	uint64_t **octave = &bins->octave[place.octave];

	if (!*octave)
		*octave = mem_zalloc(PARTS * sizeof(**octave));
	(*octave)[place.part] += times;
}

static void to_bins(struct distribution *distribution)
{
	struct distribution_bins *bins = mem_zalloc(sizeof(*bins));

	for (size_t i = 0; i < distribution->count; i++) {
		count_in_bin(bins, distribution->value[i], 1);
		count_in_step(bins, distribution->value[i]);
	}
	free(distribution->value);
	distribution->value = NULL;
	distribution->room = 0;
	distribution->bins = bins;
}

void distribution_add(struct distribution *distribution, int64_t value)
{
	double difference;

	if (!distribution->bins && distribution->count == DISTRIBUTION_EXACT)
		to_bins(distribution);
	if (distribution->bins) {
		count_in_bin(distribution->bins, value, 1);
		count_in_step(distribution->bins, value);
	} else {
		distribution->value =
		    mem_grow(distribution->value, distribution->count,
			     &distribution->room, sizeof(*distribution->value));
		distribution->value[distribution->count] = value;
		distribution->sorted = false;
	}
	if (!distribution->count || value < distribution->least)
		distribution->least = value;
	if (!distribution->count || value > distribution->most)
		distribution->most = value;
	distribution->count++;
	distribution->sum += value;
	difference = (double)value - distribution->mean;
	distribution->mean += difference / (double)distribution->count;
	distribution->square += difference * ((double)value - distribution->mean);
}

/* Means and squares of two parts: Chan, Golub, LeVeque 1979. */
static void merge_moments(struct distribution *to, const struct distribution *from)
{
	double n = (double)to->count, m = (double)from->count;
	double difference = from->mean - to->mean;

	to->mean += difference * m / (n + m);
	to->square += from->square + difference * difference * n * m / (n + m);
	to->sum += from->sum;
	to->least = from->least < to->least ? from->least : to->least;
	to->most = from->most > to->most ? from->most : to->most;
	to->count += from->count;
}

void distribution_merge(struct distribution *to, const struct distribution *from)
{
	if (!from->bins) {
		for (size_t i = 0; i < from->count; i++)
			distribution_add(to, from->value[i]);
		return;
	}
	if (!to->bins)
		to_bins(to);
	if (!to->count) {
		to->least = from->least;
		to->most = from->most;
	}
	for (size_t i = 0; i < 2 * OCTAVES; i++)
		for (size_t k = 0; from->bins->octave[i] && k < PARTS; k++)
			if (from->bins->octave[i][k])
				count_in_bin(to->bins, middle_of(i, k),
					     from->bins->octave[i][k]);
	merge_moments(to, from);
	to->bins->below_one += from->bins->below_one;
	for (size_t i = 0; i < STEPS; i++)
		to->bins->step[i] += from->bins->step[i];
}

bool distribution_is_exact(const struct distribution *distribution)
{
	return !distribution->bins;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t clamp(const struct distribution *distribution, int64_t value)
{
	return value < distribution->least  ? distribution->least
	       : value > distribution->most ? distribution->most
					    : value;
}

/* The bin with the rank-th value, from the most negative on. */
static int64_t find_rank(const struct distribution *distribution, uint64_t rank)
{
	uint64_t before = 0;

	for (size_t i = 0; i < 2 * OCTAVES; i++) {
		bool negative = i < OCTAVES;
		size_t octave = negative ? 2 * OCTAVES - 1 - i : i - OCTAVES;
		const uint64_t *part = distribution->bins->octave[octave];

		for (size_t k = 0; part && k < PARTS; k++) {
			size_t at = negative ? PARTS - 1 - k : k;

			before += part[at];
			if (before >= rank)
				return clamp(distribution, middle_of(octave, at));
		}
	}
	return distribution->most;
}

int64_t distribution_percentile(struct distribution *distribution, double share)
{
	uint64_t rank;

	if (!distribution->count)
		return 0;
	rank = (uint64_t)ceil(share * (double)distribution->count - 1e-9);
	if (rank < 1)
		rank = 1;
	if (rank > distribution->count)
		rank = distribution->count;
	if (rank == 1)
		return distribution->least;
	if (rank == distribution->count)
		return distribution->most;
	if (distribution->bins)
		return find_rank(distribution, rank);
	if (!distribution->sorted)
		qsort(distribution->value, distribution->count,
		      sizeof(*distribution->value), compare);
	distribution->sorted = true;
	return distribution->value[rank - 1];
}

double distribution_deviation(const struct distribution *distribution)
{
	return distribution->count > 1
		   ? sqrt(distribution->square / (double)(distribution->count - 1))
		   : 0;
}

bool distribution_bin(const struct distribution *distribution, size_t n, int64_t *from,
		      int64_t *to, uint64_t *count)
{
	if (n > STEPS)
		return false;
	*from = n ? step_begin(n - 1) : INT64_MIN;
	*to = step_begin(n);
	*count = 0;
	if (distribution->bins)
		*count =
		    n ? distribution->bins->step[n - 1] : distribution->bins->below_one;
	else
		for (size_t i = 0; i < distribution->count; i++)
			*count += distribution->value[i] < 1
				      ? n == 0
				      : n == step_of(distribution->value[i]) + 1;
	return *from < INT64_MAX;
}

void distribution_clear(struct distribution *distribution)
{
	for (size_t i = 0; distribution->bins && i < 2 * OCTAVES; i++)
		free(distribution->bins->octave[i]);
	free(distribution->bins);
	free(distribution->value);
	memset(distribution, 0, sizeof(*distribution));
}
