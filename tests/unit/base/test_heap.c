/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/heap.h"

#include "../draw.h"

/* The least key is first, and of equal ones the least number, whatever was done. */
TEST(the_least_is_first)
{
	enum { ITEMS = 200, ROUNDS = 5000 };
	int64_t key[ITEMS];
	struct heap heap = {0};

	for (uint32_t i = 0; i < ITEMS; i++) {
		key[i] = draw_between(0, 50);
		heap_push(&heap, key[i], i);
	}
	for (int round = 0; round < ROUNDS && heap.count; round++) {
		uint32_t best = ITEMS, first = heap.item[0].item;

		for (uint32_t i = 0; i < ITEMS; i++)
			if (key[i] != INT64_MAX && (best == ITEMS || key[i] < key[best]))
				best = i;
		assert_int_equal(first, best);
		assert_int_equal(heap.item[0].key, key[best]);
		key[first] += draw_between(-3, 20);
		if (draw() % 20) {
			heap_replace(&heap, key[first]);
		} else {
			heap_pop(&heap);
			key[first] = INT64_MAX;
		}
	}
	while (heap.count)
		heap_pop(&heap);
	heap_push(&heap, INT64_MIN, 7);
	assert_int_equal(heap.item[0].item, 7);
	heap_clear(&heap);
	assert_int_equal(heap.count, 0);
}
