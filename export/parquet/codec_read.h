/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_CODEC_READ_H
#define CT_EXPORT_PARQUET_CODEC_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Whether pages of this codec, by its number in the format (CompressionCodec), can be
 * decompressed: none, snappy, gzip, zstd, LZ4_RAW. 0, or -1 with error. */
int parquet_codec_check(int32_t codec, struct error *error);

/* Decompress to exactly `size` bytes. 0, or -1 with error. */
int parquet_decompress(int32_t codec, const uint8_t *packed, size_t packed_size,
		       uint8_t *out, size_t size, struct error *error);

#endif
