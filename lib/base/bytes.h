/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_BYTES_H
#define CT_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A growing run of bytes. All zero is an empty one. */
struct bytes {
	uint8_t *data;
	size_t size, capacity;
};

/* Make room for so many more, and not count them yet. */
void bytes_reserve(struct bytes *bytes, size_t more);

/* So many more, of any content; they are good until the next call. */
static inline uint8_t *bytes_extend(struct bytes *bytes, size_t more)
{
	uint8_t *end;

	if (bytes->capacity - bytes->size < more)
		bytes_reserve(bytes, more);
	end = bytes->data + bytes->size;
	bytes->size += more;
	return end;
}

static inline void bytes_add_byte(struct bytes *bytes, uint8_t byte)
{
	*bytes_extend(bytes, 1) = byte;
}

static inline void bytes_add(struct bytes *bytes, const void *data, size_t size)
{
	if (size)
		memcpy(bytes_extend(bytes, size), data, size);
}

static inline void bytes_add_text(struct bytes *bytes, const char *text)
{
	bytes_add(bytes, text, strlen(text));
}

/* As printf(3); what ends a text is not added. */
void bytes_print(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether a text is one word of a shell as it is. */
bool bytes_are_shell_word(const char *text);

/* A text as one word of a shell, in single quotes where it needs them; a line feed within
 * these is what `line_feed` says. */
void bytes_add_shell_word(struct bytes *bytes, const char *text, const char *line_feed);

/* The low `width` bytes of a number, up to 8 of them, lowest first. */
static inline void bytes_add_le(struct bytes *bytes, uint64_t number, unsigned width)
{
	uint8_t *end = bytes_extend(bytes, width);
	uint64_t little = htole64(number);

	/* Sizes that the compiler knows are single instructions. */
	if (width == 8)
		memcpy(end, &little, 8);
	else if (width == 4)
		memcpy(end, &little, 4);
	else
		memcpy(end, &little, width);
}

/* The number at data, of `width` bytes, lowest first. */
static inline uint64_t bytes_le(const uint8_t *data, unsigned width)
{
	uint64_t little = 0;

	if (width == 8)
		memcpy(&little, data, 8);
	else if (width == 4)
		memcpy(&little, data, 4);
	else
		memcpy(&little, data, width);
	return le64toh(little);
}

void bytes_add_long_varint(struct bytes *bytes, uint64_t number);

/* Seven bits a byte, lowest first; the top bit says that more follow (LEB128). */
static inline void bytes_add_varint(struct bytes *bytes, uint64_t number)
{
	if (number < 0x80)
		bytes_add_byte(bytes, (uint8_t)number);
	else
		bytes_add_long_varint(bytes, number);
}

/* As a varint in which small negative numbers are short, too: 0, -1, 1, -2, ... */
void bytes_add_zigzag(struct bytes *bytes, int64_t number);

/*
 * Reading what the functions above wrote, from bytes that may be anything. Where they
 * end too soon, or a varint has more than 64 bits, 0 is read and `is_bad` is set.
 */
struct bytes_cursor {
	const uint8_t *at, *end;
	bool is_bad;
};

/* So many bytes, or NULL. */
const uint8_t *bytes_read(struct bytes_cursor *cursor, size_t size);
uint64_t bytes_read_long_varint(struct bytes_cursor *cursor);

static inline uint64_t bytes_read_varint(struct bytes_cursor *cursor)
{
	if (cursor->at < cursor->end && *cursor->at < 0x80)
		return *cursor->at++;
	return bytes_read_long_varint(cursor);
}

static inline int64_t bytes_read_zigzag(struct bytes_cursor *cursor)
{
	uint64_t number = bytes_read_varint(cursor);

	return (int64_t)(number >> 1 ^ -(number & 1));
}

/* Forget the content; give back memory, too, where there is more than `keep`. */
void bytes_empty(struct bytes *bytes, size_t keep);

void bytes_clear(struct bytes *bytes);

#endif
