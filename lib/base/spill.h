/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SPILL_H
#define CT_BASE_SPILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"

/*
 * An unnamed file in $TMPDIR for what does not fit into memory, to be written and read,
 * made when something is first added to it.
 */
struct spill {
	const char *what; /* for errors: "of messages" */
	uint64_t size;    /* in bytes */
	bool is_open;
	int fd;
};

/* Add bytes at the end, or read or change some that were added. 0, or -1 with error. */
int spill_add(struct spill *spill, const void *bytes, size_t size, struct error *error);
int spill_read(const struct spill *spill, uint64_t at, void *bytes, size_t size,
	       struct error *error);
int spill_change(const struct spill *spill, uint64_t at, const void *bytes, size_t size,
		 struct error *error);
void spill_clear(struct spill *spill);

/*
 * What is read back as it came, or chunk by chunk: the last chunk waits in memory, those
 * before it lie in a file, which many chains may share. Zeroed is empty.
 */
struct spill_chain {
	struct bytes open; /* the last chunk, to be added to */
	uint64_t first;    /* what it begins with, the caller's */
	struct spill_chunk {
		uint64_t first, at; /* in the file */
		size_t size;
	} * chunk;
	size_t chunks, capacity;
};

/* Put the open chunk into the file, and begin another one. 0, or -1 with error. */
int spill_chain_close(struct spill_chain *chain, struct spill *spill,
		      struct error *error);

/* The bytes of the n-th chunk, of which the open one is the last: in `memory`, unless it
 * is open. 0, or -1 with error. */
int spill_chain_read(const struct spill_chain *chain, const struct spill *spill, size_t n,
		     struct bytes *memory, struct bytes_cursor *chunk,
		     struct error *error);
void spill_chain_clear(struct spill_chain *chain);

#endif
