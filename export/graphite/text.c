/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/graphite/text.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>

#include "export/csv_text.h"

/* carbon takes messages up to 1 MiB, and wants some hundred points in each. */
enum { MOST_POINTS = 500, MOST_BYTES = 512 << 10 };

/* Opcodes of pickle (Python's Lib/pickletools.py). */
enum {
	PICKLE_PROTO = 0x80,
	PICKLE_EMPTY_LIST = ']',
	PICKLE_MARK = '(',
	PICKLE_APPENDS = 'e',
	PICKLE_UNICODE = 'X', /* 4 bytes of length, lowest first, and UTF-8 */
	PICKLE_INT = 'J',     /* 4 bytes with a sign, lowest first */
	PICKLE_LONG = 0x8a,   /* a byte of length, and so many with a sign */
	PICKLE_FLOAT = 'G',   /* 8 bytes, highest first */
	PICKLE_TUPLE2 = 0x86,
	PICKLE_STOP = '.',
};

static void add_line(struct bytes *bytes, const struct graphite_point *point)
{
	const struct cell value = {.type = CELL_REAL, .real = point->value};
	char number[CSV_NUMBER], line[CSV_NUMBER + 32];
	int size;

	number[csv_number(number, &value)] = '\0';
	size = snprintf(line, sizeof(line), " %s %" PRId64 "\n", number, point->seconds);
	bytes_add(bytes, point->path, strlen(point->path));
	bytes_add(bytes, line, (size_t)size);
}

static void add_pickled(struct bytes *bytes, const struct graphite_point *point)
{
	size_t length = strlen(point->path);
	uint64_t bits;

	bytes_add_byte(bytes, PICKLE_UNICODE);
	bytes_add_le(bytes, length, 4);
	bytes_add(bytes, point->path, length);
	if (point->seconds >= INT32_MIN && point->seconds <= INT32_MAX) {
		bytes_add_byte(bytes, PICKLE_INT);
		bytes_add_le(bytes, (uint64_t)point->seconds, 4);
	} else {
		bytes_add_byte(bytes, PICKLE_LONG);
		bytes_add_byte(bytes, 8);
		bytes_add_le(bytes, (uint64_t)point->seconds, 8);
	}
	memcpy(&bits, &point->value, sizeof(bits));
	bits = htobe64(bits);
	bytes_add_byte(bytes, PICKLE_FLOAT);
	bytes_add(bytes, &bits, sizeof(bits));
	bytes_add_byte(bytes, PICKLE_TUPLE2);
	bytes_add_byte(bytes, PICKLE_TUPLE2);
}

static void begin_message(struct graphite_text *text)
{
	text->message = text->bytes.size;
	bytes_add_le(&text->bytes, 0, 4); /* its length */
	bytes_add_byte(&text->bytes, PICKLE_PROTO);
	bytes_add_byte(&text->bytes, 2);
	bytes_add_byte(&text->bytes, PICKLE_EMPTY_LIST);
	bytes_add_byte(&text->bytes, PICKLE_MARK);
}

void graphite_text_add(struct graphite_text *text, const struct graphite_point *point)
{
	if (!text->pickle) {
		add_line(&text->bytes, point);
		return;
	}
	if (!text->points)
		begin_message(text);
	add_pickled(&text->bytes, point);
	if (++text->points == MOST_POINTS ||
	    text->bytes.size - text->message >= MOST_BYTES)
		graphite_text_end(text);
}

void graphite_text_end(struct graphite_text *text)
{
	uint32_t size;

	if (!text->points)
		return;
	bytes_add_byte(&text->bytes, PICKLE_APPENDS);
	bytes_add_byte(&text->bytes, PICKLE_STOP);
	size = htobe32((uint32_t)(text->bytes.size - text->message - 4));
	memcpy(text->bytes.data + text->message, &size, sizeof(size));
	text->points = 0;
}
