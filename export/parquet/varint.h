/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_VARINT_H
#define CT_EXPORT_PARQUET_VARINT_H

#include <stdint.h>

/* Numbers as bytes_add_varint and bytes_add_zigzag write them, back from bytes. */
enum {
	VARINT_CUT = -1,  /* the bytes end within it */
	VARINT_LONG = -2, /* it has more than 64 bits */
};

/* The number at *at, which goes past it; 0, or one of the above, and *at stays. */
static inline int varint_read(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
	const uint8_t *byte = *at;
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		if (byte == end)
			return VARINT_CUT;
		if (shift == 63 && *byte > 1)
			return VARINT_LONG;
		value |= (uint64_t)(*byte & 0x7f) << shift;
		if (*byte++ < 0x80) {
			*at = byte;
			*number = value;
			return 0;
		}
	}
	return VARINT_LONG;
}

static inline int64_t varint_unzigzag(uint64_t number)
{
	return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

#endif
