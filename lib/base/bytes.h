/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_BYTES_H
#define CT_BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A growing byte buffer. Zero-initialize before use. */
struct bytes {
	uint8_t *data;
	size_t size, capacity;
};

/* Reserve space for `more` bytes without changing `size`. */
void bytes_reserve(struct bytes *bytes, size_t more);

/* Append `more` uninitialized bytes and return them. The pointer is valid until the next
 * call. */
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

/* Append text like printf(3), without a terminating NUL. */
void bytes_print(struct bytes *bytes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return true if a shell reads the string as one word without quotes. */
bool bytes_are_shell_word(const char *text);

/* Append a string as one word of a shell, in single quotes if it needs them. Within
 * quotes, replace each line feed by `line_feed`. */
void bytes_add_shell_word(struct bytes *bytes, const char *text, const char *line_feed);

/* Append the low `width` bytes of a number, at most 8, in little-endian order. */
static inline void bytes_add_le(struct bytes *bytes, uint64_t number, unsigned width)
{
	uint8_t *end = bytes_extend(bytes, width);
	uint64_t little = htole64(number);

	/* With a constant size, memcpy is a single instruction. */
	if (width == 8)
		memcpy(end, &little, 8);
	else if (width == 4)
		memcpy(end, &little, 4);
	else
		memcpy(end, &little, width);
}

/* Return the little-endian number of `width` bytes at `data`. */
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

/* Append a number as LEB128: seven bits per byte, lowest first; the top bit means that
 * more follow. */
static inline void bytes_add_varint(struct bytes *bytes, uint64_t number)
{
	if (number < 0x80)
		bytes_add_byte(bytes, (uint8_t)number);
	else
		bytes_add_long_varint(bytes, number);
}

/* Append a signed number as the varint of its index in 0, -1, 1, -2, ..., so that small
 * negative numbers are short too. */
static inline void bytes_add_zigzag(struct bytes *bytes, int64_t number)
{
	bytes_add_varint(bytes, (uint64_t)number << 1 ^ (uint64_t)(number >> 63));
}

/*
 * A reader of what the functions above wrote, from untrusted bytes. If they end too soon,
 * or a varint has more than 64 bits, the result is 0 and `is_bad` is set.
 */
struct bytes_cursor {
	const uint8_t *at, *end;
	bool is_bad;
};

/* Return the next `size` bytes, or NULL if there are fewer. */
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

/* Discard the content, and free the memory if it is more than `keep` bytes. */
void bytes_empty(struct bytes *bytes, size_t keep);

void bytes_clear(struct bytes *bytes);

#endif
