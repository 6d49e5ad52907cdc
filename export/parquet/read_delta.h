/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_READ_DELTA_H
#define CT_EXPORT_PARQUET_READ_DELTA_H

#include <stdbool.h>
#include <stdint.h>

/* Integers back from DELTA_BINARY_PACKED of the Parquet format (Encodings.md). */
struct parquet_delta_reader {
	const uint8_t *at, *end;
	uint64_t last;                  /* wraps around, as the writer's sums do */
	uint64_t left;                  /* integers not given yet */
	uint64_t miniblock, miniblocks; /* numbers of one; of them a block */
	uint64_t least;                 /* difference of the block at hand */
	const uint8_t *width;           /* of its next miniblock */
	uint64_t begun;                 /* miniblocks of the block at hand */
	const uint8_t *packed;          /* the miniblock at hand ... */
	uint64_t packed_size, read;     /* ... its bytes, and numbers read of it */
	unsigned bits;
	bool first;
};

/* Begin with the header. 0, or -1 where it is none. Borrows the bytes. */
int parquet_delta_read(struct parquet_delta_reader *delta, const uint8_t *data,
		       const uint8_t *end);

/* The next integer: 0, or -1 where there is none, or the bytes are broken. */
int parquet_delta_next(struct parquet_delta_reader *delta, int64_t *value);

/* Where the bytes behind all integers begin: NULL where these are broken. */
const uint8_t *parquet_delta_end(struct parquet_delta_reader delta);

#endif
