/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/tables.h"

#include "../scratch.h"

/* Sources whose paths are the begins of others' problems. */
static void make_run(struct merge_run *run)
{
	static const char *const path[] = {"run/n1/kernel", "run/n1/kernel 2", "run/n2",
					   "run/n1/kernel:x"};

	memset(run, 0, sizeof(*run));
	run->count = run->sources.count = 4;
	run->source = mem_zalloc(4 * sizeof(*run->source));
	run->sources.item = mem_zalloc(4 * sizeof(*run->sources.item));
	for (uint32_t i = 0; i < 4; i++)
		run->sources.item[i].path = mem_strdup(path[i]);
}

static void is_of(const struct merge_run *run, const char *place, const char *text,
		  size_t source)
{
	struct problem_list list = {NULL, 0, 0};

	problem_add(&list, place, PROBLEM_OTHER, 1, "%s", text);
	assert_int_equal(tables_problem_source(run, &list.item[0]), source);
	problem_clear(&list);
}

static void problems_are_told_apart_by_path(void **state)
{
	struct merge_run run;

	(void)state;
	make_run(&run);
	is_of(&run, "run/n1/kernel", "odd", 0);
	is_of(&run, "run/n1/kernel/ch_0", "odd", 0);
	is_of(&run, "", "run/n1/kernel: odd", 0);
	is_of(&run, "", "run/n1/kernel/metadata: odd", 0);
	is_of(&run, "run/n1/kernel 2", "odd", 1);
	is_of(&run, "run/n1/kernel 2/ch_0", "odd", 1);
	is_of(&run, "run/n1/kernel:x", "odd", 3);
	is_of(&run, "run/n2", "odd", 2);
	is_of(&run, "run/n22", "odd", SIZE_MAX);
	is_of(&run, "run", "odd", SIZE_MAX);
	is_of(&run, "", "odd", SIZE_MAX);
	merge_run_clear(&run);
}

static void lost_events_are_counted_by_source(void **state)
{
	struct merge_run run;

	(void)state;
	make_run(&run);
	problem_add(&run.problems, "run/n1/kernel", PROBLEM_DISCARDED, 5, "lost");
	problem_add(&run.problems, "run/n1/kernel", PROBLEM_DISCARDED, 7, "lost more");
	problem_add(&run.problems, "run/n1/kernel 2", PROBLEM_DISCARDED, 100, "lost");
	problem_add(&run.problems, "run/n1/kernel", PROBLEM_BACKWARD, 1000, "odd");
	assert_int_equal(tables_discarded(&run, 0), 12);
	assert_int_equal(tables_discarded(&run, 1), 100);
	assert_int_equal(tables_discarded(&run, 2), 0);
	merge_run_clear(&run);
}

static void a_problem_is_told_once(void **state)
{
	struct problem_list list = {NULL, 0, 0};
	struct merge_run run = {0};

	(void)state;
	for (int i = 0; i < 2; i++) {
		problem_add(&list, "a", PROBLEM_OTHER, 1, "x");
		problem_add(&list, "a", PROBLEM_OTHER, 1, "y");
		problem_add(&list, "b", PROBLEM_OTHER, 1, "x");
		merge_run_tell(&run, &list);
		assert_int_equal(list.count, 0);
		assert_int_equal(run.problems.count, 3);
	}
	merge_run_clear(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(problems_are_told_apart_by_path),
	    cmocka_unit_test(lost_events_are_counted_by_source),
	    cmocka_unit_test(a_problem_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
