/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void bytes_reserve(struct bytes *bytes, size_t more)
{
	size_t capacity =
		   bytes->capacity < 64 ? 64 : bytes->capacity + bytes->capacity / 2,
	       wanted;

	if (bytes->capacity - bytes->size >= more)
		return;
	if (__builtin_add_overflow(bytes->size, more, &wanted))
		wanted = SIZE_MAX; /* mem_realloc() fails and exits */
	bytes->capacity = capacity > wanted ? capacity : wanted;
	bytes->data = mem_realloc(bytes->data, bytes->capacity, 1);
}

void bytes_print(struct bytes *bytes, const char *format, ...)
{
	enum { ENOUGH = 64 }; /* bytes for most texts, so that one attempt suffices */
	va_list arguments;
	int size;

	for (size_t capacity = ENOUGH;; capacity = (size_t)size + 1) {
		bytes_reserve(bytes, capacity);
		capacity = bytes->capacity - bytes->size;
		va_start(arguments, format);
		size = vsnprintf((char *)bytes->data + bytes->size, capacity, format,
				 arguments);
		va_end(arguments);
		if (size < 0 || (size_t)size < capacity)
			break;
	}
	bytes->size += size < 0 ? 0 : (size_t)size;
}

bool bytes_are_shell_word(const char *text)
{
	static const char plain[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";

	return *text && !text[strspn(text, plain)];
}

void bytes_add_shell_word(struct bytes *bytes, const char *text, const char *line_feed)
{
	if (bytes_are_shell_word(text)) {
		bytes_add_text(bytes, text);
		return;
	}
	bytes_add_byte(bytes, '\'');
	for (; *text; text++)
		if (*text == '\'')
			bytes_add_text(bytes, "'\\''");
		else if (*text == '\n')
			bytes_add_text(bytes, line_feed);
		else
			bytes_add_byte(bytes, (uint8_t)*text);
	bytes_add_byte(bytes, '\'');
}

void bytes_add_long_varint(struct bytes *bytes, uint64_t number)
{
	enum { LONGEST = 10 };
	uint8_t *begin = bytes_extend(bytes, LONGEST), *at = begin;

	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	bytes->size -= LONGEST - (size_t)(at - begin);
}

const uint8_t *bytes_read(struct bytes_cursor *cursor, size_t size)
{
	const uint8_t *from = cursor->at;

	if ((size_t)(cursor->end - cursor->at) < size) {
		cursor->is_bad = true;
		cursor->at = cursor->end;
		return NULL;
	}
	cursor->at += size;
	return from;
}

uint64_t bytes_read_long_varint(struct bytes_cursor *cursor)
{
	uint64_t number = 0;

	for (unsigned shift = 0; cursor->at < cursor->end && shift < 64; shift += 7) {
		uint64_t bits = *cursor->at & 0x7f;

		if (bits << shift >> shift != bits)
			break;
		number |= bits << shift;
		if (*cursor->at++ < 0x80)
			return number;
	}
	cursor->is_bad = true;
	cursor->at = cursor->end;
	return 0;
}

void bytes_empty(struct bytes *bytes, size_t keep)
{
	bytes->size = 0;
	if (bytes->capacity > keep)
		bytes_clear(bytes);
}

void bytes_clear(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){NULL, 0, 0};
}
