/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_HEAP_H
#define CT_BASE_HEAP_H

#include <stddef.h>
#include <stdint.h>

/* An entry of a heap: ordered by key, then by item number. */
struct heap_item {
	int64_t key;
	uint32_t item;
};

/* A binary min-heap. Zero-initialize before use. */
struct heap {
	struct heap_item *item; /* the first is the smallest */
	size_t count, capacity;
};

void heap_push(struct heap *heap, int64_t key, uint32_t item);
void heap_pop(struct heap *heap);

/* Change the key of the first entry. */
void heap_replace(struct heap *heap, int64_t key);
void heap_clear(struct heap *heap);

#endif
