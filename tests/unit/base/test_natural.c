/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/natural.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Each of these comes before all that follow. */
static const char *const ordered[] = {
    "",
    "10.0.0.9",
    "10.0.0.10",
    "a",
    "n9.rack2",
    "n9.rack10",
    "node1",
    "node2",
    "node2:b",
    "node9",
    "node10",
    "node10:2.pcap",
    "node10:10.pcap",
    "node18446744073709551616",
    "node99999999999999999999",
};

enum { NAMES = sizeof(ordered) / sizeof(*ordered) };

static void test_order(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < NAMES; i++)
		for (size_t k = 0; k < NAMES; k++) {
			int order = natural_compare(ordered[i], ordered[k]);

			assert_int_equal((order > 0) - (order < 0), (i > k) - (i < k));
		}
	/* However many zeros, they stay apart. */
	assert_true(natural_compare("node01", "node1") != 0);
	assert_true(natural_compare("node01", "node02") < 0);
	assert_true(natural_compare("node09", "node10") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_order)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
