/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/process.h"

#include <stdatomic.h>
#include <string.h>

#include "../test.h"

enum { MOST = 1000 };

struct seen {
	atomic_int times[MOST];
	atomic_int inside, together;
	int meet; /* so many have to be inside at once */
};

static void see(void *context, size_t index)
{
	struct seen *seen = context;

	atomic_fetch_add(&seen->times[index], 1);
	atomic_fetch_add(&seen->inside, 1);
	while (atomic_load(&seen->inside) < seen->meet)
		;
}

TEST(every_index_is_run_once)
{
	static const int threads[] = {-1, 0, 1, 2, 7, 64};
	static const size_t count[] = {0, 1, 2, MOST};

	for (size_t i = 0; i < sizeof(threads) / sizeof(*threads); i++)
		for (size_t k = 0; k < sizeof(count) / sizeof(*count); k++) {
			static struct seen seen;

			memset(&seen, 0, sizeof(seen));
			parallel_run(threads[i], count[k], see, &seen);
			for (size_t n = 0; n < MOST; n++)
				assert_int_equal(atomic_load(&seen.times[n]),
						 n < count[k]);
		}
}

/* Would wait for ever if one came after the other. */
TEST(they_run_at_the_same_time)
{
	static struct seen seen = {.meet = 3};

	parallel_run(3, 3, see, &seen);
	assert_int_equal(atomic_load(&seen.inside), 3);
}
