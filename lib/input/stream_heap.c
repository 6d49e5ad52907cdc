/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/stream_heap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void stream_heap_init(struct stream_heap *heap, size_t streams)
{
	heap->head = mem_zalloc(streams * sizeof(struct stream_head *) + 1);
	heap->count = 0;
}

void stream_heap_add(struct stream_heap *heap, struct stream_head *head)
{
	heap->head[heap->count++] = head;
}

nsec_t stream_heap_second(const struct stream_heap *heap)
{
	nsec_t head = NSEC_MAX;

	for (size_t i = 1; i < heap->count && i < 3; i++)
		if (heap->head[i]->head_ns < head)
			head = heap->head[i]->head_ns;
	return head;
}

void stream_heap_settle(struct stream_heap *heap)
{
	struct stream_head **head = heap->head;
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		struct stream_head *moved = head[at];

		if (child + 1 < heap->count &&
		    head[child + 1]->head_ns < head[child]->head_ns)
			child++;
		if (moved->head_ns <= head[child]->head_ns)
			return;
		head[at] = head[child];
		head[child] = moved;
		at = child;
	}
}

void stream_heap_remove(struct stream_heap *heap)
{
	heap->head[0] = heap->head[--heap->count];
	stream_heap_settle(heap);
}

void stream_heap_clear(struct stream_heap *heap)
{
	free(heap->head);
	memset(heap, 0, sizeof(*heap));
}
