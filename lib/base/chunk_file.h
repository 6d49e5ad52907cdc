/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CHUNK_FILE_H
#define CT_BASE_CHUNK_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"

/*
 * Files of chunks, each of which is checked and may be compressed (docs/formats.md,
 * Chunk files). What is whole before a cut, or beside a damaged chunk, can be used. The
 * only user of libzstd and zlib besides the Parquet writer.
 */
struct chunk_format {
	const char *name;  /* "a .packets file" */
	const char *magic; /* 8 bytes, with which the file begins */
	uint32_t version;
};

enum { CHUNK_END = 0 }; /* the kind of a file's last chunk; others are the format's */

struct chunk {
	uint8_t kind;
	uint32_t number; /* of what it belongs to, as the format has it */
	uint32_t items;  /* how many are in it */
	/* Set by chunk_next. */
	uint8_t packing;
	uint32_t stored, size; /* bytes in the file and unpacked */
	uint32_t check;
	uint64_t at; /* where its content begins */
};

/* Whatever cannot be written shows in the file's error flag. */
void chunk_write_begin(FILE *file, const struct chunk_format *format);

/* Only kind, number and items of the chunk are read. At most CHUNK_MOST bytes. */
void chunk_write(FILE *file, const struct chunk *chunk, const struct bytes *content);
/* The same of an object as JSON, which is taken. */
void chunk_write_object(FILE *file, const struct chunk *chunk, json_t *object);
void chunk_write_end(FILE *file);

enum { CHUNK_MOST = 1 << 24 };

struct chunk_reader {
	const struct chunk_format *format;
	char *path;
	int fd;      /* -1 while it is closed */
	uint64_t at; /* where the next chunk begins */
};

/* Whether a file begins as one of that format. */
bool chunk_probe(const char *path, const struct chunk_format *format);

/* Look at the file's begin. 0, or -1 with error, which names the file and the offset. */
int chunk_reader_open(struct chunk_reader *reader, const char *path,
		      const struct chunk_format *format, struct error *error);

/*
 * The next chunk, of which only the head is read. 1; 0 at the file's end; -1 with error
 * where there is none: nothing can be read from here on.
 */
int chunk_next(struct chunk_reader *reader, struct chunk *chunk, struct error *error);

/* A chunk's content. 0, or -1 with error: it is damaged, others may be whole. */
int chunk_load(struct chunk_reader *reader, const struct chunk *chunk,
	       struct bytes *content, struct error *error);

/* The object that is a chunk's content. NULL with error, which names the chunk. */
json_t *chunk_load_object(struct chunk_reader *reader, const struct chunk *chunk,
			  struct error *error);

/* How long the file is, or 0. */
uint64_t chunk_reader_size(const struct chunk_reader *reader);

/* Close the file until it is read again, as there may be thousands. */
void chunk_reader_rest(struct chunk_reader *reader);
void chunk_reader_clear(struct chunk_reader *reader);

#endif
