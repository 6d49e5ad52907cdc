/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/capture/unpack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"

enum { INPUT = 1 << 16 };

struct unpacked {
	int fd;
	z_stream *gzip;     /* for gzip, or NULL */
	ZSTD_DStream *zstd; /* for zstd; both are NULL if not compressed */
	uint8_t *in;
	size_t at, count; /* next byte to unpack in `in`; bytes in `in` */
	uint64_t bytes;
	bool is_between; /* between members of the file, where it may end */
	bool is_full;    /* the last output was filled, so more may be ready */
	const char *fault;
};

/*
 * Read from the file if all input is used up. Return the bytes of input, 0 at the end of
 * the file, or -1 with the fault set.
 */
static ssize_t fill_input(struct unpacked *unpacked)
{
	ssize_t got;

	if (unpacked->at < unpacked->count)
		return (ssize_t)(unpacked->count - unpacked->at);
	do
		got = read(unpacked->fd, unpacked->in, INPUT);
	while (got < 0 && errno == EINTR);
	unpacked->at = 0;
	unpacked->count = got > 0 ? (size_t)got : 0;
	unpacked->bytes += unpacked->count;
	if (got < 0)
		unpacked->fault = strerror(errno);
	return got;
}

/* Unpack input. Return the number of bytes unpacked, or -1 with the fault set. */
static ssize_t inflate_some(struct unpacked *unpacked, char *to, size_t room)
{
	z_stream *gzip = unpacked->gzip;
	int status = Z_OK;

	if (unpacked->is_between)
		status = inflateReset(gzip);
	gzip->next_in = unpacked->in + unpacked->at;
	gzip->avail_in = (uInt)(unpacked->count - unpacked->at);
	gzip->next_out = (Bytef *)to;
	gzip->avail_out = (uInt)room;
	if (status == Z_OK)
		status = inflate(gzip, Z_NO_FLUSH);
	unpacked->at = unpacked->count - gzip->avail_in;
	unpacked->is_between = status == Z_STREAM_END;
	if (status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR)
		return (ssize_t)(room - gzip->avail_out);
	unpacked->fault = gzip->msg ? gzip->msg : zError(status);
	return -1;
}

static ssize_t unpack_zstd(struct unpacked *unpacked, char *to, size_t room)
{
	ZSTD_inBuffer in = {unpacked->in, unpacked->count, unpacked->at};
	ZSTD_outBuffer out = {to, room, 0};
	size_t status = ZSTD_decompressStream(unpacked->zstd, &out, &in);

	unpacked->at = in.pos;
	unpacked->is_between = status == 0;
	if (!ZSTD_isError(status))
		return (ssize_t)out.pos;
	unpacked->fault = ZSTD_getErrorName(status);
	return -1;
}

/* The read function for fopencookie(3). */
static ssize_t read_unpacked(void *cookie, char *to, size_t count)
{
	struct unpacked *unpacked = cookie;
	ssize_t got, made = 0;

	while (made == 0) {
		got =
		    unpacked->is_full && !unpacked->is_between ? 1 : fill_input(unpacked);
		if (got == 0 && unpacked->is_between)
			return 0;
		if (got == 0) {
			unpacked->fault = "the compressed data is truncated";
			errno = EBADMSG;
		}
		if (got <= 0)
			return -1;
		made = unpacked->gzip ? inflate_some(unpacked, to, count)
				      : unpack_zstd(unpacked, to, count);
		unpacked->is_full = made > 0 && (size_t)made == count;
	}
	if (made < 0)
		errno = EBADMSG;
	return made;
}

/* Detect the compression and prepare for it. Return false with the fault set. */
static bool begin_unpacking(struct unpacked *unpacked)
{
	static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
	uint8_t begin[4] = {0};
	enum { GZIP_ONLY = 16 };

	if (pread(unpacked->fd, begin, sizeof(begin), 0) < 0) {
		unpacked->fault = strerror(errno);
		return false;
	}
	if (memcmp(begin, gzip, sizeof(gzip)) == 0) {
		unpacked->gzip = mem_zalloc(sizeof(*unpacked->gzip));
		if (inflateInit2(unpacked->gzip, GZIP_ONLY + MAX_WBITS) != Z_OK)
			unpacked->fault = "zlib cannot be set up";
	} else if (memcmp(begin, zstd, sizeof(zstd)) == 0) {
		unpacked->zstd = ZSTD_createDStream();
		if (!unpacked->zstd)
			unpacked->fault = "zstd cannot be set up";
	}
	if (unpacked->gzip || unpacked->zstd)
		unpacked->in = mem_alloc(INPUT);
	return !unpacked->fault;
}

struct unpacked *unpacked_open(const char *path, FILE **stream, struct error *error)
{
	static const cookie_io_functions_t calls = {.read = read_unpacked};
	struct unpacked *unpacked;
	int fd = file_open(path, "a capture", error);

	if (fd < 0)
		return NULL;
	unpacked = mem_zalloc(sizeof(*unpacked));
	unpacked->fd = fd;
	if (!begin_unpacking(unpacked)) {
		error_set(error, "%s", unpacked->fault);
		unpacked_free(unpacked);
		return NULL;
	}
	/* The stream closes its own descriptor. */
	*stream =
	    unpacked->in ? fopencookie(unpacked, "rb", calls) : fdopen(dup(fd), "rb");
	if (!*stream) {
		error_set(error, "%s", strerror(errno));
		unpacked_free(unpacked);
		return NULL;
	}
	setvbuf(*stream, NULL, _IOFBF, INPUT);
	return unpacked;
}

uint64_t unpacked_bytes(const struct unpacked *unpacked)
{
	off_t at = unpacked->in ? 0 : lseek(unpacked->fd, 0, SEEK_CUR);

	return unpacked->in ? unpacked->bytes : at < 0 ? 0 : (uint64_t)at;
}

const char *unpacked_fault(const struct unpacked *unpacked)
{
	return unpacked->fault;
}

void unpacked_free(struct unpacked *unpacked)
{
	if (!unpacked)
		return;
	if (unpacked->gzip)
		inflateEnd(unpacked->gzip);
	free(unpacked->gzip);
	ZSTD_freeDStream(unpacked->zstd);
	free(unpacked->in);
	close(unpacked->fd);
	free(unpacked);
}
