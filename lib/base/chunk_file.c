/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/chunk_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/file.h"
#include "base/mem.h"

enum {
	MAGIC = 8,
	BEGIN = 16, /* bytes of a file's header: magic, version, checksum */
	HEAD = 32,  /* bytes of a chunk's header */
	LEVEL =
	    3, /* zstd's default; a higher one gains little, as the content is packed */
};

enum packing { PACKING_NONE, PACKING_ZSTD };

static uint32_t compute_checksum(const uint8_t *bytes, size_t size)
{
	return (uint32_t)crc32_z(0, bytes, size);
}

static uint32_t number_at(const uint8_t *bytes, size_t at)
{
	return (uint32_t)bytes_le(bytes + at, 4);
}

void chunk_write_begin(FILE *file, const struct chunk_format *format)
{
	struct bytes begin = {0};

	bytes_add(&begin, format->magic, MAGIC);
	bytes_add_le(&begin, format->version, 4);
	bytes_add_le(&begin, compute_checksum(begin.data, begin.size), 4);
	fwrite(begin.data, 1, begin.size, file);
	bytes_clear(&begin);
}

static void write_head(FILE *file, const struct chunk *chunk)
{
	struct bytes head = {0};

	bytes_add_le(&head, chunk->kind, 1);
	bytes_add_le(&head, chunk->packing, 1);
	bytes_add_le(&head, 0, 2);
	bytes_add_le(&head, chunk->number, 4);
	bytes_add_le(&head, chunk->items, 4);
	bytes_add_le(&head, chunk->stored, 4);
	bytes_add_le(&head, chunk->size, 4);
	bytes_add_le(&head, chunk->check, 4);
	bytes_add_le(&head, 0, 4);
	bytes_add_le(&head, compute_checksum(head.data, head.size), 4);
	fwrite(head.data, 1, head.size, file);
	bytes_clear(&head);
}

/* Compress the content. Return the compressed size, or 0 if it is not smaller. */
static size_t compress_zstd(struct bytes *packed, const struct bytes *content)
{
	size_t capacity = ZSTD_compressBound(content->size), size;

	bytes_reserve(packed, capacity);
	size = ZSTD_compress(packed->data, capacity, content->data, content->size, LEVEL);
	if (ZSTD_isError(size)) /* there is space for any content */
		mem_exit();
	return size < content->size ? size : 0;
}

void chunk_write(FILE *file, const struct chunk *chunk, const struct bytes *content)
{
	struct chunk head = *chunk;
	struct bytes packed = {0};
	const uint8_t *data = content->data;

	head.packing = PACKING_NONE;
	head.size = head.stored = (uint32_t)content->size;
	packed.size = content->size ? compress_zstd(&packed, content) : 0;
	if (packed.size) {
		data = packed.data;
		head.packing = PACKING_ZSTD;
		head.stored = (uint32_t)packed.size;
	}
	head.check = compute_checksum(data, head.stored);
	write_head(file, &head);
	if (head.stored)
		fwrite(data, 1, head.stored, file);
	bytes_clear(&packed);
}

void chunk_write_object(FILE *file, const struct chunk *chunk, json_t *object)
{
	AUTOFREE char *text = json_one_line(object);

	chunk_write(file, chunk,
		    &(struct bytes){.data = (uint8_t *)text, .size = strlen(text)});
	json_decref(object);
}

void chunk_write_end(FILE *file)
{
	write_head(
	    file, &(struct chunk){.kind = CHUNK_END, .check = compute_checksum(NULL, 0)});
}

/* Read up to `size` bytes at an offset. Return their number, or -1 with error. */
static ssize_t read_at(struct chunk_reader *reader, uint8_t *to, size_t size, uint64_t at,
		       struct error *error)
{
	size_t have = 0;
	ssize_t got = 1;

	if (reader->fd < 0 &&
	    (reader->fd = file_open(reader->path, reader->format->name, error)) < 0)
		return error_prefix(error, "%s", reader->path);
	while (have < size && got > 0) {
		got = pread(reader->fd, to + have, size - have, (off_t)(at + have));
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			have += (size_t)got;
	}
	return got < 0 ? error_errno(error, reader->path) : (ssize_t)have;
}

bool chunk_probe(const char *path, const struct chunk_format *format)
{
	struct chunk_reader reader = {
	    .format = format, .path = mem_strdup(path), .fd = -1};
	struct error ignored = ERROR_INIT;
	uint8_t magic[MAGIC];
	bool found = read_at(&reader, magic, MAGIC, 0, &ignored) == MAGIC &&
		     memcmp(magic, format->magic, MAGIC) == 0;

	error_clear(&ignored);
	chunk_reader_clear(&reader);
	return found;
}

static int check_header(const struct chunk_reader *reader, const uint8_t begin[BEGIN],
			ssize_t have, struct error *error)
{
	const struct chunk_format *format = reader->format;

	if (have < MAGIC || memcmp(begin, format->magic, MAGIC) != 0)
		return error_set(error, "%s: not %s: bad magic number (offset 0)",
				 reader->path, format->name);
	if (have < BEGIN)
		return error_set(error, "%s: truncated header (offset %zd)", reader->path,
				 have);
	if (number_at(begin, BEGIN - 4) != compute_checksum(begin, BEGIN - 4))
		return error_set(error, "%s: damaged header (offset 0)", reader->path);
	if (number_at(begin, MAGIC) != format->version)
		return error_set(
		    error,
		    "%s: unknown version %" PRIu32 " (offset %d; expected %" PRIu32 ")",
		    reader->path, number_at(begin, MAGIC), MAGIC, format->version);
	return 0;
}

static int read_header(struct chunk_reader *reader, struct error *error)
{
	uint8_t head[BEGIN];
	ssize_t have = read_at(reader, head, BEGIN, 0, error);

	return have < 0 ? -1 : check_header(reader, head, have, error);
}

int chunk_reader_open(struct chunk_reader *reader, const char *path,
		      const struct chunk_format *format, struct error *error)
{
	*reader = (struct chunk_reader){
	    .format = format, .path = mem_strdup(path), .fd = -1, .at = BEGIN};
	return read_header(reader, error);
}

uint64_t chunk_reader_size(const struct chunk_reader *reader)
{
	struct stat status;

	return reader->fd < 0 || fstat(reader->fd, &status) ? 0
							    : (uint64_t)status.st_size;
}

/* Return the offset at which the file was truncated: its end may be before a chunk that
 * was skipped. */
static uint64_t truncation_offset(const struct chunk_reader *reader, uint64_t at)
{
	uint64_t end = chunk_reader_size(reader);

	return end < at ? end : at;
}

static int check_chunk_header(const struct chunk_reader *reader, const uint8_t head[HEAD],
			      ssize_t have, struct error *error)
{
	if (have < HEAD)
		return error_set(error, "truncated at offset %" PRIu64,
				 truncation_offset(reader, reader->at + (size_t)have));
	if (number_at(head, HEAD - 4) != compute_checksum(head, HEAD - 4))
		return error_set(error, "damaged at offset %" PRIu64, reader->at);
	if (number_at(head, 12) > CHUNK_MOST || number_at(head, 16) > CHUNK_MOST)
		return error_set(error,
				 "chunk at offset %" PRIu64 ": %" PRIu32
				 " bytes (expected at most %d)",
				 reader->at, number_at(head, 16), CHUNK_MOST);
	return 0;
}

int chunk_next(struct chunk_reader *reader, struct chunk *chunk, struct error *error)
{
	uint8_t head[HEAD];
	ssize_t have = read_at(reader, head, HEAD, reader->at, error);

	if (have < 0 || check_chunk_header(reader, head, have, error))
		return -1;
	*chunk = (struct chunk){
	    .kind = head[0],
	    .packing = head[1],
	    .number = number_at(head, 4),
	    .items = number_at(head, 8),
	    .stored = number_at(head, 12),
	    .size = number_at(head, 16),
	    .check = number_at(head, 20),
	    .at = reader->at + HEAD,
	};
	reader->at = chunk->at + chunk->stored;
	return chunk->kind != CHUNK_END;
}

static int decompress_chunk(const struct chunk *chunk, const struct bytes *stored,
			    struct bytes *content, struct error *error)
{
	size_t size;

	bytes_extend(content, chunk->size);
	size = ZSTD_decompress(content->data, chunk->size, stored->data, stored->size);
	if (ZSTD_isError(size))
		return error_set(error, "chunk at offset %" PRIu64 ": zstd: %s",
				 chunk->at, ZSTD_getErrorName(size));
	if (size != chunk->size)
		return error_set(error,
				 "chunk at offset %" PRIu64
				 ": %zu bytes (expected %" PRIu32 ")",
				 chunk->at, size, chunk->size);
	return 0;
}

static int check_content(const struct chunk *chunk, const uint8_t *stored, ssize_t have,
			 struct error *error)
{
	if (have < (ssize_t)chunk->stored)
		return error_set(error, "truncated at offset %" PRIu64,
				 chunk->at + (size_t)have);
	if (compute_checksum(stored, chunk->stored) != chunk->check)
		return error_set(error, "chunk at offset %" PRIu64 " is damaged",
				 chunk->at);
	if (chunk->packing > PACKING_ZSTD ||
	    (chunk->packing == PACKING_NONE && chunk->size != chunk->stored))
		return error_set(
		    error, "chunk at offset %" PRIu64 ": unknown compression", chunk->at);
	return 0;
}

int chunk_load(struct chunk_reader *reader, const struct chunk *chunk,
	       struct bytes *content, struct error *error)
{
	struct bytes stored = {0};
	bool is_packed = chunk->packing != PACKING_NONE;
	struct bytes *to = is_packed ? &stored : content;
	ssize_t have;
	int status;

	content->size = 0;
	/* One more byte, so that `data` is not NULL for an empty chunk. */
	bytes_reserve(content, (size_t)chunk->size + 1);
	bytes_reserve(to, (size_t)chunk->stored + 1);
	have = read_at(reader, bytes_extend(to, chunk->stored), chunk->stored, chunk->at,
		       error);
	status = have < 0 ? -1 : check_content(chunk, to->data, have, error);
	if (!status && is_packed)
		status = decompress_chunk(chunk, &stored, content, error);
	bytes_clear(&stored);
	return status;
}

json_t *chunk_load_object(struct chunk_reader *reader, const struct chunk *chunk,
			  struct error *error)
{
	struct bytes content = {0};
	json_t *object = NULL;

	if (chunk_load(reader, chunk, &content, error) == 0) {
		object =
		    json_parse_object((const char *)content.data, content.size, error);
		if (!object)
			error_prefix(error, "chunk at offset %" PRIu64, chunk->at);
	}
	bytes_clear(&content);
	return object;
}

void chunk_reader_close_file(struct chunk_reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = -1;
}

void chunk_reader_clear(struct chunk_reader *reader)
{
	chunk_reader_close_file(reader);
	free(reader->path);
	reader->path = NULL;
}
