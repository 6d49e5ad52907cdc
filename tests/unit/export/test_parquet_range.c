/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/range.h"

#include <math.h>
#include <stdlib.h>

#include "export.h"
#include "export/parquet/text.h"

static const struct parquet_column text = {.type = PARQUET_BYTE_ARRAY,
					   .logical = PARQUET_STRING};
static const struct parquet_column blob = {.type = PARQUET_BYTE_ARRAY};

static void add(struct parquet_range *range, const struct parquet_column *column,
		struct cell cell)
{
	struct error error = ERROR_INIT;
	struct parquet_value value;

	assert_int_equal(parquet_value_of(column, false, &cell, &value, &error), 0);
	parquet_range_add(range, column, &value);
}

static void assert_range(const struct parquet_range *range,
			 const struct parquet_column *column, int64_t least, int64_t most)
{
	struct parquet_bound low, high;
	unsigned width = parquet_width(column);

	assert_true(parquet_range_least(range, column, &low));
	assert_true(parquet_range_most(range, column, &high));
	assert_int_equal(low.size, width);
	assert_int_equal(high.size, width);
	assert_memory_equal(low.byte, &least, width);
	assert_memory_equal(high.byte, &most, width);
	assert_true(low.exact && high.exact);
}

static void integers_sort_by_their_sign(void **state)
{
	static const struct parquet_column column[] = {
	    {.type = PARQUET_INT32},
	    {.type = PARQUET_INT64},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(column); i++) {
		struct parquet_range range = {0};

		add(&range, &column[i], (struct cell)INTEGER(3));
		add(&range, &column[i], (struct cell)INTEGER(-2));
		assert_range(&range, &column[i], -2, 3);
	}
}

static void unsigned_integers_have_none(void **state)
{
	static const struct parquet_column wide = {.type = PARQUET_INT64,
						   .logical = PARQUET_UINT_64};
	static const struct parquet_column narrow = {.type = PARQUET_INT32,
						     .logical = PARQUET_UINT_32};
	struct parquet_range range = {0}, other = {0};

	(void)state;
	add(&range, &wide, (struct cell)INTEGER(3));
	add(&range, &wide, (struct cell)INTEGER(-2));
	assert_range(&range, &wide, 3, -2);
	add(&other, &narrow, (struct cell)INTEGER(3));
	add(&other, &narrow, (struct cell)INTEGER(0xfffffffe));
	assert_range(&other, &narrow, 3, 0xfffffffe);
}

/* A sign is in the last byte. Zeros are bounds of both signs. */
static void reals_sort_by_their_value(void **state)
{
	static const double real[][4] = {{0.0, 0.0, 0x80, 0},
					 {-0.0, -0.0, 0x80, 0},
					 {-7.0, 2.0, 0xc0, 0x40},
					 {-7.0, -INFINITY, 0xff, 0xc0}};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(real); i++) {
		const struct parquet_column column = {.type = i % 2 ? PARQUET_FLOAT
								    : PARQUET_DOUBLE};
		struct parquet_range range = {0};
		struct parquet_bound bound;

		add(&range, &column, (struct cell)REAL(real[i / 2][0]));
		add(&range, &column, (struct cell)REAL(real[i / 2][1]));
		assert_true(parquet_range_least(&range, &column, &bound));
		assert_int_equal(bound.byte[bound.size - 1], (int)real[i / 2][2]);
		assert_true(parquet_range_most(&range, &column, &bound));
		assert_int_equal(bound.byte[bound.size - 1], (int)real[i / 2][3]);
	}
}

static void there_are_no_bounds_with_nan(void **state)
{
	static const struct parquet_column column[] = {
	    {.type = PARQUET_FLOAT},
	    {.type = PARQUET_DOUBLE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(column); i++) {
		struct parquet_range range = {0}, with_nan = {0};
		struct parquet_bound bound;

		add(&range, &column[i], (struct cell)REAL(1.0));
		add(&with_nan, &column[i], (struct cell)REAL(-NAN));
		assert_false(parquet_range_least(&with_nan, &column[i], &bound));
		assert_false(parquet_range_most(&with_nan, &column[i], &bound));
		add(&with_nan, &column[i], (struct cell)REAL(INFINITY));
		assert_false(parquet_range_most(&with_nan, &column[i], &bound));
		assert_true(parquet_range_most(&range, &column[i], &bound));
		parquet_range_join(&range, &with_nan);
		assert_false(parquet_range_most(&range, &column[i], &bound));
	}
}

static void long_arrays_are_cut_on_the_right_side(void **state)
{
	struct parquet_range range = {0};
	struct parquet_bound bound;
	char long_blob[70];

	(void)state;
	memset(long_blob, 0xff, sizeof(long_blob));
	long_blob[1] = 'a';
	add(&range, &blob,
	    (struct cell){.type = CELL_BLOB, .size = 70, .bytes = long_blob});
	assert_true(parquet_range_least(&range, &blob, &bound));
	assert_int_equal(bound.size, PARQUET_PREFIX);
	assert_false(bound.exact);
	assert_true(parquet_range_most(&range, &blob, &bound));
	assert_int_equal(bound.size, 2);
	assert_memory_equal(bound.byte,
			    "\xff"
			    "b",
			    2);
	assert_false(bound.exact);
	/* The prefix itself is less than what was cut to it, and not cut. */
	add(&range, &blob,
	    (struct cell){.type = CELL_BLOB, .size = PARQUET_PREFIX, .bytes = long_blob});
	assert_true(parquet_range_least(&range, &blob, &bound));
	assert_true(bound.exact);
	assert_true(parquet_range_most(&range, &blob, &bound));
	assert_int_equal(bound.size, 2);
	assert_false(bound.exact);
	memset(long_blob, 0xff, sizeof(long_blob));
	add(&range, &blob,
	    (struct cell){.type = CELL_BLOB, .size = 70, .bytes = long_blob});
	assert_false(parquet_range_most(&range, &blob, &bound));
}

static void cut_text_stays_text(void **state)
{
	struct parquet_range range = {0};
	struct parquet_bound bound;
	char long_text[80];

	(void)state;
	memset(long_text, 'x', sizeof(long_text));
	memcpy(long_text + 62, "\xe2\x82\xac", 3);
	add(&range, &text,
	    (struct cell){.type = CELL_TEXT, .size = 80, .bytes = long_text});
	assert_true(parquet_range_least(&range, &text, &bound));
	assert_int_equal(bound.size, 62);
	assert_true(parquet_range_most(&range, &text, &bound));
	assert_int_equal(bound.size, 62);
	assert_int_equal(bound.byte[61], 'y');
}

static void assert_next(const char *prefix, const char *wanted)
{
	uint8_t copy[64];
	size_t size = strlen(prefix);

	memcpy(copy, prefix, size);
	size = parquet_next_text(copy, size);
	assert_int_equal(size, strlen(wanted));
	assert_memory_equal(copy, wanted, size);
}

static void the_next_text_is_the_next_character(void **state)
{
	(void)state;
	assert_next("ab", "ac");
	assert_next("a\x7f", "b");
	assert_next("\x7f", "");
	assert_next("\xc3\xbf", "\xc4\x80");
	assert_next("a\xdf\xbf", "b");
	assert_next("\xed\x9f\xbf", "\xee\x80\x80");
	assert_next("a\xf4\x8f\xbf\xbf", "b");
	assert_next("", "");
}

static void text_is_utf8(void **state)
{
	(void)state;
	assert_true(parquet_is_text("", 0));
	assert_true(parquet_is_text("a\0b", 3));
	assert_true(parquet_is_text("12345678\xe2\x82\xac", 11));
	assert_false(parquet_is_text("12345678\xe2\x82\xac", 10));
	assert_false(parquet_is_text("1234567\xff"
				     "12345678",
				     16));
	assert_false(parquet_is_text("\xed\xa0\x80", 3));
	assert_false(parquet_is_text("\xc0\x80", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(integers_sort_by_their_sign),
	    cmocka_unit_test(unsigned_integers_have_none),
	    cmocka_unit_test(reals_sort_by_their_value),
	    cmocka_unit_test(there_are_no_bounds_with_nan),
	    cmocka_unit_test(long_arrays_are_cut_on_the_right_side),
	    cmocka_unit_test(cut_text_stays_text),
	    cmocka_unit_test(the_next_text_is_the_next_character),
	    cmocka_unit_test(text_is_utf8),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
