/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CHUNK_FILE_H
#define CT_BASE_CHUNK_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

/*
 * Files of chunks, each of which has a checksum and may be compressed (docs/formats.md,
 * Chunk files). If a file is truncated or a chunk is damaged, the other chunks can still
 * be read. Only this module and the Parquet writer use libzstd and zlib.
 */
struct chunk_format {
	const char *name;  /* "a .packets file" */
	const char *magic; /* the first 8 bytes of the file */
	uint32_t version;
};

enum { CHUNK_END = 0 }; /* kind of a file's last chunk; the format defines the others */

struct chunk {
	uint8_t kind;
	uint32_t number; /* the object that the chunk belongs to; defined by the format */
	uint32_t items;  /* number of items in the chunk */
	/* Set by chunk_next(). */
	uint8_t packing;
	uint32_t stored, size; /* bytes in the file, and after decompression */
	uint32_t check;
	uint64_t at; /* offset of the content */
};

/* Write the header of a file. Errors of this and the next functions are left in the
 * file's error flag. */
void chunk_write_begin(FILE *file, const struct chunk_format *format);

/* Write a chunk with a content of at most CHUNK_MOST bytes. Only `kind`, `number` and
 * `items` of `chunk` are used. */
void chunk_write(FILE *file, const struct chunk *chunk, const struct bytes *content);

/* Write a chunk that contains an object as JSON. Takes ownership of `object`. */
void chunk_write_object(FILE *file, const struct chunk *chunk, json_t *object);
void chunk_write_end(FILE *file);

enum { CHUNK_MOST = 1 << 24 };

struct chunk_reader {
	const struct chunk_format *format;
	char *path;
	int fd;      /* -1 while it is closed */
	uint64_t at; /* offset of the next chunk */
};

/* Return true if a file starts with the format's magic number. */
bool chunk_probe(const char *path, const struct chunk_format *format);

/* Open the file and check its header. Return 0, or -1 with error, which names the file
 * and the offset. */
int chunk_reader_open(struct chunk_reader *reader, const char *path,
		      const struct chunk_format *format, struct error *error);

/* Read the header of the next chunk. Return 1, 0 at the end of the file, or -1 with
 * error, after which nothing more can be read. */
int chunk_next(struct chunk_reader *reader, struct chunk *chunk, struct error *error);

/* Read and decompress a chunk's content. Return 0, or -1 with error; other chunks may
 * still be readable. */
int chunk_load(struct chunk_reader *reader, const struct chunk *chunk,
	       struct bytes *content, struct error *error);

/* Read a chunk's content as a JSON object. Return NULL with error, which names the chunk.
 */
json_t *chunk_load_object(struct chunk_reader *reader, const struct chunk *chunk,
			  struct error *error);

/* Return the size of the file in bytes, or 0 if it is closed. */
uint64_t chunk_reader_size(const struct chunk_reader *reader);

/* Close the file; the next read reopens it. A run may have more such files than a process
 * may have open. */
void chunk_reader_close_file(struct chunk_reader *reader);
void chunk_reader_clear(struct chunk_reader *reader);

#endif
