/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/tables.h"

#include "../timeline/timeline.h"

/* Sources whose paths are the begins of others' problems. */
SCRATCH_TEST(problems_are_told_apart_by_path)
{
	static char path[][20] = {"run/n1/kernel", "run/n1/kernel 2", "run/n2",
				  "run/n1/kernel:x"};
	static const char *const place[] = {"run/n1/kernel",   "run/n1/kernel/ch_0",
					    "run/n1/kernel 2", "run/n1/kernel 2/ch_0",
					    "run/n1/kernel:x", "run/n2",
					    "run/n22",         "run"};
	static const char *const text[] = {"run/n1/kernel: odd",
					   "run/n1/kernel/metadata: odd", "odd"};
	struct merge_node node = {.id = 1, .name = (char *)"n1"};
	struct merge_source source[4];
	struct source item[4] = {{.path = NULL}};
	struct merge_run run = {.node = &node,
				.nodes = 1,
				.source = source,
				.count = 4,
				.sources = {.item = item, .count = 4}};
	struct error error = ERROR_INIT;
	struct timeline_writer *writer = timeline_writer_new("t.db", NULL, true, &error);

	for (uint32_t i = 0; i < 4; i++) {
		source[i] =
		    (struct merge_source){.id = i + 1, .kind = "kernel", .island = -1};
		item[i].path = item[i].name = path[i];
	}
	for (size_t i = 0; i < sizeof(place) / sizeof(*place); i++)
		problem_add(&run.problems, place[i], PROBLEM_OTHER, 1, "odd");
	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		problem_add(&run.problems, "", PROBLEM_OTHER, 1, "%s", text[i]);
	assert_int_equal(tables_write(&run, writer, &error), 0);
	finish_timeline(writer);
	assert_int_equal(tables_derive("t.db", NULL, &error), 0);
	assert_answer("t.db",
		      "SELECT group_concat(ifnull(source, '-'), ' ') FROM "
		      "(SELECT source FROM problem ORDER BY id)",
		      "1 1 2 2 4 3 - - 1 1 -");
	assert_answer("t.db", "SELECT problems FROM source ORDER BY id", "4\n2\n1\n1");
	problem_clear(&run.problems);
}

TEST(a_problem_is_told_once)
{
	struct problem_list list = {NULL, 0, 0};
	struct merge_run run = {0};

	for (int i = 0; i < 2; i++) {
		problem_add(&list, "a", PROBLEM_OTHER, 1, "x");
		problem_add(&list, "a", PROBLEM_OTHER, 1, "y");
		problem_add(&list, "b", PROBLEM_OTHER, 1, "x");
		merge_run_report(&run, &list);
		assert_int_equal(list.count, 0);
		assert_int_equal(run.problems.count, 3);
	}
	merge_run_clear(&run);
}
