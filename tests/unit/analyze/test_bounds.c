/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/bounds.h"

#include "../timeline/timeline.h"

/* Node 1 with a kernel trace (source 1) and a capture (2) of another clock, node 2 with
 * one trace (3) whose clock has two segments. */
static struct bounds *make(void)
{
	static const char path[] = "run.db";
	struct timeline_writer *writer = write_timeline(path, true);
	const struct timeline_node node = {
	    .id = 2, .name = "n2", .cpus = TIMELINE_NONE, .mem_kib = TIMELINE_NONE};
	const struct timeline_source sources[] = {
	    {.id = 2, .node = 1, .kind = "capture", .name = "n1:a.pcap", .reference = 1},
	    {.id = 3, .node = 2, .kind = "kernel", .name = "n2", .reference = 1}};
	const struct timeline_clock clocks[] = {{1, 1000, 1000, 0},
						{2, 1000, 1010, 0},
						{3, 0, 5000000, 0},
						{3, 1000000, 6000000, 100000}};
	const struct timeline_clock_bound rows[] = {{1, 0, 0, 0},
						    {2, 1000, -7, 9},
						    {3, 0, -10, 20},
						    {3, 1000000, -30, 5},
						    {3, 2000000, NSEC_MIN, 40}};
	const struct timeline_clock_pair pair = {.a = 1, .b = 3, .quality = "accurate"};
	struct error error = ERROR_INIT;
	struct timeline_reader *reader;
	struct bounds *bounds;

	assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(timeline_add_source(writer, &sources[i], &error), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(timeline_add_clock(writer, &clocks[i], &error), 0);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(timeline_add_clock_bound(writer, &rows[i], &error), 0);
	assert_int_equal(timeline_add_clock_pair(writer, &pair, &error), 0);
	finish_timeline(writer);
	reader = timeline_reader_open(path, &error);
	bounds = bounds_new(reader, &error);
	assert_string_equal(error_text(&error), "");
	timeline_reader_free(reader);
	return bounds;
}

static void expect(struct bound bound, nsec_t low, nsec_t high)
{
	assert_int_equal(bound.low_ns, low);
	assert_int_equal(bound.high_ns, high);
}

/* At a stated time its own bound, between two the wider sides, beyond the ends none. */
static void test_at_a_time(void **unused)
{
	struct bounds *bounds = make();

	(void)unused;
	expect(bounds_at(bounds, 3, 5000000), -10, 20);
	expect(bounds_at(bounds, 3, 5500000), -30, 20);
	expect(bounds_at(bounds, 3, 6000000), -30, 5);
	expect(bounds_at(bounds, 3, 6500000), NSEC_MIN, 40);
	expect(bounds_at(bounds, 3, 7000100), NSEC_MIN, 40);
	/* A stamp that was corrected twice is off by a little. */
	expect(bounds_at(bounds, 3, 5000000 - 1000), -10, 20);
	expect(bounds_at(bounds, 3, 5000000 - 1001), NSEC_MIN, NSEC_MAX);
	expect(bounds_at(bounds, 3, 7000100 + 1001), NSEC_MIN, NSEC_MAX);
	expect(bounds_at(bounds, 99, 0), NSEC_MIN, NSEC_MAX);
	bounds_free(bounds);
}

static void test_between_clocks(void **unused)
{
	struct bounds *bounds = make();

	(void)unused;
	expect(bounds_between(bounds, 1, 10, 1, 20), 0, 0);
	/* Received by 3, sent by 2: low - high, high - low. */
	expect(bounds_between(bounds, 2, 2000, 3, 5000000), -10 - 9, 20 + 7);
	expect(bounds_between(bounds, 3, 6500000, 2, 2000), -7 - 40, NSEC_MAX);
	assert_int_equal(bound_width((struct bound){-3, 2}), 3);
	assert_int_equal(bound_width((struct bound){NSEC_MIN, 2}), NSEC_MAX);
	bounds_free(bounds);
}

/* Where the kernel's trace was not recorded its capture was, and then nothing. */
static void test_of_nodes(void **unused)
{
	struct bounds *bounds = make();

	(void)unused;
	expect(bounds_of_node(bounds, 1, 0), 0, 0);
	expect(bounds_of_node(bounds, 1, 1500), -7, 9);
	expect(bounds_of_node(bounds, 1, 9000), NSEC_MIN, NSEC_MAX);
	expect(bounds_of_node(bounds, 2, 5500000), -30, 20);
	expect(bounds_of_node(bounds, 2, 4000000), NSEC_MIN, NSEC_MAX);
	bounds_free(bounds);
}

static void test_sources_of_nodes(void **unused)
{
	struct bounds *bounds = make();

	(void)unused;
	assert_int_equal(bounds_source(bounds, 1), 1);
	assert_int_equal(bounds_source(bounds, 2), 3);
	assert_int_equal(bounds_source(bounds, 3), -1);
	bounds_free(bounds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_at_a_time, scratch_enter, scratch_leave),
	    cmocka_unit_test_setup_teardown(test_between_clocks, scratch_enter,
					    scratch_leave),
	    cmocka_unit_test_setup_teardown(test_of_nodes, scratch_enter, scratch_leave),
	    cmocka_unit_test_setup_teardown(test_sources_of_nodes, scratch_enter,
					    scratch_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
