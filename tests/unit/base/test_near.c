/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/near.h"

#include "../scratch.h"

static void test_distance(void **unused)
{
	char *words = mem_printf("%080d", 0);

	(void)unused;
	assert_int_equal(near_distance("", ""), 0);
	assert_int_equal(near_distance("", "abc"), 3);
	assert_int_equal(near_distance("kitten", "sitting"), 3);
	assert_int_equal(near_distance("node1", "noed1"), 1);
	assert_int_equal(near_distance("syscalls", "sycsalls"), 1);
	assert_int_equal(near_distance("node1", "node12"), 1);
	assert_int_equal(near_distance(words, words), 80 - 63);
	free(words);
}

static void test_find(void **unused)
{
	static const char *const words[] = {"cpu", "sched", "syscalls", "messages"};

	(void)unused;
	assert_string_equal(near_find("mesages", words, 4), "messages");
	assert_string_equal(near_find("cup", words, 4), "cpu");
	assert_null(near_find("report", words, 4));
	assert_null(near_find("cpu", words, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_distance),
	    cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
