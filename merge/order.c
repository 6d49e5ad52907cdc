/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is_before(const struct order_head *a, const struct order_head *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	return a->node != b->node ? a->node < b->node : a->source < b->source;
}

void order_add(struct order *order, const struct order_head *head)
{
	size_t at = order->count;

	order->head =
	    mem_grow(order->head, order->count++, &order->room, sizeof(*order->head));
	while (at > 0 && is_before(head, &order->head[(at - 1) / 2])) {
		order->head[at] = order->head[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	order->head[at] = *head;
}

bool order_first(const struct order *order, uint32_t *source)
{
	if (!order->count)
		return false;
	*source = order->head[0].source;
	return true;
}

/* Let a head sink from the top to where it belongs. */
static void sink(struct order *order, struct order_head head)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < order->count) {
		if (child + 1 < order->count &&
		    is_before(&order->head[child + 1], &order->head[child]))
			child++;
		if (!is_before(&order->head[child], &head))
			break;
		order->head[at] = order->head[child];
		at = child;
	}
	order->head[at] = head;
}

void order_advance(struct order *order, nsec_t ts_ns)
{
	struct order_head head = order->head[0];

	assert(order->count && ts_ns >= head.ts_ns);
	head.ts_ns = ts_ns;
	sink(order, head);
}

void order_remove(struct order *order)
{
	assert(order->count);
	if (--order->count)
		sink(order, order->head[order->count]);
}

void order_clear(struct order *order)
{
	free(order->head);
	memset(order, 0, sizeof(*order));
}
