/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *exit_if_null(void *memory)
{
	if (!memory) {
		fputs("out of memory\n", stderr);
		exit(1);
	}
	return memory;
}

void *mem_alloc(size_t size)
{
	return exit_if_null(malloc(size ? size : 1));
}

void *mem_zalloc(size_t size)
{
	return exit_if_null(calloc(1, size ? size : 1));
}

void *mem_realloc(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return exit_if_null(NULL);
	return exit_if_null(realloc(old, bytes ? bytes : 1));
}

char *mem_strdup(const char *text)
{
	return mem_strndup(text, strlen(text));
}

char *mem_strndup(const char *text, size_t length)
{
	char *copy = mem_alloc(length + 1);

	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

char *mem_vprintf(const char *format, va_list arguments)
{
	char *text;

	if (vasprintf(&text, format, arguments) < 0)
		exit_if_null(NULL);
	return text;
}

char *mem_printf(const char *format, ...)
{
	return MEM_VPRINTF(format);
}

FILE *mem_stream(char **text, size_t *size)
{
	FILE *file = open_memstream(text, size);

	exit_if_null(file);
	return file;
}

void *mem_grow(void *items, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return items;
	*capacity = *capacity ? *capacity * 2 : 16;
	return mem_realloc(items, *capacity, size);
}

void mem_autofree(void *pointer)
{
	int before = errno;
	void *memory;

	memcpy(&memory, pointer, sizeof(memory)); /* a pointer to any type */
	free(memory);
	errno = before;
}
