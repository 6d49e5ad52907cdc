/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

static int by_ends(const void *a, const void *b, void *pairs)
{
	const struct pair *p =
	    &((const struct pair_table *)pairs)->pair[*(const uint32_t *)a];
	const struct pair *q =
	    &((const struct pair_table *)pairs)->pair[*(const uint32_t *)b];

	return COMPARE(p->a, q->a) ?: COMPARE(p->b, q->b);
}

uint32_t *pair_table_order(const struct pair_table *pairs)
{
	uint32_t *order = mem_alloc(pairs->count * sizeof(*order));

	for (uint32_t i = 0; i < pairs->count; i++)
		order[i] = i;
	qsort_r(order, pairs->count, sizeof(*order), by_ends, (void *)pairs);
	return order;
}

static int add_message(void *context, const struct message *message)
{
	const struct pair_table *pairs = context;
	struct pair *pair = &pairs->pair[message->pair];
	struct hull_point point = pair_point(message);

	if (message->rejected)
		return 0;
	if (message->forward)
		pair->messages_ab++;
	else
		pair->messages_ba++;
	if (message->recv_ns < message->send_ns)
		pair->violations_before++;
	hull_add(message->forward ? &pair->hulls.lower : &pair->hulls.upper, point.x,
		 point.y);
	return 0;
}

static void begin_pairs(struct pair_table *pairs, const struct message_log *log)
{
	if (!pairs->pair) {
		pairs->count = log->numbers.count;
		pairs->pair = mem_zalloc(pairs->count * sizeof(*pairs->pair));
	}
	for (size_t i = 0; i < pairs->count; i++) {
		struct pair *pair = &pairs->pair[i];

		pair->a = log->numbers.pair[i].a;
		pair->b = log->numbers.pair[i].b;
		pair->messages_ab = pair->messages_ba = pair->violations_before = 0;
		hull_reset(&pair->hulls.lower);
		hull_reset(&pair->hulls.upper);
		pair->hulls.upper.upper = true;
	}
}

/* The origin is a corner, since the order of matching depends on chance. */
static void fit_hulls(struct pair *pair, double limit)
{
	struct hulls *hulls = &pair->hulls;

	hull_settle(&hulls->lower);
	hull_settle(&hulls->upper);
	hulls->origin =
	    hulls->lower.count ? hulls->lower.point[0] : hulls->upper.point[0];
	pair->fit = pair_line_or_too_fast(hulls, 2 * limit);
}

int pairs_collect(struct pair_table *pairs, const struct message_log *log, double limit,
		  struct error *error)
{
	begin_pairs(pairs, log);
	if (message_log_each(log, add_message, pairs, error))
		return -1;
	for (size_t i = 0; i < pairs->count; i++)
		fit_hulls(&pairs->pair[i], limit);
	return 0;
}

#define CHANCE_MARGINS 32.0 /* margins that estimate the range of delays */

double pair_chance_allowance(const struct pair *pair)
{
	uint64_t ab = pair->messages_ab, ba = pair->messages_ba;

	return CHANCE_MARGINS * fmax(0, pair->fit.margin_ns) /
	       (double)(1 + (ab < ba ? ab : ba));
}

uint64_t pairs_rejected(const struct pair_table *pairs)
{
	uint64_t rejected = 0;

	for (size_t i = 0; i < pairs->count; i++)
		rejected += pairs->pair[i].rejected;
	return rejected;
}

bool pairs_have_contradictory(const struct pair_table *pairs)
{
	for (size_t i = 0; i < pairs->count; i++)
		if (pairs->pair[i].contradictory)
			return true;
	return false;
}

void pair_table_clear(struct pair_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		hull_clear(&table->pair[i].hulls.lower);
		hull_clear(&table->pair[i].hulls.upper);
	}
	free(table->pair);
	memset(table, 0, sizeof(*table));
}
