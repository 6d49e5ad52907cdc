/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/scope.h"

#include "timeline.h"

/* Node 1: two stretches of its kernel, and a processor; node 2: one; node 3: none. Events
 * at 0 and 2000. */
static void make(bool has_recorded)
{
	static const struct timeline_recorded rows[] = {
	    {1, TIMELINE_NONE, "kernel", 500, 900},
	    {1, TIMELINE_NONE, "kernel", 100, 300},
	    {1, 0, "cpu", 50, 1500},
	    {2, TIMELINE_NONE, "kernel", 400, 600},
	};
	static const struct timeline_class class = {.kind = "kernel", .name = "c"};
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = timeline_writer_new("t.db", NULL, true, &error);
	struct timeline_event event = {.node = 1, .tid = -1, .cpu = -1};

	for (int64_t id = 1; id <= 3; id++) {
		const struct timeline_node node = {.id = id, .name = "n"};

		assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	}
	assert_int_equal(timeline_add_class(writer, &class, &event.class, &error), 0);
	for (; event.ts_ns <= 2000; event.ts_ns += 2000)
		assert_int_equal(timeline_add_event(writer, &event, NULL, &error), 0);
	for (size_t i = 0; has_recorded && i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(timeline_add_recorded(writer, &rows[i], &error), 0);
	finish_timeline(writer);
}

/* The time recorded of a node between two times; the timeline's own if these are NULL. */
static nsec_t recorded(int64_t node, const char *begin, const char *end)
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader = timeline_reader_open("t.db", &error);
	struct scope scope;
	nsec_t found;

	assert_int_equal(scope_init(&scope, reader, begin, end, NULL, &error), 0);
	found = scope.has_recorded ? scope_find(&scope, node)->recorded_ns : -1;
	scope_clear(&scope);
	timeline_reader_free(reader);
	return found;
}

TEST(what_lies_within)
{
	make(true);
	assert_int_equal(recorded(1, NULL, NULL), 600);
	assert_int_equal(recorded(1, "+0.000000250", "+0.000000600"), 150);
	assert_int_equal(recorded(1, "+0.000000300", "+0.000000500"), 0);
	assert_int_equal(recorded(2, NULL, "+0.000000500"), 100);
	assert_int_equal(recorded(3, NULL, NULL), 0);
	unlink("t.db");
	make(false);
	assert_int_equal(recorded(1, NULL, NULL), -1);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
