/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_CTF_BITS_H
#define CT_CTF_BITS_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Bytes that may be looked at, whatever a packet in them says of its size. */
struct ctf_bytes {
	const unsigned char *byte;
	uint64_t count;
};

static inline uint64_t ctf_sign(uint64_t value, unsigned size)
{
	return (uint64_t)((int64_t)(value << (64 - size)) >> (64 - size));
}

/*
 * A number of 1 to 64 bits. In little-endian order the first bit of a byte is
 * its least, in big-endian order its most significant one. All of its bytes
 * must be there.
 */
static inline uint64_t ctf_bits(struct ctf_bytes bytes, uint64_t at, unsigned size,
				bool big)
{
	uint64_t first = at / 8, value;
	unsigned shift = at % 8;
	unsigned char end[9];
	const unsigned char *byte = bytes.byte + first;

	if (bytes.count - first < sizeof(end)) {
		memset(end, 0, sizeof(end));
		memcpy(end, byte, bytes.count - first);
		byte = end;
	}
	memcpy(&value, byte, sizeof(value));
	if (big) {
		value = be64toh(value) << shift;
		if (shift)
			value |= (uint64_t)byte[8] >> (8 - shift);
		return value >> (64 - size);
	}
	value = le64toh(value) >> shift;
	if (shift)
		value |= (uint64_t)byte[8] << (64 - shift);
	return value & (UINT64_MAX >> (64 - size));
}

/*
 * A clock's value from the one before and a stamp of its low bits; when they are
 * lower than before, they turned over once.
 */
static inline uint64_t ctf_clock_after(uint64_t clock, uint64_t stamp, unsigned size)
{
	uint64_t mask = UINT64_MAX >> (64 - size);

	if (size < 64 && stamp < (clock & mask))
		clock += mask + 1;
	return (clock & ~mask) | stamp;
}

#endif
