/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/scope.h"

#include "timeline.h"

/* Node 1: two kernel traces, of which one lies within a third, a capture and a program's
 * trace; node 2: a program's trace and a capture; node 3: a capture. */
static struct recorded make(void)
{
	static const struct timeline_source sources[] = {
	    {.node = 1, .kind = "kernel", .begin_ns = 500, .end_ns = 900},
	    {.node = 1, .kind = "kernel", .begin_ns = 100, .end_ns = 300},
	    {.node = 1, .kind = "kernel", .begin_ns = 200, .end_ns = 250},
	    {.node = 1, .kind = "capture", .begin_ns = 0, .end_ns = 2000},
	    {.node = 1, .kind = "user", .begin_ns = 50, .end_ns = 1500},
	    {.node = 2, .kind = "user", .begin_ns = 400, .end_ns = 600},
	    {.node = 2, .kind = "capture", .begin_ns = 0, .end_ns = 2000},
	    {.node = 3, .kind = "capture", .begin_ns = 0, .end_ns = 2000},
	};
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = timeline_writer_new("t.db", NULL, true, &error);
	struct timeline_reader *reader;
	struct recorded recorded;

	for (int64_t id = 1; id <= 3; id++) {
		const struct timeline_node node = {.id = id, .name = "n"};

		assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	}
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		struct timeline_source source = sources[i];

		source.id = (int64_t)i + 1;
		assert_int_equal(timeline_add_source(writer, &source, &error), 0);
	}
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
