/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"

#include "../scratch.h"

TEST(integers_are_exact)
{
	static const char *const none[] = {"",
					   "-",
					   "+1",
					   "1 ",
					   " 1",
					   "1.0",
					   "1e3",
					   "0x10",
					   "1,",
					   "--1",
					   "９",
					   "9223372036854775808",
					   "-9223372036854775809"};
	int64_t value;

	assert_int_equal(number_integer("0", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(number_integer("-0017", &value), 0);
	assert_int_equal(value, -17);
	assert_int_equal(number_integer("9223372036854775807", &value), 0);
	assert_true(value == INT64_MAX);
	assert_int_equal(number_integer("-9223372036854775808", &value), 0);
	assert_true(value == INT64_MIN);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(number_integer(none[i], &value), -1);
	assert_int_equal(number_stamp("1795228740000000001", &value), 0);
	assert_int_equal(number_stamp("9223372036854775807", &value), -1);
}

TEST(seconds_become_nanoseconds)
{
	static const struct {
		const char *text;
		nsec_t ns;
	} good[] = {
	    {"0", 0},
	    {"1795228740", 1795228740000000000},
	    {"1795228740.5", 1795228740500000000},
	    {"1795228740.123456789", 1795228740123456789},
	    {"1795228740.1234567899", 1795228740123456789},
	    {"-1.5", -1500000000},
	    {"-0.000000001", -1},
	    {"9223372036.854775807", INT64_MAX},
	    {"-9223372036.854775808", INT64_MIN},
	};
	static const char *const none[] = {"",
					   "-",
					   ".5",
					   "1.",
					   "1,5",
					   "1.5s",
					   "1e9",
					   "1.-5",
					   "1 ",
					   "9223372036.854775808",
					   "-9223372036.854775809",
					   "1795228740000",
					   "99999999999999999999"};
	nsec_t value;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(number_seconds(good[i].text, &value), 0);
		assert_true(value == good[i].ns);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(number_seconds(none[i], &value), -1);
}

TEST(reals_are_plain)
{
	static const char *const none[] = {"",      "-",    "nan", "inf", "-inf", "0x1p3",
					   "4,29",  " 1",   "1 ",  ".5",  "1e",   "1e400",
					   "1.2.3", "1e5x", "+1",  "1f"};
	double value;

	assert_int_equal(number_real("4.29", &value), 0);
	assert_true(value == 4.29);
	assert_int_equal(number_real("-12", &value), 0);
	assert_true(value == -12);
	assert_int_equal(number_real("2.5e-3", &value), 0);
	assert_true(value == 2.5e-3);
	assert_int_equal(number_real("18446744073709551615.00", &value), 0);
	assert_true(value == 18446744073709551615.0);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(number_real(none[i], &value), -1);
}
