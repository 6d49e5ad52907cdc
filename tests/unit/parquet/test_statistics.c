/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "parquet/parquet_private.h"

#include <math.h>
#include <string.h>

#include "../export/export.h"

static const struct parquet_column integer = {.type = PARQUET_INT64};
static const struct parquet_column real = {.type = PARQUET_DOUBLE};
static const struct parquet_column blob = {.type = PARQUET_BYTE_ARRAY};

static void add_bits(struct parquet_range *range, const struct parquet_column *column,
		     uint64_t bits)
{
	const struct parquet_value value = {.size = parquet_width(column), .bits = bits};

	parquet_range_add(range, column, &value);
}

static void add_real(struct parquet_range *range, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	add_bits(range, &real, bits);
}

static void add_bytes(struct parquet_range *range, const char *bytes, size_t size)
{
	const struct parquet_value value = {.size = (uint32_t)size, .bytes = bytes};

	parquet_range_add(range, &blob, &value);
}

static void integers_sort_by_their_sign(void **state)
{
	static const struct parquet_column narrow = {.type = PARQUET_INT32};
	const struct parquet_column *const column[] = {&integer, &narrow};
	static const int64_t least = -2, most = 3;

	(void)state;
	for (size_t i = 0; i < COUNT(column); i++) {
		struct parquet_range range = {0};
		struct parquet_bound low, high;

		add_bits(&range, column[i], 3);
		add_bits(&range, column[i], (uint64_t)-2);
		assert_true(parquet_range_bounds(&range, column[i], &low, &high));
		assert_int_equal(low.size, parquet_width(column[i]));
		assert_memory_equal(low.byte, &least, low.size);
		assert_memory_equal(high.byte, &most, high.size);
	}
}

/* A sign is in the last byte. Zeros are bounds of both signs. */
static void reals_sort_by_their_value(void **state)
{
	static const double number[][4] = {{0.0, 0.0, 0x80, 0},
					   {-0.0, -0.0, 0x80, 0},
					   {-7.0, 2.0, 0xc0, 0x40},
					   {-7.0, -INFINITY, 0xff, 0xc0}};

	(void)state;
	for (size_t i = 0; i < COUNT(number); i++) {
		struct parquet_range range = {0};
		struct parquet_bound low, high;

		add_real(&range, number[i][0]);
		add_real(&range, number[i][1]);
		assert_true(parquet_range_bounds(&range, &real, &low, &high));
		assert_int_equal(low.byte[7], (int)number[i][2]);
		assert_int_equal(high.byte[7], (int)number[i][3]);
	}
}

static void there_are_no_bounds_of_nothing_and_with_nan(void **state)
{
	struct parquet_range range = {0};
	struct parquet_bound low, high;

	(void)state;
	assert_false(parquet_range_bounds(&range, &real, &low, &high));
	add_real(&range, 1.0);
	assert_true(parquet_range_bounds(&range, &real, &low, &high));
	add_real(&range, -NAN);
	assert_false(parquet_range_bounds(&range, &real, &low, &high));
	add_real(&range, INFINITY);
	assert_false(parquet_range_bounds(&range, &real, &low, &high));
}

static void arrays_sort_by_their_bytes_unless_one_is_long(void **state)
{
	struct parquet_range range = {0};
	struct parquet_bound low, high;
	char bytes[PARQUET_LONGEST_BOUND + 1];

	(void)state;
	memset(bytes, 'x', sizeof(bytes));
	add_bytes(&range, "b\xff", 2);
	add_bytes(&range, "b", 1);
	add_bytes(&range, bytes, PARQUET_LONGEST_BOUND);
	assert_true(parquet_range_bounds(&range, &blob, &low, &high));
	assert_int_equal(low.size, 1);
	assert_int_equal(high.size, PARQUET_LONGEST_BOUND);
	add_bytes(&range, "", 0);
	assert_true(parquet_range_bounds(&range, &blob, &low, &high));
	assert_int_equal(low.size, 0);
	add_bytes(&range, bytes, sizeof(bytes));
	assert_false(parquet_range_bounds(&range, &blob, &low, &high));
	add_bytes(&range, "a", 1);
	assert_false(parquet_range_bounds(&range, &blob, &low, &high));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(integers_sort_by_their_sign),
	    cmocka_unit_test(reals_sort_by_their_value),
	    cmocka_unit_test(there_are_no_bounds_of_nothing_and_with_nan),
	    cmocka_unit_test(arrays_sort_by_their_bytes_unless_one_is_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
