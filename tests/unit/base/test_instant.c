/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number.h"

#include "../scratch.h"

#define ORIGIN (INT64_C(1795228737) * NSEC_PER_SEC + 738293189) /* 02:38:57.7... */

static void is(const char *text, nsec_t wanted)
{
	struct error error = ERROR_INIT;
	nsec_t instant = 0;

	assert_int_equal(instant_parse(text, ORIGIN, &instant, &error), 0);
	assert_int_equal(instant, wanted);
}

static void is_none(const char *text)
{
	struct error error = ERROR_INIT;
	nsec_t instant;

	assert_int_equal(instant_parse(text, ORIGIN, &instant, &error), -1);
	assert_non_null(strstr(error_text(&error), "invalid time"));
	error_clear(&error);
}

TEST(times_have_many_forms)
{
	nsec_t day = INT64_C(1795219200) * NSEC_PER_SEC;

	is("1795228737738293189", ORIGIN);
	is("1795228737.738293189", ORIGIN);
	is("1795228737", ORIGIN - 738293189);
	is("+0", ORIGIN);
	is("+12.5", ORIGIN + 12 * NSEC_PER_SEC + NSEC_PER_SEC / 2);
	is("2026-11-21T02:38:57.738293189", ORIGIN);
	is("2026-11-21T02:38:57.738293189Z", ORIGIN);
	is("2026-11-21 02:38:57.738293189", ORIGIN);
	is("2026-11-21", day);
	is("02:38:57.738293189", ORIGIN);
	is("00:00:00", day);
	is("23:59:59.5", day + 86400 * NSEC_PER_SEC - NSEC_PER_SEC / 2);
	is("1969-12-31T23:59:59", -NSEC_PER_SEC);
}

TEST(a_time_may_name_its_zone)
{
	nsec_t hour = 3600 * NSEC_PER_SEC;

	is("2026-11-21T08:08:57.738293189+05:30", ORIGIN);
	is("2026-11-20 21:38:57.738293189-05:00", ORIGIN);
	is("08:08:57.738293189+05:30", ORIGIN);
	/* The day is the origin's, in that zone: the 20th there. */
	is("21:38:57.738293189-05:00", ORIGIN);
	is("00:38:57.738293189-05:00", ORIGIN - 21 * hour);
	is("02:38:57.738293189Z", ORIGIN);
}

TEST(other_texts_are_no_times)
{
	static const char *const texts[] = {
	    "",
	    "+",
	    "Z",
	    "now",
	    "12.5s",
	    "+1h",
	    "1e9",
	    "12:30",
	    "24:00:00",
	    "12:60:00",
	    "12:30:60",
	    "12:30:-1",
	    "12:30:1e3",
	    "12:30: 5",
	    "2026-13-01",
	    "2026-04-31",
	    "2026-11-21T",
	    "2026-11-21x02:38:57",
	    "2026-11-21T02:38:57+24:00",
	    "02:38:57+1:00",
	    "02:38:57+01:0x",
	    "02:38:57Z+01:00",
	    "2026-11-21+01:00",
	    "+12:30",
	    "2026-11",
	    "1500-01-01",
	    "9999-12-31",
	    "99999999999999999999",
	    "9223372036854775807",
	    "1795228737Z",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		is_none(texts[i]);
}
