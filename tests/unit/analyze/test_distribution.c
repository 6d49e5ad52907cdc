/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/distribution.h"

#include <math.h>

#include "../draw.h"
#include "../scratch.h"

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void test_few_values_are_exact(void **unused)
{
	struct distribution distribution = {0};

	(void)unused;
	assert_int_equal(distribution_percentile(&distribution, 0.5), 0);
	for (int i = 100; i > 0; i--)
		distribution_add(&distribution, i);
	assert_true(distribution_is_exact(&distribution));
	assert_int_equal(distribution.least, 1);
	assert_int_equal(distribution.most, 100);
	assert_true(distribution.sum == 5050);
	assert_int_equal(distribution_percentile(&distribution, 0), 1);
	assert_int_equal(distribution_percentile(&distribution, 0.5), 50);
	assert_int_equal(distribution_percentile(&distribution, 0.95), 95);
	assert_int_equal(distribution_percentile(&distribution, 0.99), 99);
	assert_int_equal(distribution_percentile(&distribution, 1), 100);
	assert_true(fabs(distribution.mean - 50.5) < 1e-9);
	assert_true(fabs(distribution_deviation(&distribution) - 29.011491975882016) <
		    1e-9);
	distribution_clear(&distribution);
}

/* Values of all sizes and both signs; a percentile is off by 1/256 at most. */
static void check_many(bool in_parts)
{
	enum { COUNT = 3 * DISTRIBUTION_EXACT + 7 };
	static const double shares[] = {0, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1};
	struct distribution distribution = {0}, part = {0};
	int64_t *value = mem_alloc(COUNT * sizeof(*value));

	for (size_t i = 0; i < COUNT; i++) {
		value[i] = (int64_t)(draw() >> (1 + draw() % 60));
		if (draw() % 3 == 0)
			value[i] = -value[i];
		distribution_add(in_parts && i % 2 ? &part : &distribution, value[i]);
	}
	if (in_parts)
		distribution_merge(&distribution, &part);
	assert_false(distribution_is_exact(&distribution));
	assert_int_equal(distribution.count, COUNT);
	qsort(value, COUNT, sizeof(*value), compare);
	assert_int_equal(distribution.least, value[0]);
	assert_int_equal(distribution.most, value[COUNT - 1]);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double rank = ceil(shares[i] * COUNT - 1e-9);
		int64_t exact = value[rank < 1 ? 0 : (size_t)rank - 1];
		int64_t got = distribution_percentile(&distribution, shares[i]);

		if (fabs((double)got - (double)exact) > fabs((double)exact) / 256 + 1e-6)
			fail_msg("%g: %" PRId64 ", want %" PRId64, shares[i], got, exact);
	}
	free(value);
	distribution_clear(&distribution);
	distribution_clear(&part);
}

static void test_many_values_are_near(void **unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++) {
		check_many(false);
		check_many(true);
	}
}

static void test_bins(void **unused)
{
	struct distribution distribution = {0};
	int64_t from, to;
	uint64_t count, all = 0;

	(void)unused;
	for (int64_t i = -5; i < 1000; i++)
		distribution_add(&distribution, i);
	distribution_add(&distribution, INT64_MAX);
	assert_true(distribution_bin(&distribution, 0, &from, &to, &count));
	assert_int_equal(count, 6);
	assert_int_equal(to, 1);
	assert_true(distribution_bin(&distribution, 3, &from, &to, &count));
	assert_int_equal(from, 5);
	assert_int_equal(to, 10);
	assert_int_equal(count, 5);
	for (size_t i = 0; distribution_bin(&distribution, i, &from, &to, &count); i++)
		all += count;
	assert_int_equal(all, distribution.count);
	distribution_clear(&distribution);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_few_values_are_exact),
	    cmocka_unit_test_setup(test_many_values_are_near, draw_restart),
	    cmocka_unit_test(test_bins),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
