/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_CODEC_H
#define CT_EXPORT_PARQUET_CODEC_H

#include "base/bytes.h"
#include "export/parquet/parquet.h"

/* Compression of pages; the only user of the compressors' libraries. */
struct parquet_compressor;

/* NULL with error, where the level is none. */
struct parquet_compressor *parquet_compressor_new(enum parquet_codec codec, int level,
						  struct error *error);

/* Add the compressed `raw` to `out`. 0, or -1 with error. */
int parquet_compress(struct parquet_compressor *compressor, const struct bytes *raw,
		     struct bytes *out, struct error *error);

/* The codec's number in the format (CompressionCodec). */
int32_t parquet_codec_number(enum parquet_codec codec);

void parquet_compressor_free(struct parquet_compressor *compressor);

#endif
