/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SPILL_H
#define CT_BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/* An unnamed temporary file in $TMPDIR for data that does not fit into memory. It is
 * created when bytes are first added. */
struct spill {
	const char *what; /* content, for error messages: "of messages" */
	uint64_t size;    /* in bytes */
	bool is_open;
	int fd;
};

/* Append bytes; read or overwrite bytes at an offset. Return 0, or -1 with error. */
int spill_add(struct spill *spill, const void *bytes, size_t size, struct error *error);
int spill_read(const struct spill *spill, uint64_t at, void *bytes, size_t size,
	       struct error *error);
int spill_change(const struct spill *spill, uint64_t at, const void *bytes, size_t size,
		 struct error *error);
void spill_clear(struct spill *spill);

/*
 * A sequence of chunks of bytes. The last, open chunk is in memory, the others are in a
 * spill file, which many chains may share. Zero-initialize before use.
 */
struct spill_chain {
	struct bytes open; /* the open chunk; append here */
	uint64_t first;    /* the caller's number for the start of the open chunk */
	struct spill_chunk {
		uint64_t first; /* the caller's number for the start */
		uint64_t at;    /* offset in the file */
		size_t size;
	} * chunk;
	size_t chunks, capacity;
};

/* Move the open chunk to the file and begin a new one. Return 0, or -1 with error. */
int spill_chain_close(struct spill_chain *chain, struct spill *spill,
		      struct error *error);

/* Set `chunk` to the bytes of the n-th chunk, counting the open one as the last. Chunks
 * from the file are read into `memory`. Return 0, or -1 with error. */
int spill_chain_read(const struct spill_chain *chain, const struct spill *spill, size_t n,
		     struct bytes *memory, struct bytes_cursor *chunk,
		     struct error *error);
void spill_chain_clear(struct spill_chain *chain);

#endif
