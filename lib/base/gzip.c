/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/gzip.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/mem.h"

enum {
	LEVEL = 6,       /* zlib's default; 9 saves less than 1 % */
	WINDOW = 15 + 16 /* the largest window; 16 asks for the format of gzip */
};

static void write_base64(FILE *file, const struct bytes *bytes)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes->size; i += 3) {
		const size_t left = bytes->size - i;
		const uint32_t three =
		    (uint32_t)bytes->data[i] << 16 |
		    (left > 1 ? (uint32_t)bytes->data[i + 1] << 8 : 0) |
		    (left > 2 ? bytes->data[i + 2] : 0);

		fputc(digits[three >> 18], file);
		fputc(digits[three >> 12 & 63], file);
		fputc(left > 1 ? digits[three >> 6 & 63] : '=', file);
		fputc(left > 2 ? digits[three & 63] : '=', file);
	}
}

static void *allocate(void *context, unsigned count, unsigned size)
{
	(void)context;
	return mem_realloc(NULL, count, size);
}

static void release(void *context, void *memory)
{
	(void)context;
	free(memory);
}

void gzip_write_base64(FILE *file, const void *data, size_t size)
{
	struct bytes packed = {0};
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)data,
			   .avail_in = (uInt)size,
			   .zalloc = allocate,
			   .zfree = release};
	int status;

	assert(size < UINT_MAX / 2);
	status = deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW, MAX_MEM_LEVEL,
			      Z_DEFAULT_STRATEGY);
	assert(status == Z_OK);
	stream.avail_out = (uInt)deflateBound(&stream, size);
	stream.next_out = bytes_extend(&packed, stream.avail_out);
	status = deflate(&stream, Z_FINISH);
	assert(status == Z_STREAM_END);
	(void)status;
	packed.size = stream.total_out;
	deflateEnd(&stream);
	write_base64(file, &packed);
	bytes_clear(&packed);
}
