/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_LZ4_H
#define CT_EXPORT_PARQUET_LZ4_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decompress one LZ4 block (the project's "LZ4 Block Format Description"), which is
 * what Parquet calls LZ4_RAW, to exactly `size` bytes. 0, or -1 where it is none.
 */
int parquet_lz4_decode(const uint8_t *packed, size_t packed_size, uint8_t *out,
		       size_t size);

#endif
