/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TEST_CTF_BITS_H
#define CT_TEST_CTF_BITS_H

/*
 * Streams written bit by bit, in the plainest way there is: nothing of it is
 * shared with what reads them. And text that grows.
 */
#include <stdbool.h>

#include "../draw.h"
#include "../scratch.h"

struct bits {
	unsigned char *byte;
	uint64_t at, capacity; /* bits, bytes */
	bool big;              /* in which order padding stands */
};

static inline void bits_reserve(struct bits *bits, uint64_t count)
{
	uint64_t bytes = (bits->at + count) / 8 + 16;

	if (bytes <= bits->capacity)
		return;
	bits->byte = mem_realloc(bits->byte, 2 * bytes, 1);
	memset(bits->byte + bits->capacity, 0, 2 * bytes - bits->capacity);
	bits->capacity = 2 * bytes;
}

/* The lowest `size` bits of a number, at a place that was reserved. */
static inline void bits_set(struct bits *bits, uint64_t at, unsigned size,
			    uint64_t number, bool big)
{
	for (unsigned i = 0; i < size; i++) {
		uint64_t to = at + i;
		unsigned bit = (unsigned)(number >> (big ? size - 1 - i : i)) & 1;
		unsigned shift = (unsigned)(big ? 7 - to % 8 : to % 8);

		bits->byte[to / 8] &= (unsigned char)~(1u << shift);
		bits->byte[to / 8] |= (unsigned char)(bit << shift);
	}
}

static inline void bits_put(struct bits *bits, unsigned size, uint64_t number, bool big)
{
	bits_reserve(bits, size);
	bits_set(bits, bits->at, size, number, big);
	bits->at += size;
}

/* Counted from the begin of the packet; padding is anything. */
static inline void bits_align(struct bits *bits, uint64_t packet, unsigned align)
{
	while ((bits->at - packet) % align)
		bits_put(bits, 1, draw() & 1, bits->big);
}

struct words {
	char *text;
	size_t size, capacity;
};

static inline void say(struct words *words, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void say(struct words *words, const char *format, ...)
{
	char *text = MEM_VPRINTF(format);
	size_t size = strlen(text);

	if (words->size + size + 1 > words->capacity) {
		words->capacity = 2 * (words->capacity + size + 1);
		words->text = mem_realloc(words->text, words->capacity, 1);
	}
	memcpy(words->text + words->size, text, size + 1);
	words->size += size;
	free(text);
}

#endif
