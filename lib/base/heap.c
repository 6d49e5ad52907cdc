/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/heap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is_before(const struct heap_item *a, const struct heap_item *b)
{
	return a->key != b->key ? a->key < b->key : a->item < b->item;
}

void heap_push(struct heap *heap, int64_t key, uint32_t item)
{
	struct heap_item fresh = {key, item};
	size_t at = heap->count;

	heap->item = mem_grow(heap->item, at, &heap->capacity, sizeof(*heap->item));
	heap->count++;
	for (; at && is_before(&fresh, &heap->item[(at - 1) / 2]); at = (at - 1) / 2)
		heap->item[at] = heap->item[(at - 1) / 2];
	heap->item[at] = fresh;
}

/* Replace the first entry and restore the order of the heap. */
static void sift_down(struct heap *heap, struct heap_item item)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    is_before(&heap->item[child + 1], &heap->item[child]))
			child++;
		if (!is_before(&heap->item[child], &item))
			break;
		heap->item[at] = heap->item[child];
		at = child;
	}
	heap->item[at] = item;
}

void heap_pop(struct heap *heap)
{
	struct heap_item last = heap->item[--heap->count];

	if (heap->count)
		sift_down(heap, last);
}

void heap_replace(struct heap *heap, int64_t key)
{
	sift_down(heap, (struct heap_item){key, heap->item[0].item});
}

void heap_clear(struct heap *heap)
{
	free(heap->item);
	memset(heap, 0, sizeof(*heap));
}
