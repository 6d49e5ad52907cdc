/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/nsec.h"

#include "../draw.h"

#define NOW  ((nsec_t)1795228732943977331)
#define HOUR (3600 * NSEC_PER_SEC)
#define DAY  (24 * HOUR)

__extension__ typedef __int128 wide;

static void check_span(double span_ns, const char *wanted)
{
	char text[NSEC_TEXT];

	assert_string_equal(nsec_format_span(text, span_ns), wanted);
}

TEST(span_has_a_unit_of_its_size)
{
	check_span(0, "0 ns");
	check_span(-58, "-58 ns");
	check_span(999, "999 ns");
	check_span(1000, "1.000 us");
	check_span(-12345, "-12.345 us");
	check_span(1e6, "1.000 ms");
	check_span(999999000, "999.999 ms");
	check_span(1234567890, "1.234568 s");
	check_span(-9.3e18, "-9300000000.000000 s");
}

static void check_seconds(nsec_t instant, const char *wanted)
{
	char text[NSEC_TEXT];

	assert_string_equal(nsec_format_seconds(text, instant), wanted);
}

TEST(seconds_are_exact)
{
	check_seconds(0, "0.000000000");
	check_seconds(1, "0.000000001");
	check_seconds(-1, "-0.000000001");
	check_seconds(-1000000001, "-1.000000001");
	check_seconds(NOW, "1795228732.943977331");
	check_seconds(NSEC_MAX, "9223372036.854775807");
	check_seconds(NSEC_MIN, "-9223372036.854775808");
}

static void check_utc(nsec_t instant, const char *wanted)
{
	char text[NSEC_TEXT];

	assert_string_equal(nsec_format_utc(text, instant), wanted);
}

TEST(utc_holds_at_the_ends_of_the_range)
{
	check_utc(0, "1970-01-01 00:00:00.000000000");
	check_utc(-1, "1969-12-31 23:59:59.999999999");
	check_utc(-NSEC_PER_SEC, "1969-12-31 23:59:59.000000000");
	check_utc(NOW, "2026-11-21 02:38:52.943977331");
	check_utc(NSEC_MAX, "2262-04-11 23:47:16.854775807");
	check_utc(NSEC_MIN, "1677-09-21 00:12:43.145224192");
}

static nsec_t held(wide value)
{
	if (value > NSEC_MAX)
		return NSEC_MAX;
	return value < NSEC_MIN ? NSEC_MIN : (nsec_t)value;
}

TEST(sums_hold_at_the_ends)
{
	static const nsec_t edge[] = {NSEC_MIN, NSEC_MIN + 1, -1,           0,
				      1,        NOW,          NSEC_MAX - 1, NSEC_MAX};
	enum { EDGES = sizeof(edge) / sizeof(*edge) };

	for (int i = 0; i < 10000; i++) {
		nsec_t a = i < 64 ? edge[i % EDGES] : (nsec_t)draw();
		nsec_t b = i < 64 ? edge[i / EDGES] : (nsec_t)draw();

		assert_int_equal(nsec_add(a, b), held((wide)a + b));
		assert_int_equal(nsec_sub(a, b), held((wide)a - b));
	}
}

TEST(round_goes_to_the_nearest)
{
	assert_int_equal(nsec_round(0.4), 0);
	assert_int_equal(nsec_round(-0.6), -1);
	assert_int_equal(nsec_round(1e15 + 0.75), 1000000000000001);
	assert_int_equal(nsec_round(nextafter(0x1p63, 0)), (nsec_t)0x7ffffffffffffc00);
	assert_int_equal(nsec_round(0x1p63), NSEC_MAX);
	assert_int_equal(nsec_round(-0x1p63), NSEC_MIN);
	assert_int_equal(nsec_round(INFINITY), NSEC_MAX);
	assert_int_equal(nsec_round(-INFINITY), NSEC_MIN);
}

TEST(stamps_are_of_this_age)
{
	const wide twice = 2 * ((wide)NSEC_STAMP_MOST - NSEC_STAMP_LEAST);

	assert_true(nsec_is_stamp(0) && nsec_is_stamp(NOW));
	assert_true(nsec_is_stamp(NSEC_STAMP_LEAST) && nsec_is_stamp(NSEC_STAMP_MOST));
	assert_false(nsec_is_stamp(NSEC_STAMP_LEAST - 1));
	assert_false(nsec_is_stamp(NSEC_STAMP_MOST + 1));
	assert_false(nsec_is_stamp(NSEC_MIN) || nsec_is_stamp(NSEC_MAX));
	/* Arithmetic with them does not overflow. */
	assert_true(twice <= NSEC_MAX);
}

/* Rules of POSIX, which need no list of zones: three places, one with summer time. */
TEST(zones_have_an_offset_and_a_name)
{
	static const struct {
		const char *rule;
		nsec_t instant;
		const char *name, *text;
	} is[] = {
	    {"IST-5:30", NOW, "UTC+05:30", "2026-11-21 08:08:52.943977331"},
	    {"EST5EDT,M3.2.0,M11.1.0", NOW, "UTC-05:00", "2026-11-20 21:38:52.943977331"},
	    {"EST5EDT,M3.2.0,M11.1.0", NOW - 60 * DAY, "UTC-04:00",
	     "2026-09-21 22:38:52.943977331"},
	    {"UTC0", NOW, "UTC", "2026-11-21 02:38:52.943977331"},
	};
	char text[NSEC_TEXT];

	for (size_t i = 0; i < sizeof(is) / sizeof(*is); i++) {
		struct zone zone;

		assert_int_equal(setenv("TZ", is[i].rule, 1), 0);
		zone = zone_at(true, is[i].instant);
		assert_string_equal(zone.name, is[i].name);
		assert_string_equal(zone_format(text, &zone, is[i].instant), is[i].text);
		zone = zone_at(false, is[i].instant);
		assert_string_equal(zone.name, "UTC");
		assert_int_equal(zone.offset_ns, 0);
	}
}

TEST(days_begin_where_the_zone_has_midnight)
{
	const nsec_t morning = NOW, evening = NOW + DAY - 3 * HOUR;
	struct zone utc = zone_at(false, NOW), east = {5 * HOUR, "UTC+05:00"};

	assert_true(zone_is_one_day(&utc, morning, evening));
	assert_false(zone_is_one_day(&east, morning, evening));
	assert_false(zone_is_one_day(&utc, -1, 0));
	assert_true(zone_is_one_day(&utc, -1, -DAY));
}
