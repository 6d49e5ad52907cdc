/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SORTER_H
#define CT_BASE_SORTER_H

#include <stddef.h>

#include "base/error.h"

/*
 * Sorting more than memory holds: items are sorted by runs of some thousand,
 * which go to an unnamed file and are merged from there.
 */
struct sorter;

typedef int sorter_compare_fn(const void *a, const void *b);

/* For items of `size` bytes; a run has `most` of them. Of equal ones the order is open.
 */
struct sorter *sorter_new(size_t size, size_t most, sorter_compare_fn *compare);

/* Add a copy of an item. Return 0, or -1 with error if the file cannot be written. */
int sorter_add(struct sorter *sorter, const void *item, struct error *error);

/* Sort after the last item was added. Return 0, or -1 with error. */
int sorter_sort(struct sorter *sorter, struct error *error);

/*
 * Hand out all items in order, after the last one was added, until `on_item`
 * returns other than 0. What it returned, or -1 with error. After sorter_sort(), several
 * threads may call it at a time.
 */
int sorter_each(struct sorter *sorter, int (*on_item)(void *context, const void *item),
		void *context, struct error *error);

void sorter_free(struct sorter *sorter);

#endif
