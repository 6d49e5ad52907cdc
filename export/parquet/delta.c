/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/delta.h"

#include "export/parquet/hybrid.h"

enum { BLOCK = 128, MINIBLOCKS = 4, MINIBLOCK = BLOCK / MINIBLOCKS };

/* The number at data, with its sign. */
static inline int64_t integer_at(const uint8_t *data, unsigned width)
{
	uint64_t bits = bytes_le(data, width);

	return width == 4 ? (int32_t)bits : (int64_t)bits;
}

/* b - a, in as many bits as the numbers have. */
static inline int64_t difference(int64_t a, int64_t b, unsigned width)
{
	uint64_t bits = (uint64_t)b - (uint64_t)a;

	return width == 4 ? (int32_t)bits : (int64_t)bits;
}

/* 32 numbers of `bits` bits are 4 * bits bytes. */
static void pack(struct bytes *out, const uint64_t *number, unsigned bits)
{
	uint64_t packed = 0;
	unsigned filled = 0;
	uint8_t *at;

	/* Eight bytes at a time, of which the last ones may be too many. */
	bytes_reserve(out, MINIBLOCK * 8 + 8);
	at = out->data + out->size;
	out->size += (size_t)4 * bits;
	for (unsigned i = 0; i < MINIBLOCK && bits > 0; i++) {
		packed |= number[i] << filled;
		filled += bits;
		if (filled < 64)
			continue;
		packed = htole64(packed);
		memcpy(at, &packed, 8);
		at += 8;
		filled -= 64;
		packed = filled ? number[i] >> (bits - filled) : 0;
	}
	packed = htole64(packed);
	memcpy(at, &packed, 8);
}

/* Of `count` differences; those past them in the last miniblock are 0. */
static void add_block(struct bytes *out, const int64_t *delta, unsigned count)
{
	uint64_t number[BLOCK];
	unsigned bits[MINIBLOCKS];
	int64_t least = delta[0];

	for (unsigned i = 1; i < count; i++)
		least = delta[i] < least ? delta[i] : least;
	bytes_add_zigzag(out, least);
	for (unsigned i = 0; i < count; i++)
		number[i] = (uint64_t)delta[i] - (uint64_t)least;
	for (unsigned i = count; i < BLOCK; i++)
		number[i] = 0;
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

/* Made once for each width, of which the compiler knows what it does then. */
static inline void add_blocks(struct bytes *out, const uint8_t *plain, size_t count,
			      unsigned width)
{
	int64_t delta[BLOCK];

	for (size_t i = 1; i < count; i += BLOCK) {
		unsigned n = count - i < BLOCK ? (unsigned)(count - i) : BLOCK;
		const uint8_t *at = plain + i * width;

		for (unsigned j = 0; j < n; j++)
			delta[j] =
			    difference(integer_at(at + (size_t)j * width - width, width),
				       integer_at(at + (size_t)j * width, width), width);
		add_block(out, delta, n);
	}
}

void parquet_delta_add(struct bytes *out, const uint8_t *plain, size_t count,
		       unsigned width)
{
	bytes_add_varint(out, BLOCK);
	bytes_add_varint(out, MINIBLOCKS);
	bytes_add_varint(out, count);
	bytes_add_zigzag(out, count ? integer_at(plain, width) : 0);
	if (width == 4)
		add_blocks(out, plain, count, 4);
	else
		add_blocks(out, plain, count, 8);
}
