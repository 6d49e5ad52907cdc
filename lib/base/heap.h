/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_HEAP_H
#define CT_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* Numbered items by a key, the least first; of equal keys the one with the least number.
 */
struct heap_item {
	int64_t key;
	uint32_t item;
};

/* All zero is an empty one. */
struct heap {
	struct heap_item *item; /* the first is the least */
	size_t count, capacity;
};

void heap_push(struct heap *heap, int64_t key, uint32_t item);
void heap_pop(struct heap *heap);

/* Give the first another key. */
void heap_replace(struct heap *heap, int64_t key);
void heap_clear(struct heap *heap);

#endif
