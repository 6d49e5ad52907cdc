/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SEARCH_H
#define CT_BASE_SEARCH_H

#include <stddef.h>

/*
 * The partition point: the first index below `count` for which `condition`, an expression
 * of `index`, is false, or `count` if there is none. Found by bisection: the condition
 * must be true for all smaller indexes and false for all larger ones.
 */
#define PARTITION_POINT(count, index, condition)                                         \
	({                                                                               \
		size_t low_ = 0, high_ = (count);                                        \
                                                                                         \
		while (low_ < high_) {                                                   \
			size_t index = low_ + (high_ - low_) / 2;                        \
                                                                                         \
			if (condition)                                                   \
				low_ = index + 1;                                        \
			else                                                             \
				high_ = index;                                           \
		}                                                                        \
		low_;                                                                    \
	})

#endif
