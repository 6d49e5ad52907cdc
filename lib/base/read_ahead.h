/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_READ_AHEAD_H
#define CT_BASE_READ_AHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"

/*
 * A reader of many sources, with a few threads that run ahead of the consumer.
 *
 * Each source is read in steps, and what a step yields is queued in blocks. A thread
 * picks a source whose queue is empty, or else the one whose `position` is furthest
 * behind, until `most_bytes` are queued. So memory does not grow with the length of the
 * sources, and with their number only by one step each.
 */
struct read_ahead;

/* The output of one step of a source. */
struct read_step;

/* Consecutive items of `used` bytes altogether. */
struct read_block {
	struct read_block *next;
	size_t size, used;
	_Alignas(16) char byte[];
};

struct read_ahead_config {
	size_t sources;
	int threads;       /* 0: the consumer reads */
	size_t most_bytes; /* limit of the queued bytes */
	size_t block_bytes;
	/* Read a step of some milliseconds. Return false at the source's end. Called in
	 * any thread, for one source in one at a time. */
	bool (*read)(void *context, uint32_t source, struct read_step *step);
	/* Publish the facts about a source. Called after each step, with the lock held.
	 */
	void (*note)(void *context, uint32_t source);
	/* Return the position up to which a source was read; the smallest is read first.
	 * Called with the lock held. */
	nsec_t (*position)(const void *context, uint32_t source);
	void *context;
};

/* Start reading. If no thread can be created, the consumer reads. */
struct read_ahead *read_ahead_new(const struct read_ahead_config *of);

/* Allocate one more item of `size` bytes, at most UINT32_MAX. Called by `read`. */
void *read_step_add(struct read_step *step, size_t size);

/* Wait for the next block of a source and return it, or NULL at the source's end. */
const struct read_block *read_ahead_next(struct read_ahead *ahead, uint32_t source);

/* Return the blocks that the consumer has moved past since the last call. They remain
 * valid until read_ahead_reuse() recycles them. */
struct read_block *read_ahead_take_used(struct read_ahead *ahead);
void read_ahead_reuse(struct read_ahead *ahead, struct read_block *used);

/* Return the size of the blocks that read_ahead_take_used() would return. */
size_t read_ahead_used_bytes(const struct read_ahead *ahead);

/* Lock out the `note` and `position` callbacks, so that what they use can be read or
 * changed. */
void read_ahead_lock(struct read_ahead *ahead);
void read_ahead_unlock(struct read_ahead *ahead);

/* Stop reading and free everything. */
void read_ahead_free(struct read_ahead *ahead);

#endif
