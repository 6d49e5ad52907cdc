/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/clock.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

static const char *const quality_name[] = {
    [CLOCK_EXACT] = "exact",
    [CLOCK_ACCURATE] = "accurate",
    [CLOCK_APPROXIMATE] = "approximate",
    [CLOCK_INCOMPLETE] = "incomplete",
    [CLOCK_CONTRADICTORY] = "contradictory",
    [CLOCK_ABSENT] = "absent",
};

enum { QUALITIES = sizeof(quality_name) / sizeof(quality_name[0]) };

const char *clock_quality_name(enum clock_quality quality)
{
	return quality_name[quality];
}

int clock_quality_parse(const char *name)
{
	for (int k = 0; k < QUALITIES; k++)
		if (strcmp(quality_name[k], name) == 0)
			return k;
	return -1;
}

/*
 * Return the nearest integer, clamped to the range of nsec_t. A drift over years needs
 * the 64 bits of a long double; the double of nsec_round() has 53.
 */
static nsec_t round_long(long double value)
{
	if (value >= 0x1p63L)
		return NSEC_MAX;
	if (value < -0x1p63L)
		return NSEC_MIN;
	return (nsec_t)llroundl(value);
}

/*
 * Return what a clock of that rate gained in a time. A double shows the nearest integer,
 * at a fraction of a long double's cost, except for values close to the middle of two.
 */
static nsec_t rate_gain(nsec_t passed, double rate_ppb)
{
	double small = (double)passed * rate_ppb / 1e9;

	if (fabs(small) < 0x1p40) { /* known to 2^-11 */
		nsec_t nearest = (nsec_t)(small + copysign(0.5, small));

		if (fabs(small - (double)nearest) < 0.499)
			return nearest;
	}
	return round_long((long double)passed * rate_ppb / 1e9L);
}

static nsec_t correct_by(const struct clock_segment *segment, nsec_t local_ns)
{
	nsec_t passed = nsec_sub(local_ns, segment->local_ns);

	return nsec_add(nsec_add(segment->ref_ns, passed),
			rate_gain(passed, segment->rate_ppb));
}

/* Return the last segment that begins at or before local_ns, or the first one. */
static const struct clock_segment *segment_at(const struct clock *clock, nsec_t local_ns)
{
	size_t after =
	    PARTITION_POINT(clock->segments, i, clock->segment[i].local_ns <= local_ns);

	return &clock->segment[after ? after - 1 : 0];
}

nsec_t clock_correct(const struct clock *clock, nsec_t local_ns)
{
	return correct_by(segment_at(clock, local_ns), local_ns);
}

/* Return the distance of two instants; unsigned, because it can exceed nsec_t. */
static uint64_t instant_distance(nsec_t a, nsec_t b)
{
	return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* A local time, and the distance of its correction from the reference time sought. */
struct candidate {
	nsec_t local_ns;
	uint64_t miss;
};

/*
 * Return the best local time from `first` to `last` on one segment's line, the earlier of
 * two equally good ones. A rounded correction is within half a nanosecond of the line,
 * which rises by more than half a nanosecond per step, so the guess is off by less
 * than 5.
 */
static struct candidate invert_by(const struct clock_segment *segment, nsec_t first,
				  nsec_t last, nsec_t ref_ns)
{
	long double passed = (long double)nsec_sub(ref_ns, segment->ref_ns);
	nsec_t guess = nsec_add(segment->local_ns,
				round_long(passed / (1 + segment->rate_ppb / 1e9L)));
	struct candidate best = {first, UINT64_MAX};

	for (nsec_t step = -4; step <= 4; step++) {
		nsec_t t = nsec_add(guess, step);
		uint64_t miss;

		t = t < first ? first : t > last ? last : t;
		miss = instant_distance(correct_by(segment, t), ref_ns);
		if (miss < best.miss)
			best = (struct candidate){t, miss};
	}
	return best;
}

/*
 * Return true if the clock never showed the first of two equally good local times. A
 * segment after a step begins at the first timestamp after it, so if the preceding
 * segment also reaches the reference time, it does so at a timestamp that the step
 * skipped. Neighbours are not separated by a step.
 */
static bool is_skipped(const struct candidate *first, const struct candidate *second)
{
	return second->miss == first->miss && second->local_ns - first->local_ns > 1;
}

nsec_t clock_invert(const struct clock *clock, nsec_t ref_ns)
{
	struct candidate best = {0, UINT64_MAX};

	/* At a step, two segments can reach the reference time, so try all of them. */
	for (size_t k = 0; k < clock->segments; k++) {
		nsec_t first = k ? clock->segment[k].local_ns : NSEC_MIN;
		nsec_t last = k + 1 < clock->segments
				  ? nsec_sub(clock->segment[k + 1].local_ns, 1)
				  : NSEC_MAX;
		struct candidate found =
		    invert_by(&clock->segment[k], first, last, ref_ns);

		if (k == 0 || found.miss < best.miss || is_skipped(&best, &found))
			best = found;
	}
	return best.local_ns;
}

/* Corrections can step back from one segment to the next, but rise within a segment. */
nsec_t clock_first_not_before(const struct clock *clock, nsec_t ref_ns)
{
	for (size_t i = 0; i < clock->segments; i++) {
		const struct clock_segment *segment = &clock->segment[i];
		bool is_last = i + 1 == clock->segments;
		nsec_t low = i ? clock->segment[i].local_ns : NSEC_MIN;
		nsec_t high = is_last ? NSEC_MAX : clock->segment[i + 1].local_ns - 1;

		if (high < low || correct_by(segment, high) < ref_ns)
			continue;
		/* Unsigned, because the span can exceed nsec_t. */
		return (nsec_t)((uint64_t)low +
				PARTITION_POINT(
				    (uint64_t)high - (uint64_t)low, k,
				    correct_by(segment, (nsec_t)((uint64_t)low + k)) <
					ref_ns));
	}
	return NSEC_MAX;
}

/* Return the length (ns) of a span without the slews in it. */
static double unslewed_length(const struct clock *clock, nsec_t from, nsec_t to)
{
	double length = (double)(to - from);

	for (size_t i = 0; i < clock->slews; i++) {
		const struct clock_slew *slew = &clock->slew[i];
		nsec_t begin = slew->begin_ns > from ? slew->begin_ns : from;
		nsec_t end = slew->end_ns < to ? slew->end_ns : to;

		length -= end > begin ? (double)(end - begin) : 0;
	}
	return length;
}

double clock_mean_rate(const struct clock *clock)
{
	double span = unslewed_length(clock, clock->begin_ns, clock->end_ns), rate = 0;

	if (clock->segments == 1)
		return clock->segment->rate_ppb * 1e-9;
	for (size_t i = 0; i < clock->segments; i++) {
		nsec_t end = i + 1 < clock->segments ? clock->segment[i + 1].local_ns
						     : clock->end_ns;

		rate += clock->segment[i].rate_ppb * 1e-9 *
			unslewed_length(clock, clock->segment[i].local_ns, end) /
			fmax(1, span);
	}
	return rate;
}

void clock_bound_widen(struct clock_bound *bound, const struct clock_bound *other)
{
	if (other->low_ns < bound->low_ns)
		bound->low_ns = other->low_ns;
	if (other->high_ns > bound->high_ns)
		bound->high_ns = other->high_ns;
}

size_t clock_bounds_sort(struct clock_bound *bound, size_t count)
{
	size_t kept = 0;

	SORT(bound, count, nsec_compare);
	for (size_t i = 0; i < count; i++)
		if (!kept || bound[i].local_ns != bound[kept - 1].local_ns)
			bound[kept++] = bound[i];
	return kept;
}

/* Widen a bound by `slack` on both sides; an unbounded side stays unbounded. */
static void widen_sides(struct clock_bound *bound, nsec_t slack)
{
	if (bound->low_ns != NSEC_MIN)
		bound->low_ns = nsec_sub(bound->low_ns, slack);
	if (bound->high_ns != NSEC_MAX)
		bound->high_ns = nsec_add(bound->high_ns, slack);
}

struct clock_bound clock_bound_at(const struct clock *clock, nsec_t local_ns,
				  double limit_ppb)
{
	struct clock_bound at = {local_ns, NSEC_MIN, NSEC_MAX};
	const struct clock_bound *bound = clock->bound;
	size_t count = clock->bounds, low, high;
	long double distance;

	if (!count)
		return at;
	/* Use all bounds at this time, or the nearest ones on both sides. */
	low = high = PARTITION_POINT(count, i, bound[i].local_ns < local_ns);
	while (high < count && bound[high].local_ns == local_ns)
		high++;
	if (low == high) {
		low -= low > 0;
		high += high < count;
	}
	at.low_ns = bound[low].low_ns;
	at.high_ns = bound[low].high_ns;
	for (size_t k = low + 1; k < high; k++)
		clock_bound_widen(&at, &bound[k]);
	if (bound[0].local_ns > local_ns || bound[count - 1].local_ns < local_ns) {
		distance = (long double)instant_distance(bound[low].local_ns, local_ns);
		widen_sides(&at, round_long(ceill(distance * limit_ppb / 1e9L)));
	}
	return at;
}

void clock_copy_correction(struct clock *clock, const struct clock *from, nsec_t shift_ns)
{
	clock->segments = from->segments;
	clock->segment = mem_alloc(clock->segments * sizeof(*clock->segment) + 1);
	for (size_t i = 0; i < clock->segments; i++) {
		clock->segment[i] = from->segment[i];
		clock->segment[i].local_ns -= shift_ns;
	}
	clock->bounds = from->bounds;
	clock->bound = mem_alloc(clock->bounds * sizeof(*clock->bound) + 1);
	for (size_t i = 0; i < clock->bounds; i++) {
		clock->bound[i] = from->bound[i];
		clock->bound[i].local_ns -= shift_ns;
	}
}

void clock_clear(struct clock *clock)
{
	free(clock->trace);
	free(clock->path);
	free(clock->reference);
	free(clock->segment);
	free(clock->bound);
	free(clock->step);
	free(clock->slew);
	memset(clock, 0, sizeof(*clock));
}
