/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_TEST_H
#define CT_TEST_TEST_H

/*
 * Unit tests that register themselves: `TEST(what_it_shows)` and a body. main.c runs
 * those of one file, in their order there. `test_state` is cmocka's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The words after the test's name on the command line, up to NULL; paths are absolute. */
extern char **test_arguments;

void test_add(const char *file, struct CMUnitTest test);
/* Call `set_up` before the tests of `file`, and `tear_down` after them; either may be
 * NULL. */
void test_add_group(const char *file, CMFixtureFunction set_up,
		    CMFixtureFunction tear_down);

#define FIXTURE_TEST(function, set_up, tear_down)                                        \
	static void function(void **test_state);                                         \
	__attribute__((constructor)) static void add_test_##function(void)               \
	{                                                                                \
		test_add(__BASE_FILE__, (struct CMUnitTest){#function, function, set_up, \
							    tear_down, NULL});           \
	}                                                                                \
	static void function(void **test_state __attribute__((unused)))

#define TEST(function) FIXTURE_TEST(function, NULL, NULL)

#define GROUP_FIXTURE(set_up, tear_down)                                                 \
	__attribute__((constructor)) static void add_group_##set_up(void)                \
	{                                                                                \
		test_add_group(__BASE_FILE__, set_up, tear_down);                        \
	}

#endif
