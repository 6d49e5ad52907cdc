/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/parquet/codec_read.h"

#include <snappy-c.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "export/parquet/lz4.h"

enum { CODEC_NONE = 0, CODEC_SNAPPY = 1, CODEC_GZIP = 2, CODEC_ZSTD = 6, CODEC_LZ4 = 7 };

static const char *const codec_names[] = {"none",   "snappy", "gzip", "LZO",
					  "brotli", "LZ4",    "zstd", "LZ4_RAW"};

int parquet_codec_check(int32_t codec, struct error *error)
{
	switch (codec) {
	case CODEC_NONE:
	case CODEC_SNAPPY:
	case CODEC_GZIP:
	case CODEC_ZSTD:
	case CODEC_LZ4:
		return 0;
	default:
		break;
	}
	if (codec >= 0 && (size_t)codec < sizeof(codec_names) / sizeof(*codec_names))
		return error_set(error,
				 "codec %s, want none, snappy, gzip, zstd or LZ4_RAW",
				 codec_names[codec]);
	return error_set(error, "codec %d, want none, snappy, gzip, zstd or LZ4_RAW",
			 (int)codec);
}

/* Members of a gzip file one after the other, as gzip itself takes them; zlib's own
 * wrapping is taken as well, since some writers use it. */
static int unpack_gzip(const uint8_t *packed, size_t packed_size, uint8_t *out,
		       size_t size)
{
	uint8_t nothing; /* zlib wants an address even for no byte */
	z_stream stream = {.next_in = (z_const Bytef *)packed,
			   .avail_in = (uInt)packed_size,
			   .next_out = size ? out : &nothing,
			   .avail_out = (uInt)size};
	int status;

	if (packed_size > UINT32_MAX || size > UINT32_MAX ||
	    inflateInit2(&stream, 15 + 32) != Z_OK)
		return -1;
	do {
		status = inflate(&stream, Z_FINISH);
		if (status == Z_STREAM_END && stream.avail_in &&
		    inflateReset(&stream) == Z_OK)
			status = Z_OK;
	} while (status == Z_OK);
	inflateEnd(&stream);
	return status == Z_STREAM_END && stream.avail_out == 0 ? 0 : -1;
}

static int unpack_snappy(const uint8_t *packed, size_t packed_size, uint8_t *out,
			 size_t size)
{
	size_t length = size;

	return snappy_uncompress((const char *)packed, packed_size, (char *)out,
				 &length) == SNAPPY_OK &&
		       length == size
		   ? 0
		   : -1;
}

static int unpack_zstd(const uint8_t *packed, size_t packed_size, uint8_t *out,
		       size_t size)
{
	size_t length = ZSTD_decompress(out, size, packed, packed_size);

	return !ZSTD_isError(length) && length == size ? 0 : -1;
}

int parquet_decompress(int32_t codec, const uint8_t *packed, size_t packed_size,
		       uint8_t *out, size_t size, struct error *error)
{
	int status = -1;

	if (codec == CODEC_SNAPPY)
		status = unpack_snappy(packed, packed_size, out, size);
	else if (codec == CODEC_GZIP)
		status = unpack_gzip(packed, packed_size, out, size);
	else if (codec == CODEC_ZSTD)
		status = unpack_zstd(packed, packed_size, out, size);
	else if (codec == CODEC_LZ4)
		status = parquet_lz4_decode(packed, packed_size, out, size);
	else if (codec != CODEC_NONE)
		return parquet_codec_check(codec, error);
	else if (packed_size == size) {
		memcpy(out, packed, size);
		status = 0;
	}
	return status ? error_set(error, "no %zu bytes of %s within %zu", size,
				  codec_names[codec], packed_size)
		      : 0;
}
