/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/delta.h"

#include "export/parquet/hybrid.h"

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

/* The number at data, with its sign. */
static int64_t integer_at(const uint8_t *data, unsigned width)
{
	uint64_t bits = bytes_le(data, width);

	return width == 4 ? (int32_t)bits : (int64_t)bits;
}

/* b - a, in as many bits as the numbers have. */
static int64_t difference(int64_t a, int64_t b, unsigned width)
{
	uint64_t bits = (uint64_t)b - (uint64_t)a;

	return width == 4 ? (int32_t)bits : (int64_t)bits;
}

/* 32 numbers of `bits` bits are 4 * bits bytes. */
static void pack(struct bytes *out, const uint64_t *number, unsigned bits)
{
	uint64_t packed = 0;
	unsigned filled = 0;

	for (unsigned i = 0; i < MINIBLOCK && bits > 0; i++) {
		packed |= number[i] << filled;
		filled += bits;
		if (filled < 64)
			continue;
		bytes_add_le(out, packed, 8);
		filled -= 64;
		packed = filled ? number[i] >> (bits - filled) : 0;
	}
	bytes_add_le(out, packed, filled / 8);
}

/* Of `count` differences; those past them in the last miniblock are 0. */
static void add_block(struct bytes *out, const int64_t *delta, unsigned count)
{
	uint64_t number[BLOCK] = {0};
	unsigned bits[MINIBLOCKS];
	int64_t least = delta[0];

	for (unsigned i = 1; i < count; i++)
		least = delta[i] < least ? delta[i] : least;
	bytes_add_zigzag(out, least);
	for (unsigned i = 0; i < count; i++)
		number[i] = (uint64_t)delta[i] - (uint64_t)least;
	for (unsigned i = 0; i < MINIBLOCKS; i++) {
		uint64_t any = 0;

		for (unsigned j = 0; j < MINIBLOCK; j++)
			any |= number[i * MINIBLOCK + j];
		bits[i] = parquet_bits(any);
		bytes_add_byte(out, (uint8_t)bits[i]);
	}
	/* A miniblock without a number is left out, of those bits 0 nothing is left. */
	for (unsigned i = 0; i < MINIBLOCKS; i++)
		pack(out, number + i * MINIBLOCK, bits[i]);
}

void parquet_delta_add(struct bytes *out, const uint8_t *plain, size_t count,
		       unsigned width)
{
	int64_t last = count ? integer_at(plain, width) : 0, delta[BLOCK];
	unsigned n = 0;

	bytes_add_varint(out, BLOCK);
	bytes_add_varint(out, MINIBLOCKS);
	bytes_add_varint(out, count);
	bytes_add_zigzag(out, last);
	for (size_t i = 1; i < count; i++) {
		int64_t next = integer_at(plain + i * width, width);

		delta[n++] = difference(last, next, width);
		last = next;
		if (n == BLOCK || i + 1 == count) {
			add_block(out, delta, n);
			n = 0;
		}
	}
}
