/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mem_exit(void)
{
	fputs("out of memory\n", stderr);
	exit(1);
}

static void *exit_if_null(void *memory)
{
	if (!memory)
		mem_exit();
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
		mem_exit();
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
		mem_exit();
	return text;
}

char *mem_printf(const char *format, ...)
{
	return MEM_VPRINTF(format);
}

struct stream {
	char **text;
	size_t *size, capacity;
};

/* The functions for fopencookie(3). */
static ssize_t write_stream(void *cookie, const char *bytes, size_t count)
{
	struct stream *stream = cookie;
	size_t size = *stream->size;

	if (size + count >= stream->capacity) {
		stream->capacity = 2 * (size + count) + 1;
		*stream->text = mem_realloc(*stream->text, stream->capacity, 1);
	}
	memcpy(*stream->text + size, bytes, count);
	*stream->size = size + count;
	(*stream->text)[size + count] = '\0';
	return (ssize_t)count;
}

static int close_stream(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *mem_stream(char **text, size_t *size)
{
	static const cookie_io_functions_t calls = {.write = write_stream,
						    .close = close_stream};
	struct stream *stream = mem_alloc(sizeof(*stream));

	*stream = (struct stream){.text = text, .size = size, .capacity = 1};
	*text = mem_zalloc(1);
	*size = 0;
	return exit_if_null(fopencookie(stream, "w", calls));
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
