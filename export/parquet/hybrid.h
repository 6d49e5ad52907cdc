/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_HYBRID_H
#define CT_EXPORT_PARQUET_HYBRID_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/*
 * Small numbers as runs of one value, or bit-packed in groups of eight where
 * they change: the encoding RLE of the Parquet format (Encodings.md), for
 * levels and for indices into a dictionary. All zero but for the width is one
 * that has begun.
 */
struct parquet_hybrid {
	struct bytes out;
	unsigned width; /* bits a number, 1 to 32 */
	uint32_t value; /* the last one, `repeats` times by now */
	uint64_t repeats;
	uint32_t held[8]; /* of a group that is not full */
	unsigned holds;
	size_t header; /* where a run of groups began in `out`, plus 1; 0: none */
	unsigned groups;
};

void parquet_hybrid_add(struct parquet_hybrid *hybrid, uint32_t value);

/* The same as to add each of them, and faster. */
void parquet_hybrid_add_all(struct parquet_hybrid *hybrid, const uint32_t *value,
			    size_t count);

/* One number so many times. */
void parquet_hybrid_repeat(struct parquet_hybrid *hybrid, uint32_t value, size_t times);

/* Write what is held; `out` is the whole then. */
void parquet_hybrid_finish(struct parquet_hybrid *hybrid);

/* Begin anew, with these many bits; `out` keeps its memory. */
void parquet_hybrid_reset(struct parquet_hybrid *hybrid, unsigned width);

/* The bits that numbers up to `most` need. */
unsigned parquet_bits(uint64_t most);

#endif
