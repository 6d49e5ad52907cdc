/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

TEST(nothing_is_something_to_free)
{
	void *memory[] = {mem_alloc(0), mem_zalloc(0), mem_realloc(NULL, 0, 8)};

	for (size_t i = 0; i < 3; i++) {
		assert_non_null(memory[i]);
		free(memory[i]);
	}
}

TEST(an_array_grows_and_keeps_its_items)
{
	size_t capacity = 0;
	int *item = NULL;

	for (int i = 0; i < 1000; i++) {
		item = mem_grow(item, (size_t)i, &capacity, sizeof(*item));
		assert_true(capacity > (size_t)i);
		item[i] = i;
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(item[i], i);
	free(item);
}

TEST(texts_are_copied)
{
	char *whole = mem_strdup("hello"), *part = mem_strndup("hello", 2);
	char *made = mem_printf("%s/%d", "a", 7);

	assert_string_equal(whole, "hello");
	assert_string_equal(part, "he");
	assert_string_equal(made, "a/7");
	free(whole);
	free(part);
	free(made);
}

TEST(a_stream_makes_a_text)
{
	char *text = NULL;
	size_t size = 1;
	FILE *file = mem_stream(&text, &size);

	fclose(file);
	assert_string_equal(text, "");
	assert_int_equal(size, 0);
	free(text);
	file = mem_stream(&text, &size);
	for (int i = 0; i < 20000; i++)
		fprintf(file, "%d,", i % 10);
	fflush(file);
	assert_int_equal(size, 40000);
	assert_int_equal(strlen(text), 40000);
	fputc('\0', file);
	fputc('x', file);
	fclose(file);
	assert_int_equal(size, 40002);
	assert_memory_equal(text + 39998, "9,\0x", 5);
	for (size_t i = 0; i < 40000; i++)
		assert_int_equal(text[i], i % 2 ? ',' : '0' + i / 2 % 10);
	free(text);
}

/* A size that is no size must not come back as a small piece of memory. */
TEST(an_overflowing_size_ends_the_program)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(3);
		mem_realloc(NULL, SIZE_MAX / 8 + 2, 8);
		_exit(2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
}
