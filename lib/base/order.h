/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_ORDER_H
#define CT_BASE_ORDER_H

#include <stddef.h>
#include <stdlib.h>

/*
 * Compare two numbers for qsort(3): less than, equal to or greater than 0. Several keys
 * are joined by ?:, as in COMPARE(p->node, q->node) ?: COMPARE(p->cpu, q->cpu).
 */
#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Sort an array; qsort() must not get one that is NULL because it is empty. */
#define SORT(items, count, compare)                                                      \
	sort_items((items), (count), sizeof(*(items)), (compare))

static inline void sort_items(void *items, size_t count, size_t size,
			      int (*compare)(const void *a, const void *b))
{
	if (count)
		qsort(items, count, size, compare);
}

#endif
