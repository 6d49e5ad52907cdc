/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "made_up.h"

static void assert_names(const char *const *asked, const char *first, const char *second)
{
	struct read read;

	read_made(&read, asked);
	assert_int_equal(read.status, 0);
	assert_string_equal(read.seen.trace[0].name, first);
	assert_string_equal(read.seen.trace[1].name, second);
	read_clear(&read);
}

FIXTURE_TEST(names_are_unique, set_up, scratch_leave)
{
	make_talk();
	assert_names(NULL, "web", "db");
	assert_names((const char *[]){"x", NULL}, "x", "db");
	assert_names((const char *[]){"x", "x"}, "x", "x-2");
	memset(made[0].facts.hostname, 0, sizeof(made[0].facts.hostname));
	assert_names(NULL, "a", "db");
}

static void set_clock(struct made_up *source, unsigned char uuid, nsec_t offset_ns)
{
	source->facts.has_uuid = true;
	source->facts.clock_frequency = 1000000000;
	source->facts.clock_uuid[0] = uuid;
	source->facts.clock_offset_ns = offset_ns;
}

/* The kernel's trace and a program's of one boot, made a second apart. */
FIXTURE_TEST(traces_of_one_clock_share_it, set_up, scratch_leave)
{
	struct made_up *user;
	const struct fit_options how = {
	    .drift_limit_ppm = 200, .max_rejected = 0.02, .bounds.threads = 1};
	struct clock_map map;
	struct read read;

	make_talk();
	user = make("user", "db");
	set_clock(&made[0], 1, 0);
	set_clock(&made[1], 2, 500);
	set_clock(user, 2, 200);
	saw(&made[0], false, 3, 5000);
	saw(user, true, 3, 75700);
	read_made(&read, NULL);
	assert_int_equal(read.status, 0);
	assert_int_equal(read.seen.traces, 3);
	assert_int_equal(read.seen.clocks, 2);
	assert_int_equal(read.seen.trace[2].clock_index, 1);
	assert_int_equal(read.seen.trace[2].shift_ns, 300);
	assert_int_equal(read.seen.matching.matched, 3);
	assert_int_equal(read.seen.log.numbers.count, 1);
	assert_int_equal(synchronize_sources(&read.seen, &how, &read.sync, &map,
					     &read.problems, &read.error),
			 0);
	assert_int_equal(read.sync.network.pairs.pair[0].messages_ab, 2);
	assert_int_equal(map.clocks, 3);
	assert_string_equal(map.clock[2].trace, "db-2");
	assert_int_equal(map.clock[2].quality, CLOCK_EXACT);
	/* One moment, by the stamps of both. */
	assert_int_equal(clock_correct(&map.clock[1], 76000),
			 clock_correct(&map.clock[2], 75700));
	clock_map_clear(&map);
	read_clear(&read);
}

FIXTURE_TEST(clocks_without_a_name_are_not_shared, set_up, scratch_leave)
{
	struct read read;

	make_talk();
	read_made(&read, NULL);
	assert_int_equal(read.seen.clocks, 2);
	read_clear(&read);
	set_clock(&made[0], 1, 0);
	set_clock(&made[1], 1, 0);
	made[1].facts.clock_frequency = 1000;
	read_made(&read, NULL);
	assert_int_equal(read.seen.clocks, 2);
	read_clear(&read);
}
