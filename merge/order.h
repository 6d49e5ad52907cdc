/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_ORDER_H
#define CT_MERGE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nsec.h"

/*
 * Which source's next event is the earliest: a binary heap of one head a source.
 * Heads of one time go by node, then by source, so that every merge of a run
 * gives the same order.
 */
struct order_head {
	nsec_t ts_ns;
	uint32_t node, source;
};

struct order {
	struct order_head *head;
	size_t count, room;
};

void order_add(struct order *order, const struct order_head *head);

/* The source of the earliest head, or false when there is none. */
bool order_first(const struct order *order, uint32_t *source);

/* The first source's head is now at that time, which is no earlier. */
void order_advance(struct order *order, nsec_t ts_ns);

/* The first source has come to its end. */
void order_remove(struct order *order);

void order_clear(struct order *order);

#endif
