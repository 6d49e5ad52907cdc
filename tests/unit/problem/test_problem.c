/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "problem/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"

static void assert_problem(const struct problem *problem, const char *place,
			   const char *text)
{
	assert_string_equal(problem->place, place);
	assert_string_equal(problem->text, text);
}

TEST(texts_are_copied)
{
	struct problem_list list = {NULL, 0, 0};
	char place[] = "n1/kernel";

	problem_add(&list, place, PROBLEM_TRUNCATED, 3, "%s at byte %d", place, 17);
	memset(place, 'x', sizeof(place) - 1);
	assert_int_equal(list.count, 1);
	assert_problem(&list.item[0], "n1/kernel", "n1/kernel at byte 17");
	assert_int_equal(list.item[0].kind, PROBLEM_TRUNCATED);
	assert_int_equal(list.item[0].count, 3);
	problem_clear(&list);
	assert_int_equal(list.count, 0);
	problem_clear(&list);
}

TEST(moving_keeps_the_order)
{
	struct problem_list to = {NULL, 0, 0}, from = {NULL, 0, 0};
	char text[16];

	problem_move(&to, &from);
	assert_int_equal(to.count, 0);
	problem_add(&to, "a", PROBLEM_OTHER, 1, "first");
	for (int i = 0; i < 100; i++)
		problem_add(&from, "b", PROBLEM_OTHER, 1, "%d", i);
	problem_move(&to, &from);
	assert_int_equal(from.count, 0);
	assert_int_equal(to.count, 101);
	assert_problem(&to.item[0], "a", "first");
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_problem(&to.item[i + 1], "b", text);
	}
	/* The emptied list can be used again. */
	problem_add(&from, "c", PROBLEM_OTHER, 1, "last");
	assert_int_equal(from.count, 1);
	problem_clear(&from);
	problem_clear(&to);
}

TEST(what_places_share_is_one_line)
{
	struct problem_list list = {0};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	problem_add(&list, "n1", PROBLEM_CLOCK, 1, "no clock.csv");
	problem_add(&list, "n1/a", PROBLEM_TRUNCATED, 1, "cut");
	problem_add(&list, "n2", PROBLEM_CLOCK, 1, "no clock.csv");
	problem_add(&list, "", PROBLEM_CLOCK, 1, "no place");
	problem_add(&list, "n2", PROBLEM_CLOCK, 1, "no clock.csv");
	for (int i = 0; i < 12; i++) {
		char place[16];

		snprintf(place, sizeof(place), "m%d", i);
		problem_add(&list, place, PROBLEM_DISCARDED, 1, "7 lost");
	}
	problem_print(&list, "p", out);
	fclose(out);
	assert_string_equal(text,
			    "p: n1, n2: no clock.csv\n"
			    "p: n1/a: cut\n"
			    "p: no place\n"
			    "p: m0, m1, m2, m3, m4, m5, m6, m7 and 4 more: 7 lost\n");
	free(text);
	problem_clear(&list);
}
