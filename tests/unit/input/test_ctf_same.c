/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Our own reader against libbabeltrace2: the traces of tests/fixtures/net3, or those
 * named as arguments.
 */
#include "record_compare.h"

static char **named;

static void compare_trace(const char *path)
{
	uint64_t events = compare_readers(path);

	assert_int_equal(compare_records(path), events);
	print_message("%s: %" PRIu64 " events\n", path, events);
}

static void named_traces_are_read_the_same(void **state)
{
	(void)state;
	for (char **path = named; *path; path++)
		compare_trace(*path);
}

static void the_recorded_run_is_read_the_same(void **state)
{
	const char *tree = getenv("CT_SOURCE");

	(void)state;
	if (!tree)
		skip();
	for (int node = 1; node <= 3; node++) {
		char *path =
		    mem_printf("%s/tests/fixtures/net3/node%d/kernel", tree, node);

		compare_trace(path);
		free(path);
	}
}

int main(int arguments, char **argument)
{
	const struct CMUnitTest all[] = {
	    cmocka_unit_test(the_recorded_run_is_read_the_same)};
	const struct CMUnitTest some[] = {
	    cmocka_unit_test(named_traces_are_read_the_same)};

	named = argument + 1;
	if (arguments > 1)
		return cmocka_run_group_tests(some, NULL, NULL);
	return cmocka_run_group_tests(all, NULL, NULL);
}
