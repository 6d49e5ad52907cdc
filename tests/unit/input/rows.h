/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_ROWS_H
#define CT_TEST_ROWS_H

/* Rows and problems of a reader of text files, as one text to compare. */
#include "problem/problem.h"

#include "../scratch.h"

struct rows {
	char text[4096];
	size_t length;
	size_t count;
	struct problem_list problems;
};

static inline void rows_add(struct rows *rows, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Texts that do not fit any more are left out. */
static inline void rows_add(struct rows *rows, const char *format, ...)
{
	size_t capacity = sizeof(rows->text) - rows->length;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(rows->text + rows->length, capacity, format, arguments);
	va_end(arguments);
	if (length > 0 && (size_t)length < capacity)
		rows->length += (size_t)length;
	else
		rows->text[rows->length] = '\0';
}

/* The problems, a line each: PLACE: TEXT (KIND, COUNT). */
static inline char *problems_text(const struct problem_list *problems)
{
	char *text = mem_strdup("");

	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->item[i];
		char *longer = mem_printf("%s%s: %s (%s, %llu)\n", text, problem->place,
					  problem->text, problem_kind_word(problem->kind),
					  (unsigned long long)problem->count);

		free(text);
		text = longer;
	}
	return text;
}

static inline void assert_problems(struct problem_list *problems, const char *wanted)
{
	char *text = problems_text(problems);

	assert_string_equal(text, wanted);
	free(text);
	problem_clear(problems);
}

/* A file of `size` bytes, all the same, after some text. */
static inline void scratch_long(const char *path, const char *begin, size_t size,
				const char *end)
{
	size_t before = strlen(begin), after = strlen(end);
	char *bytes = mem_alloc(before + size + after);

	memcpy(bytes, begin, before);
	memset(bytes + before, 'x', size);
	memcpy(bytes + before + size, end, after);
	scratch_bytes(path, bytes, before + size + after);
	free(bytes);
}

/* The bytes of a literal, zero bytes among them. */
#define SCRATCH_LITERAL(path, text) scratch_bytes(path, text, sizeof(text) - 1)

#endif
