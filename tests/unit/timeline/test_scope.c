/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/scope.h"

#include "timeline.h"

/* Nodes n1, web2 and db3, messages from 10 s to 20 s. */
static void make(const char *path)
{
	static const struct timeline_node nodes[] = {{.id = 2, .name = "web2"},
						     {.id = 3, .name = "db3"}};
	static const struct timeline_message message = {.src_node = 1,
							.dst_node = 2,
							.send_event = TIMELINE_NONE,
							.recv_event = TIMELINE_NONE,
							.send_ns = 10 * NSEC_PER_SEC,
							.recv_ns = 20 * NSEC_PER_SEC};
	struct timeline_writer *writer = write_timeline(path, true);
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < 2; i++)
		assert_int_equal(timeline_add_node(writer, &nodes[i], &error), 0);
	assert_int_equal(timeline_add_message(writer, &message, &error), 0);
	finish_timeline(writer);
}

static struct timeline_reader *reader;

static int start(void **state)
{
	struct error error = ERROR_INIT;

	scratch_enter(state);
	make("t");
	reader = timeline_reader_open("t", &error);
	return reader ? 0 : -1;
}

static int stop(void **state)
{
	timeline_reader_free(reader);
	return scratch_leave(state);
}

TEST(all_is_chosen_unless_said)
{
	struct error error = ERROR_INIT;
	struct scope scope;

	assert_int_equal(scope_init(&scope, reader, NULL, NULL, NULL, &error), 0);
	assert_int_equal(scope.nodes, 3);
	assert_true(scope.all_nodes && scope.all_time);
	assert_int_equal(scope.begin_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(scope.end_ns, 20 * NSEC_PER_SEC);
	assert_true(scope_has_node(&scope, 3));
	assert_false(scope_has_node(&scope, 4));
	assert_null(scope_find(&scope, 0));
	scope_clear(&scope);
}

TEST(nodes_and_times_are_chosen)
{
	struct text_list globs = {0};
	struct error error = ERROR_INIT;
	struct scope scope;

	text_list_add(&globs, "n1");
	text_list_add(&globs, "*b*");
	assert_int_equal(scope_init(&scope, reader, "+2.5", "30.0", &globs, &error), 0);
	assert_false(scope.all_nodes || scope.all_time);
	assert_true(scope_has_node(&scope, 1) && scope_has_node(&scope, 2));
	assert_int_equal(scope.begin_ns, 12500 * NSEC_PER_MSEC);
	assert_int_equal(scope.end_ns, 20 * NSEC_PER_SEC);
	scope_clear(&scope);
	text_list_clear(&globs);
}

static void refused(const char *begin, const char *end, const char *node,
		    const char *message)
{
	struct text_list globs = {0};
	struct error error = ERROR_INIT;
	struct scope scope;

	if (node)
		text_list_add(&globs, node);
	assert_int_equal(scope_init(&scope, reader, begin, end, &globs, &error), -1);
	assert_string_equal(error_text(&error), message);
	error_clear(&error);
	text_list_clear(&globs);
}

TEST(what_is_not_there_is_refused)
{
	refused(NULL, NULL, "wbe2", "--node: unknown node 'wbe2'; did you mean 'web2'?");
	refused(NULL, NULL, "elsewhere",
		"--node: unknown node 'elsewhere' (expected one of n1, web2, db3)");
	refused("+20", "+10", NULL, "--begin is after --end");
	refused("+11", NULL, NULL,
		"nothing between --begin and --end: the timeline is from "
		"1970-01-01 00:00:10.000000000 to 1970-01-01 00:00:20.000000000 UTC");
	refused("soon", NULL, NULL,
		"--begin: invalid time 'soon' (expected nanoseconds, seconds, +seconds, "
		"or UTC "
		"such as 2026-11-21T02:38:57.7)");
}

GROUP_FIXTURE(start, stop)
