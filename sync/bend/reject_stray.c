/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "sync/bend/reject.h"

/*
 * How many of each direction are looked at on each side of a message, and which of
 * them by size counts: a few of these may be false, too.
 */
enum { NEAR = 32, RANK = 3, LEAST = 4, ROUNDS = 4 };

/* So far of the way to the other direction no true message gets. */
#define BEYOND 0.4

/* The messages of one direction next to one, before and after it. */
struct vicinity {
	const struct suspect *item[2][NEAR];
	size_t count[2];
};

static void look_around(const struct suspects *suspects, size_t one, bool forward,
			struct vicinity *near)
{
	const struct suspect *item = suspects->item;

	near->count[0] = near->count[1] = 0;
	for (size_t i = one; i-- > 0 && near->count[0] < NEAR;)
		if (!item[i].rejected && item[i].forward == forward)
			near->item[0][near->count[0]++] = &item[i];
	for (size_t i = one + 1; i < suspects->count && near->count[1] < NEAR; i++)
		if (!item[i].rejected && item[i].forward == forward)
			near->item[1][near->count[1]++] = &item[i];
}

static int by_size(const void *a, const void *b)
{
	double p = *(const double *)a, q = *(const double *)b;

	return (p > q) - (p < q);
}

static double median_of(double *value, size_t n)
{
	qsort(value, n, sizeof(*value), by_size);
	return value[n / 2];
}

/* How fast the clocks drift apart, by the medians before and after. */
static double find_rate(const struct vicinity *near, double limit)
{
	double x[2], v[2], value[NEAR];

	if (near->count[0] < LEAST || near->count[1] < LEAST)
		return 0;
	for (int side = 0; side < 2; side++) {
		size_t n = near->count[side];

		for (size_t i = 0; i < n; i++)
			value[i] = near->item[side][i]->x;
		x[side] = median_of(value, n);
		for (size_t i = 0; i < n; i++)
			value[i] = near->item[side][i]->v;
		v[side] = median_of(value, n);
	}
	return x[1] > x[0] ? fmax(-limit, fmin(limit, (v[1] - v[0]) / (x[1] - x[0]))) : 0;
}

/* Where the quickest of one direction stand at the time of a message. */
static bool find_edge(const struct suspects *suspects, size_t one, bool forward,
		      double *edge)
{
	struct vicinity near;
	double value[2 * NEAR], rate;
	size_t n = 0;

	look_around(suspects, one, forward, &near);
	if (near.count[0] + near.count[1] < 2 * LEAST)
		return false;
	rate = find_rate(&near, suspects->limit);
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < near.count[side]; i++) {
			const struct suspect *other = near.item[side][i];

			value[n++] = other->v - rate * (other->x - suspects->item[one].x);
		}
	qsort(value, n, sizeof(*value), by_size);
	*edge = value[forward ? RANK - 1 : n - RANK];
	return true;
}

static bool is_stray(const struct suspects *suspects, size_t one)
{
	const struct suspect *suspect = &suspects->item[one];
	double above, below, bar;

	if (suspect->rejected || !find_edge(suspects, one, true, &above) ||
	    !find_edge(suspects, one, false, &below) || above <= below)
		return false;
	bar = BEYOND * (above - below);
	return suspect->forward ? suspect->v < above - bar : suspect->v > below + bar;
}

/* Marks by votes; they are rejected together. */
static size_t find_strays(struct suspects *suspects)
{
	size_t found = 0;

	for (size_t i = 0; i < suspects->count; i++) {
		suspects->item[i].votes = is_stray(suspects, i);
		found += suspects->item[i].votes;
	}
	return found;
}

static void reject_voted(struct suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++)
		suspects->item[i].rejected |= suspects->item[i].votes;
}

/*
 * A true message is nearer to those of its own direction than to those that went the
 * other way, by the time that both take. One that is near the others was no such
 * message, though it contradicts nobody. Where many seem to be so, packets just take no
 * time that could be told from chance. As strays hide each other, they are looked for
 * again.
 */
size_t reject_stray(struct suspects *suspects, size_t most)
{
	size_t total = 0, found;

	if (!most)
		return 0;
	qsort(suspects->item, suspects->count, sizeof(*suspects->item), reject_by_x);
	for (int round = 0; round < ROUNDS; round++) {
		found = find_strays(suspects);
		if (!found || total + found > most)
			break;
		reject_voted(suspects);
		total += found;
	}
	return total;
}
