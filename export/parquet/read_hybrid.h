/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_READ_HYBRID_H
#define CT_EXPORT_PARQUET_READ_HYBRID_H

#include <stdint.h>

/* Small numbers back from runs and bit-packed groups: see parquet/hybrid.h. */
struct parquet_hybrid_reader {
	const uint8_t *at, *end;
	unsigned width;   /* bits a number, 0 to 32 */
	uint64_t repeats; /* left of a run of `value` */
	uint32_t value;
	uint64_t packed; /* left of bit-packed numbers */
	uint64_t bits;   /* of them, read and not used */
	unsigned filled;
};

/* Borrows the bytes. */
void parquet_hybrid_read(struct parquet_hybrid_reader *hybrid, const uint8_t *data,
			 const uint8_t *end, unsigned width);

/* The next number: 0, or -1 where the bytes end. */
int parquet_hybrid_next(struct parquet_hybrid_reader *hybrid, uint32_t *value);

#endif
