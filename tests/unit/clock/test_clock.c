/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../draw.h"

#define YEAR ((nsec_t)366 * 86400 * NSEC_PER_SEC)
#define NOW  ((nsec_t)1795228732943977331)

enum { ROUNDS = 20000, SEGMENTS = 6 };

/* A rate up to +-500 ppm in 2^-20 ppb, so that integers can check the sums. */
static int64_t draw_rate(void)
{
	int64_t most = (int64_t)500000 << 20;

	return draw_between(-most, most) >> draw_between(0, 30);
}

static double ppb(int64_t rate)
{
	return (double)rate * 0x1p-20;
}

static struct clock line(struct clock_segment *segment)
{
	return (struct clock){.segment = segment, .segments = 1};
}

/* A continuous clock: each segment begins where the one before has come to. */
static struct clock bent(struct clock_segment segment[SEGMENTS])
{
	size_t count = (size_t)draw_between(1, SEGMENTS);
	struct clock clock = {.segment = segment, .segments = 1};

	segment[0] =
	    (struct clock_segment){NOW + draw_between(-YEAR, YEAR),
				   NOW + draw_between(-YEAR, YEAR), ppb(draw_rate())};
	for (size_t k = 1; k < count; k++) {
		nsec_t span = YEAR >> draw_between(0, 54);
		nsec_t at = segment[k - 1].local_ns + draw_between(1, span);

		segment[k] = (struct clock_segment){at, clock_correct(&clock, at),
						    ppb(draw_rate())};
		clock.segments = k + 1;
	}
	return clock;
}

/* A local time: years around, about a corner, or between corners. */
static nsec_t draw_time(const struct clock *clock)
{
	size_t k = draw() % clock->segments;
	nsec_t corner = clock->segment[k].local_ns;

	switch (draw() % 3) {
	case 0:
		return corner + draw_between(-YEAR, YEAR);
	case 1:
		return corner + draw_between(-5, 5);
	default:
		return corner + (draw_between(-YEAR, YEAR) >> draw_between(0, 40));
	}
}

TEST(test_correct_by_hand)
{
	struct clock_segment segment[] = {
	    {1000, 5000, 0}, {2000, 6000, 250000000}, {3000, 100, -500}};
	struct clock clock = {.segment = segment, .segments = 3};

	assert_int_equal(clock_correct(&clock, 0), 4000);
	assert_int_equal(clock_correct(&clock, 1000), 5000);
	assert_int_equal(clock_correct(&clock, 1999), 5999);
	assert_int_equal(clock_correct(&clock, 2000), 6000);
	assert_int_equal(clock_correct(&clock, 2002), 6003); /* halves away from 0 */
	assert_int_equal(clock_correct(&clock, 2999), 7249);
	assert_int_equal(clock_correct(&clock, 3000), 100);
	assert_int_equal(clock_correct(&clock, 3000 + NSEC_PER_SEC), 1000000100 - 500);
}

TEST(test_correct_saturates)
{
	struct clock_segment segment = {0, NSEC_MAX - 10, 400000000};
	struct clock clock = line(&segment);

	assert_int_equal(clock_correct(&clock, 100), NSEC_MAX);
	assert_int_equal(clock_correct(&clock, NSEC_MAX), NSEC_MAX);
	segment.ref_ns = NSEC_MIN + 10;
	assert_int_equal(clock_correct(&clock, NSEC_MIN), NSEC_MIN);
	segment.ref_ns = 0;
	segment.rate_ppb = 1e300;
	assert_int_equal(clock_correct(&clock, 1), NSEC_MAX);
	assert_int_equal(clock_invert(&clock, 0), 0);
}

/* Twice the distance from the exact line is at most a nanosecond. */
TEST(test_correct_is_exact)
{
	for (int round = 0; round < ROUNDS; round++) {
		int64_t rate = draw_rate();
		struct clock_segment segment = {NOW + draw_between(-YEAR, YEAR),
						NOW + draw_between(-YEAR, YEAR),
						ppb(rate)};
		struct clock clock = line(&segment);
		nsec_t t = draw_time(&clock);
		__int128 passed = t - segment.local_ns;
		__int128 unit = (__int128)1000000000 << 20;
		__int128 got = clock_correct(&clock, t);
		__int128 off = (got - segment.ref_ns - passed) * unit - passed * rate;

		assert_true(2 * off <= unit && -2 * off <= unit);
	}
}

TEST(test_correct_never_runs_back)
{
	struct clock_segment segment[SEGMENTS];

	for (int round = 0; round < ROUNDS; round++) {
		struct clock clock = bent(segment);
		nsec_t t = draw_time(&clock);

		assert_true(clock_correct(&clock, t) <= clock_correct(&clock, t + 1));
	}
}

TEST(test_invert_by_hand)
{
	struct clock_segment jump[] = {{0, 100, 0}, {50, 1000, 0}};
	struct clock_segment back[] = {{0, 100, 0}, {50, 120, 0}};
	struct clock_segment slow = {0, 0, -250000000};
	struct clock clock = {.segment = jump, .segments = 2};

	assert_int_equal(clock_invert(&clock, 90), -10);
	assert_int_equal(clock_invert(&clock, 149), 49);
	assert_int_equal(clock_invert(&clock, 200), 49); /* in the gap */
	assert_int_equal(clock_invert(&clock, 900), 50);
	assert_int_equal(clock_invert(&clock, 1010), 60);
	clock.segment = back;
	assert_int_equal(clock_invert(&clock, 119), 19);
	assert_int_equal(clock_invert(&clock, 130), 60); /* 30 was skipped */
	assert_int_equal(clock_invert(&clock, 160), 90);
	clock = line(&slow);
	assert_int_equal(clock_correct(&clock, 1), clock_correct(&clock, 2));
	assert_int_equal(clock_invert(&clock, 1), 1);
}

TEST(test_invert_is_exact)
{
	struct clock_segment segment[SEGMENTS];

	for (int round = 0; round < ROUNDS; round++) {
		struct clock clock = bent(segment);
		nsec_t t = draw_time(&clock);
		nsec_t ref = clock_correct(&clock, t);
		nsec_t back = clock_invert(&clock, ref);

		assert_int_equal(clock_correct(&clock, back), ref);
		assert_true(back <= t && t - back <= 1);
		assert_true(clock_correct(&clock, back - 1) < ref);
		if (clock_correct(&clock, t - 1) < ref)
			assert_int_equal(back, t);
	}
}

/* Whatever the steps, all local times before it are corrected to before. */
TEST(test_first_not_before)
{
	struct clock_segment segment[] = {
	    {1000, 5000, 0}, {2000, 6500, 0}, {3000, 5500, -500}, {4000, 9000, 0}};
	struct clock clock = {.segment = segment, .segments = 4};

	for (nsec_t ref = 4900; ref < 9100; ref++) {
		nsec_t first = 0;

		while (clock_correct(&clock, first) < ref)
			first++;
		assert_int_equal(clock_first_not_before(&clock, ref), first);
	}
	assert_int_equal(clock_first_not_before(&clock, NSEC_MIN), NSEC_MIN);
	segment[3].rate_ppb = -1e9; /* it stands still */
	assert_int_equal(clock_first_not_before(&clock, 9001), NSEC_MAX);
	for (int round = 0; round < ROUNDS; round++) {
		struct clock_segment drawn[SEGMENTS];
		struct clock one = bent(drawn);
		nsec_t t = draw_time(&one), ref = clock_correct(&one, t);
		nsec_t first = clock_first_not_before(&one, ref);

		assert_true(first <= t && clock_correct(&one, first) == ref);
		assert_true(clock_correct(&one, first - 1) < ref);
	}
}

/* A positive rate leaves gaps: no neighbour comes nearer. */
TEST(test_invert_is_nearest)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct clock_segment segment = {
		    NOW, NOW, (double)draw_between(-499999999, 2000000000)};
		struct clock clock = line(&segment);
		nsec_t ref = NOW + draw_between(-YEAR, YEAR);
		nsec_t t = clock_invert(&clock, ref);
		nsec_t miss = llabs(clock_correct(&clock, t) - ref);

		for (nsec_t other = t - 6; other <= t + 6; other++) {
			nsec_t off = llabs(clock_correct(&clock, other) - ref);

			assert_true(other < t ? off > miss : off >= miss);
		}
	}
}

static void assert_bound(const struct clock *clock, nsec_t t, double limit, nsec_t low,
			 nsec_t high)
{
	struct clock_bound at = clock_bound_at(clock, t, limit);

	assert_int_equal(at.local_ns, t);
	assert_int_equal(at.low_ns, low);
	assert_int_equal(at.high_ns, high);
}

TEST(test_bound)
{
	struct clock_bound bound[] = {{1000, -50, 10}, {2000, -20, 30}, {3000, -5, 5}};
	struct clock clock = {.bound = bound, .bounds = 3};

	assert_bound(&clock, 1000, 0, -50, 10);
	assert_bound(&clock, 1001, 0, -50, 30);
	assert_bound(&clock, 2000, 0, -20, 30);
	assert_bound(&clock, 2999, 0, -20, 30);
	assert_bound(&clock, 3000, 0, -5, 5);
	assert_bound(&clock, 3000 + NSEC_PER_SEC, 0, -5, 5);
	assert_bound(&clock, 3000 + NSEC_PER_SEC, 100, -105, 105);
	assert_bound(&clock, 3001, 100, -6, 6); /* up, or it would not hold */
	assert_bound(&clock, 1000 - NSEC_PER_SEC, 200e3, -200050, 200010);
	assert_bound(&clock, NSEC_MAX, 1e9, -NSEC_MAX + 2995, NSEC_MAX - 2995);
	assert_bound(&clock, NSEC_MIN, 1e9, NSEC_MIN, NSEC_MAX);
}

TEST(test_bound_open_or_stepped)
{
	struct clock_bound bound[] = {
	    {0, NSEC_MIN, 7}, {10, -3, 3}, {10, -1, 8}, {20, -2, NSEC_MAX}};
	struct clock clock = {.bound = bound, .bounds = 4};

	assert_bound(&clock, -NSEC_PER_SEC, 5, NSEC_MIN, 12);
	assert_bound(&clock, 5, 5, NSEC_MIN, 7);
	assert_bound(&clock, 10, 5, -3, 8);
	assert_bound(&clock, 15, 5, -2, NSEC_MAX);
	assert_bound(&clock, 20 + NSEC_PER_SEC, 5, -7, NSEC_MAX);
	clock.bounds = 0;
	assert_bound(&clock, 10, 5, NSEC_MIN, NSEC_MAX);
}

TEST(test_quality_names)
{
	for (int k = CLOCK_EXACT; k <= CLOCK_ABSENT; k++)
		assert_int_equal(
		    clock_quality_parse(clock_quality_name((enum clock_quality)k)), k);
	assert_string_equal(clock_quality_name(CLOCK_ACCURATE), "accurate");
	assert_int_equal(clock_quality_parse("Accurate"), -1);
	assert_int_equal(clock_quality_parse(""), -1);
}

TEST(test_clear)
{
	struct clock clock = {.trace = strdup("n1"),
			      .path = strdup("run/n1"),
			      .reference = strdup("n0"),
			      .segment = calloc(1, sizeof(struct clock_segment)),
			      .bound = calloc(1, sizeof(struct clock_bound))};

	clock_clear(&clock);
	assert_null(clock.trace);
	clock_clear(&clock);
}

/* By how long each segment lasts; what a step adds is no rate. */
TEST(test_mean_rate)
{
	struct clock_segment segment[] = {{100, 0, 1000}, {400, 900, -500}};
	struct clock clock = {.begin_ns = 100, .end_ns = 1000, .segment = segment};

	clock.segments = 1;
	assert_true(fabs(clock_mean_rate(&clock) - 1e-6) < 1e-15);
	clock.segments = 2;
	assert_true(fabs(clock_mean_rate(&clock)) < 1e-15);
	clock.end_ns = 700;
	assert_true(fabs(clock_mean_rate(&clock) - 0.25e-6) < 1e-15);
}
