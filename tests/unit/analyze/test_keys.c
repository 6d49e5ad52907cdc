/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/keys.h"

#include "../scratch.h"

static void build(struct keys *keys, const char *a, const char *b, int64_t c)
{
	keys_begin(keys);
	keys_text(keys, a, strlen(a));
	keys_text(keys, b, strlen(b));
	keys_integer(keys, c);
}

static void test_keys_are_numbered(void **unused)
{
	struct keys keys = {0};

	(void)unused;
	build(&keys, "ab", "c", 1);
	assert_int_equal(keys_find(&keys), 0);
	build(&keys, "a", "bc", 1);
	assert_int_equal(keys_find(&keys), 1);
	build(&keys, "ab", "c", 2);
	build(&keys, "ab", "c", 1);
	assert_int_equal(keys_find(&keys), 0);
	assert_int_equal(keys.known.count, 2);
	keys_clear(&keys);
}

static void test_key_without_parts(void **unused)
{
	struct keys keys = {0};

	(void)unused;
	keys_begin(&keys);
	assert_int_equal(keys_find(&keys), 0);
	keys_begin(&keys);
	assert_int_equal(keys_find(&keys), 0);
	keys_clear(&keys);
}

static void test_many_keys(void **unused)
{
	struct keys keys = {0};

	(void)unused;
	for (int round = 0; round < 2; round++)
		for (int64_t i = 0; i < 100000; i++) {
			build(&keys, "x", "", i);
			assert_int_equal(keys_find(&keys), i);
		}
	assert_int_equal(keys.known.count, 100000);
	keys_clear(&keys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_keys_are_numbered),
	    cmocka_unit_test(test_key_without_parts),
	    cmocka_unit_test(test_many_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
