/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SEARCH_H
#define CT_BASE_SEARCH_H

#include <stddef.h>

/*
 * The first index below `count` for which a condition on `index` does not hold, `count`
 * if there is none: by bisection, so it holds for all indexes below that and for none
 * from there on.
 */
#define FIRST_NOT(count, index, condition)                                               \
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
