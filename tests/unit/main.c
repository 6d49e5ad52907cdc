/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The test program of a folder: `unit-FOLDER NAME [ARGUMENT...]` runs the tests of
 * test_NAME.c. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

enum { MOST_TESTS = 512, MOST_GROUPS = 64 };

char **test_arguments;

static struct {
	const char *file;
	struct CMUnitTest test;
} tests[MOST_TESTS];
static struct {
	const char *file;
	CMFixtureFunction set_up, tear_down;
} groups[MOST_GROUPS];
static size_t test_count, group_count;
static const char *chosen;

void test_add(const char *file, struct CMUnitTest test)
{
	if (test_count == MOST_TESTS)
		abort();
	tests[test_count].file = file;
	tests[test_count++].test = test;
}

void test_add_group(const char *file, CMFixtureFunction set_up,
		    CMFixtureFunction tear_down)
{
	if (group_count == MOST_GROUPS)
		abort();
	groups[group_count].file = file;
	groups[group_count].set_up = set_up;
	groups[group_count++].tear_down = tear_down;
}

static bool is_chosen(const char *file)
{
	const char *name = strstr(file, "/test_");
	size_t length = strlen(chosen);

	return name && strncmp(name + strlen("/test_"), chosen, length) == 0 &&
	       strcmp(name + strlen("/test_") + length, ".c") == 0;
}

static int set_up_groups(void **state)
{
	int status = 0;

	for (size_t i = 0; i < group_count && status == 0; i++)
		if (groups[i].set_up && is_chosen(groups[i].file))
			status = groups[i].set_up(state);
	return status;
}

static int tear_down_groups(void **state)
{
	int status = 0;

	for (size_t i = group_count; i-- > 0;)
		if (groups[i].tear_down && is_chosen(groups[i].file))
			status |= groups[i].tear_down(state);
	return status;
}

int main(int n, char **word)
{
	struct CMUnitTest run[MOST_TESTS];
	size_t count = 0;

	if (n < 2) {
		for (size_t i = 0; i < test_count; i++)
			printf("%s: %s\n", tests[i].file, tests[i].test.name);
		return 2;
	}
	chosen = word[1];
	test_arguments = word + 2;
	for (char **argument = test_arguments; *argument; argument++)
		*argument = realpath(*argument, NULL);
	for (size_t i = 0; i < test_count; i++)
		if (is_chosen(tests[i].file))
			run[count++] = tests[i].test;
	if (count == 0) {
		fprintf(stderr, "%s: no test of that name\n", chosen);
		return 2;
	}
	return _cmocka_run_group_tests(chosen, run, count, set_up_groups,
				       tear_down_groups);
}
