/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/scope.h"

#include "timeline.h"

/* Node 1: two stretches of its kernel, and a processor; node 2: one; node 3: none. */
static struct recorded make(void)
{
	static const struct timeline_recorded rows[] = {
	    {1, TIMELINE_NONE, "kernel", 500, 900},
	    {1, TIMELINE_NONE, "kernel", 100, 300},
	    {1, 0, "cpu", 50, 1500},
	    {2, TIMELINE_NONE, "kernel", 400, 600},
	};
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = timeline_writer_new("t.db", NULL, true, &error);
	struct timeline_reader *reader;
	struct recorded recorded;

	for (int64_t id = 1; id <= 3; id++) {
		const struct timeline_node node = {.id = id, .name = "n"};

		assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(timeline_add_recorded(writer, &rows[i], &error), 0);
	finish_timeline(writer);
	reader = timeline_reader_open("t.db", &error);
	assert_int_equal(recorded_read(&recorded, reader, &error), 0);
	timeline_reader_free(reader);
	return recorded;
}

static void what_lies_within(void **unused)
{
	struct recorded recorded = make();

	(void)unused;
	assert_int_equal(recorded_within(&recorded, 1, 0, 2000), 600);
	assert_int_equal(recorded_within(&recorded, 1, 250, 600), 150);
	assert_int_equal(recorded_within(&recorded, 1, 300, 500), 0);
	assert_int_equal(recorded_within(&recorded, 1, NSEC_MIN, NSEC_MAX), 600);
	assert_int_equal(recorded_within(&recorded, 2, 0, 500), 100);
	assert_int_equal(recorded_within(&recorded, 3, 0, 2000), 0);
	recorded_clear(&recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_lies_within),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
