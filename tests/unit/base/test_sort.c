/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sort.h"

#include "../draw.h"

struct keyed {
	int64_t key;
	uint32_t number;
	char rest[12]; /* so that the size is no power of two */
};

static int by_key(const void *a, const void *b)
{
	const struct keyed *p = a, *q = b;

	return (p->key > q->key) - (p->key < q->key);
}

/* Elements of equal keys keep their order, whether an element is out of order by little
 * or by much, or the array consists of sorted parts, or of none. */
TEST(the_order_is_that_of_a_stable_sort)
{
	enum { MOST = 3000, ROUNDS = 300 };
	static struct keyed item[MOST];

	for (int round = 0; round < ROUNDS; round++) {
		size_t n = (size_t)draw_between(0, round % 3 ? 40 : MOST);
		int64_t far = draw_between(0, 1) ? draw_between(0, 20) : 0;
		int64_t part = draw_between(1, MOST);

		for (size_t i = 0; i < n; i++)
			item[i] = (struct keyed){
			    .key = round % 5 ? (int64_t)i % part + draw_between(-far, far)
					     : draw_between(0, 50),
			    .number = (uint32_t)i,
			};
		sort_almost_sorted(item, n, sizeof(*item), by_key);
		for (size_t i = 1; i < n; i++) {
			assert_true(item[i - 1].key <= item[i].key);
			assert_true(item[i - 1].key < item[i].key ||
				    item[i - 1].number < item[i].number);
		}
	}
}

static size_t compared;

static int by_key_counted(const void *a, const void *b)
{
	compared++;
	return by_key(a, b);
}

TEST(an_array_that_is_almost_sorted_costs_linear_time)
{
	enum { ITEMS = 100000 };
	static struct keyed item[ITEMS];

	for (size_t i = 0; i < ITEMS; i++)
		item[i].key = (int64_t)(i ^ 3);
	sort_almost_sorted(item, ITEMS, sizeof(*item), by_key_counted);
	assert_true(compared < 4 * ITEMS);
	for (size_t i = 0; i < ITEMS; i++)
		assert_int_equal(item[i].key, i);
}
