/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "made_up.h"

static void sources_become_messages(void **state)
{
	struct read read;

	(void)state;
	make_talk();
	read_made(&read, NULL);
	assert_int_equal(read.status, 0);
	assert_int_equal(read.seen.traces, 2);
	assert_int_equal(read.seen.clocks, 2);
	assert_int_equal(read.seen.matching.matched, 2);
	assert_int_equal(read.seen.log.count, 2);
	assert_int_equal(read.seen.trace[1].facts.begin_ns, 72000);
	assert_int_equal(read.seen.trace[1].facts.end_ns, 73000);
	/* What the sources found odd is told. */
	assert_int_equal(read.problems.count, 2);
	assert_string_equal(read.problems.item[1].place, "b");
	read_clear(&read);
}

static void what_cannot_be_read_is_left_out(void **state)
{
	struct read read;

	(void)state;
	make_talk();
	make("c", "cache");
	made[2].is_broken = true;
	read_made(&read, NULL);
	assert_int_equal(read.status, 0);
	assert_int_equal(read.seen.traces, 2);
	assert_int_equal(read.problems.item[0].kind, PROBLEM_UNREADABLE);
	assert_string_equal(read.problems.item[0].text, "c: cannot be read");
	read_clear(&read);
}

static void one_source_is_too_few(void **state)
{
	struct read read;

	(void)state;
	make_talk();
	made[1].is_broken = true;
	read_made(&read, NULL);
	assert_int_equal(read.status, -1);
	assert_string_equal(error_text(&read.error), "1 trace to read, want 2 or more");
	read_clear(&read);
}

static void a_source_given_twice_is_used_once(void **state)
{
	struct read read;

	(void)state;
	make_talk();
	make("c", "web");
	assert_int_equal(unlink("a") || mkdir("a", 0777) || unlink("c"), 0);
	scratch_text("a/stream", "its bytes tell that it is the same");
	assert_int_equal(symlink("a", "c"), 0);
	read_made(&read, NULL);
	assert_int_equal(read.seen.traces, 2);
	assert_int_equal(read.problems.item[0].kind, PROBLEM_TWICE);
	assert_string_equal(read.problems.item[0].place, "c");
	read_clear(&read);
}

/* The problem of that kind, which must be the only one. */
static const struct problem *problem_of(const struct read *read, const char *kind)
{
	const struct problem *found = NULL;

	for (size_t i = 0; i < read->problems.count; i++)
		if (strcmp(problem_kind_word(read->problems.item[i].kind), kind) == 0) {
			assert_null(found);
			found = &read->problems.item[i];
		}
	assert_non_null(found);
	return found;
}

static void silence_is_explained(void **state)
{
	struct read read;

	(void)state;
	make_talk();
	made[1].count = 0;
	read_made(&read, NULL);
	assert_string_equal(problem_of(&read, "silent")->place, "b");
	read_clear(&read);
	make("c", "cache")->facts.headerless = 7;
	saw(&made[2], false, 9, 1000);
	read_made(&read, NULL);
	assert_string_equal(problem_of(&read, "headerless")->place, "c");
	assert_int_equal(problem_of(&read, "headerless")->count, 7);
	read_clear(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(sources_become_messages), TEST(what_cannot_be_read_is_left_out),
	    TEST(one_source_is_too_few),   TEST(a_source_given_twice_is_used_once),
	    TEST(silence_is_explained),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
