/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Our own reader against libbabeltrace2: the traces of tests/fixtures/net3, or those
 * named as arguments.
 */
#include "each_trace.h"
#include "record_compare.h"

static void compare_trace(const char *path)
{
	uint64_t events = compare_readers(path);

	assert_int_equal(compare_records(path), events);
	print_message("%s: %" PRIu64 " events\n", path, events);
}

int main(int arguments, char **argument)
{
	return each_trace(arguments, argument, compare_trace);
}
