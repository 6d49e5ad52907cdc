/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SORT_H
#define CT_BASE_SORT_H

#include <stddef.h>

/*
 * Sort like qsort, but in time linear in `n` if elements are out of order by few places,
 * as messages in the order of another clock are. Stable where qsort is.
 */
void sort_almost_sorted(void *base, size_t n, size_t size,
			int (*compare)(const void *, const void *));

#endif
