/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/names.h"

#include "../scratch.h"

static bool is_near(const char *word, const char *other)
{
	return find_similar_word(word, &other, 1);
}

TEST(test_distance)
{
	char *words = mem_printf("%080d", 0);

	assert_true(is_near("", ""));
	assert_false(is_near("", "abc"));
	assert_true(is_near("kitten", "kittens"));
	assert_true(is_near("kitten", "sittin")); /* two of six letters */
	assert_false(is_near("kitten", "sitting"));
	assert_true(is_near("cpu", "cup")); /* a swap is one */
	assert_true(is_near("node1", "noed1"));
	assert_true(is_near("node1", "node12"));
	assert_false(is_near("ab", "xy"));
	assert_true(is_near(words, words)); /* what is behind 63 bytes differs */
	free(words);
}

TEST(test_find)
{
	static const char *const words[] = {"cpu", "sched", "syscalls", "messages"};

	assert_string_equal(find_similar_word("mesages", words, 4), "messages");
	assert_string_equal(find_similar_word("cup", words, 4), "cpu");
	assert_null(find_similar_word("report", words, 4));
	assert_null(find_similar_word("cpu", words, 0));
}
