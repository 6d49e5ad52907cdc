/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

uint32_t pair_table_find(struct pair_table *table, uint32_t a, uint32_t b)
{
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	struct pair *pair;
	int64_t index;

	if (intmap_get(&table->index, key, &index))
		return (uint32_t)index;
	table->pair =
	    mem_grow(table->pair, table->count, &table->room, sizeof(*table->pair));
	pair = &table->pair[table->count];
	memset(pair, 0, sizeof(*pair));
	pair->a = (uint32_t)(key >> 32);
	pair->b = (uint32_t)key;
	pair->upper.upper = true;
	pair->min_latency_ab_ns = pair->min_latency_ba_ns = NSEC_MAX;
	intmap_put(&table->index, key, (int64_t)table->count);
	return (uint32_t)table->count++;
}

static int by_ends(const void *a, const void *b, void *pairs)
{
	const struct pair *p =
	    &((const struct pair_table *)pairs)->pair[*(const uint32_t *)a];
	const struct pair *q =
	    &((const struct pair_table *)pairs)->pair[*(const uint32_t *)b];

	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return (p->b > q->b) - (p->b < q->b);
}

uint32_t *pair_table_order(const struct pair_table *pairs)
{
	uint32_t *order = mem_alloc(pairs->count * sizeof(*order));

	for (uint32_t i = 0; i < pairs->count; i++)
		order[i] = i;
	qsort_r(order, pairs->count, sizeof(*order), by_ends, (void *)pairs);
	return order;
}

void pair_add(struct pair *pair, const struct message *message)
{
	struct hull_point point = pair_point(message);

	if (!pair->messages_ab && !pair->messages_ba)
		pair->origin = point;
	if (message->forward)
		pair->messages_ab++;
	else
		pair->messages_ba++;
	if (message->recv_ns < message->send_ns)
		pair->violations_before++;
	hull_add(message->forward ? &pair->lower : &pair->upper, point.x, point.y);
}

void pair_table_settle(struct pair_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		hull_settle(&table->pair[i].lower);
		hull_settle(&table->pair[i].upper);
	}
}

void pair_table_clear(struct pair_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		hull_clear(&table->pair[i].lower);
		hull_clear(&table->pair[i].upper);
	}
	free(table->pair);
	intmap_clear(&table->index);
	memset(table, 0, sizeof(*table));
}
