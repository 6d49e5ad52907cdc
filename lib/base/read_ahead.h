/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_READ_AHEAD_H
#define CT_BASE_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"

/*
 * Many sources, each read by steps, by few threads ahead of the one that uses what they
 * give. What a source gave waits in blocks. Threads take the source that will be needed
 * first: one of which nothing waits, else the one that is furthest behind, until so many
 * bytes wait. So memory does not grow with the sources' lengths, and with their number
 * only by what a step of each gives.
 */
struct read_ahead;

/* What one step of a source gives. */
struct read_step;

/* Items one behind the other: `used` bytes. */
struct read_block {
	struct read_block *next;
	size_t size, used;
	_Alignas(16) char byte[];
};

struct read_ahead_of {
	size_t sources;
	int threads;       /* 0: the one that uses what is read reads it */
	size_t most_bytes; /* that wait */
	size_t block_bytes;
	/*
	 * Read some milliseconds more of a source; false at its end. In any thread, but
	 * in one at a time.
	 */
	bool (*read)(void *context, uint32_t source, struct read_step *step);
	/* What others may know of the source by now; after a step, under the lock. */
	void (*note)(void *context, uint32_t source);
	/* Where it was read to: the least goes on first. Under the lock. */
	nsec_t (*position)(const void *context, uint32_t source);
	void *context;
};

/* Begins to read. Where the system gives no thread, reads as with none. */
struct read_ahead *read_ahead_new(const struct read_ahead_of *of);

/* From within a step: so many bytes, at most UINT32_MAX, for one more item. */
void *read_step_add(struct read_step *step, size_t size);

/* The next block of a source, waited for, or NULL at its end. */
const struct read_block *read_ahead_next(struct read_ahead *ahead, uint32_t source);

/* Of blocks behind which others of their source were asked for, no item is used now. */
void read_ahead_reuse(struct read_ahead *ahead);

/* While nobody notes anything. */
void read_ahead_lock(struct read_ahead *ahead);
void read_ahead_unlock(struct read_ahead *ahead);

/* End the reading, wherever it is. */
void read_ahead_free(struct read_ahead *ahead);

#endif
