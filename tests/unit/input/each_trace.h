/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_EACH_TRACE_H
#define CT_TEST_EACH_TRACE_H

/* A test of whole traces: of those that the command line names, or of the recorded run's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

static void (*each_test)(const char *path);

static inline void each_named(void **state)
{
	for (char **path = *state; *path; path++)
		each_test(*path);
}

static inline void each_recorded(void **state)
{
	const char *tree = getenv("CT_SOURCE");

	(void)state;
	if (!tree)
		skip();
	for (int node = 1; node <= 3; node++) {
		char *path =
		    mem_printf("%s/tests/fixtures/net3/node%d/kernel", tree, node);

		each_test(path);
		free(path);
	}
}

/* A main's work: its arguments are the traces. */
static inline int each_trace(int arguments, char **argument,
			     void (*test)(const char *path))
{
	const struct CMUnitTest named[] = {
	    cmocka_unit_test_prestate(each_named, argument + 1)};
	const struct CMUnitTest recorded[] = {cmocka_unit_test(each_recorded)};

	each_test = test;
	return arguments > 1 ? cmocka_run_group_tests(named, NULL, NULL)
			     : cmocka_run_group_tests(recorded, NULL, NULL);
}

#endif
