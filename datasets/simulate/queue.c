/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is_before(const struct occasion *a, const struct occasion *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void queue_add(struct queue *queue, nsec_t at, unsigned kind, uint32_t what, uint32_t age)
{
	struct occasion occasion = {.at = at, .order = queue->order++, .what = what};
	size_t hole;

	occasion.kind = kind & 0xff;
	occasion.age = age & OCCASION_AGE;
	queue->item =
	    mem_grow(queue->item, queue->count, &queue->room, sizeof(*queue->item));
	for (hole = queue->count++; hole; hole = (hole - 1) / 4) {
		const struct occasion *parent = &queue->item[(hole - 1) / 4];

		if (!is_before(&occasion, parent))
			break;
		queue->item[hole] = *parent;
	}
	queue->item[hole] = occasion;
}

bool queue_take(struct queue *queue, struct occasion *occasion)
{
	const struct occasion *last;
	size_t hole = 0, child;

	if (!queue->count)
		return false;
	*occasion = queue->item[0];
	last = &queue->item[--queue->count];
	while ((child = 4 * hole + 1) < queue->count) {
		size_t end = child + 4 < queue->count ? child + 4 : queue->count;
		size_t least = child;

		while (++child < end)
			if (is_before(&queue->item[child], &queue->item[least]))
				least = child;
		if (!is_before(&queue->item[least], last))
			break;
		queue->item[hole] = queue->item[least];
		hole = least;
	}
	queue->item[hole] = *last;
	return true;
}

void queue_clear(struct queue *queue)
{
	free(queue->item);
	memset(queue, 0, sizeof(*queue));
}
