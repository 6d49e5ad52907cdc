/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_BLOCK_H
#define CT_MERGE_BLOCK_H

#include <stdbool.h>

#include "ctf/reader.h"

/*
 * Events on their way from the thread that read them to the one that writes:
 * each is copied whole, cells and texts, behind the one before, so that an event
 * costs no allocation.
 */
struct row {
	nsec_t ts_ns;                  /* on the timeline's axis */
	const struct ctf_class *class; /* its source's, as long as that is open */
	struct ctf_event record;       /* cells within the block; NULL: none kept */
	uint32_t length;               /* in the block */
	bool selected;                 /* else only of use to follow threads */
};

#define BLOCK_BYTES ((size_t)64 << 10) /* but for one with a single larger row */

struct block {
	struct block *next;
	size_t size, used;
	char byte[];
};

/* A block with room for a row of that many bytes. */
struct block *block_new(size_t row);

/* The bytes of a row with its cells, NULL and so on as in block_add. */
size_t row_size(const struct row *row, size_t columns);

/*
 * Copy a row with its record's cells, of which there are `columns`, to the end,
 * where there must be room for `size` bytes, by row_size.
 */
void block_add(struct block *block, const struct row *row, size_t columns, size_t size);

/* The row at an offset; the next one is its length further. */
static inline const struct row *block_row(const struct block *block, size_t at)
{
	return (const struct row *)(block->byte + at);
}

#endif
