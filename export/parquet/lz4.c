/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/lz4.h"

#include <string.h>

enum { LENGTH_MORE = 15, MATCH_LEAST = 4 };

/* A length of four bits; the highest says that bytes follow, which 255 go on. */
static int read_length(const uint8_t **at, const uint8_t *end, size_t *length)
{
	uint8_t byte = 255;

	if (*length != LENGTH_MORE)
		return 0;
	while (byte == 255) {
		if (*at == end)
			return -1;
		byte = *(*at)++;
		*length += byte;
	}
	return 0;
}

int parquet_lz4_decode(const uint8_t *packed, size_t packed_size, uint8_t *out,
		       size_t size)
{
	const uint8_t *at = packed, *end = packed + packed_size;
	size_t done = 0;

	while (at < end) {
		uint8_t token = *at++;
		size_t literals = token >> 4, match = token & 15, offset;

		if (read_length(&at, end, &literals) || literals > (size_t)(end - at) ||
		    literals > size - done)
			return -1;
		memcpy(out + done, at, literals);
		done += literals;
		at += literals;
		if (at == end) /* the last sequence has no match */
			break;
		if (end - at < 2)
			return -1;
		offset = (size_t)at[0] | (size_t)at[1] << 8;
		at += 2;
		if (read_length(&at, end, &match))
			return -1;
		match += MATCH_LEAST;
		if (offset == 0 || offset > done || match > size - done)
			return -1;
		/* A match may reach into itself: then what it makes repeats. */
		for (size_t i = 0; i < match; i++, done++)
			out[done] = out[done - offset];
	}
	return done == size ? 0 : -1;
}
