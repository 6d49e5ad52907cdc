/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Our own reader against libbabeltrace2: the traces of tests/fixtures/net3, or those
 * named as arguments.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "record_compare.h"

#include "../test.h"

static void compare_trace(const char *path)
{
	uint64_t events = compare_readers(path);

	assert_int_equal(compare_records(path), events);
	print_message("%s: %" PRIu64 " events\n", path, events);
}

TEST(our_reader_agrees)
{
	for (char **path = test_arguments; *path; path++)
		compare_trace(*path);
	for (int node = 1; node <= 3 && !*test_arguments; node++) {
		char *path = mem_printf("%s/tests/fixtures/net3/node%d/kernel",
					getenv("CT_SOURCE"), node);

		compare_trace(path);
		free(path);
	}
}
