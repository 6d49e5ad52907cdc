/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/codec.h"

#include <snappy-c.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/mem.h"

/*
 * Pages were cut and encoded for their content already: higher levels of zstd
 * take much longer and save little.
 */
enum { DEFAULT_LEVEL = 1, HIGHEST_LEVEL = 19 };

struct parquet_compressor {
	enum parquet_codec codec;
	ZSTD_CCtx *zstd;
	int level;
};

struct parquet_compressor *parquet_compressor_new(enum parquet_codec codec, int level,
						  struct error *error)
{
	struct parquet_compressor *compressor;

	if (codec != PARQUET_ZSTD && codec != PARQUET_UNCOMPRESSED &&
	    codec != PARQUET_SNAPPY) {
		error_set(error, "codec %d, want zstd, snappy or none", (int)codec);
		return NULL;
	}
	if (level < 0 || level > HIGHEST_LEVEL) {
		error_set(error, "level %d of zstd, want 1 to %d", level, HIGHEST_LEVEL);
		return NULL;
	}
	compressor = mem_zalloc(sizeof(*compressor));
	compressor->codec = codec;
	compressor->level = level ? level : DEFAULT_LEVEL;
	return compressor;
}

/* libzstd makes its context, of some megabytes, when the first page is there. */
static int zstd_compress(struct parquet_compressor *compressor, const struct bytes *raw,
			 struct bytes *out, struct error *error)
{
	size_t room = ZSTD_compressBound(raw->size), size;

	if (!compressor->zstd)
		compressor->zstd = ZSTD_createCCtx();
	if (!compressor->zstd)
		return error_set(error, "zstd: no context");
	bytes_reserve(out, room);
	size = ZSTD_compressCCtx(compressor->zstd, out->data + out->size, room, raw->data,
				 raw->size, compressor->level);
	if (ZSTD_isError(size))
		return error_set(error, "zstd: %s", ZSTD_getErrorName(size));
	out->size += size;
	return 0;
}

static int snappy_add(const struct bytes *raw, struct bytes *out, struct error *error)
{
	size_t size = snappy_max_compressed_length(raw->size);

	bytes_reserve(out, size);
	if (snappy_compress((const char *)raw->data, raw->size,
			    (char *)out->data + out->size, &size) != SNAPPY_OK)
		return error_set(error, "snappy: cannot compress %zu bytes", raw->size);
	out->size += size;
	return 0;
}

int parquet_compress(struct parquet_compressor *compressor, const struct bytes *raw,
		     struct bytes *out, struct error *error)
{
	switch (compressor->codec) {
	case PARQUET_ZSTD:
		return zstd_compress(compressor, raw, out, error);
	case PARQUET_SNAPPY:
		return snappy_add(raw, out, error);
	case PARQUET_UNCOMPRESSED:
		break;
	}
	bytes_add(out, raw->data, raw->size);
	return 0;
}

int32_t parquet_codec_number(enum parquet_codec codec)
{
	switch (codec) {
	case PARQUET_ZSTD:
		return 6;
	case PARQUET_SNAPPY:
		return 1;
	case PARQUET_UNCOMPRESSED:
		break;
	}
	return 0;
}

void parquet_compressor_free(struct parquet_compressor *compressor)
{
	if (!compressor)
		return;
	ZSTD_freeCCtx(compressor->zstd);
	free(compressor);
}
