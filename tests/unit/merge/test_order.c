/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/order.h"

#include <stdlib.h>
#include <string.h>

#include "../draw.h"
#include "../scratch.h"

enum { SOURCES = 50, EVENTS = 200 };

struct stream {
	nsec_t ts_ns[EVENTS];
	size_t next;
};

static int by_time(const void *a, const void *b)
{
	const nsec_t *p = a, *q = b;

	return (*p > *q) - (*p < *q);
}

static void fill(struct stream *stream)
{
	for (size_t i = 0; i < EVENTS; i++)
		stream->ts_ns[i] = draw_between(0, 500);
	qsort(stream->ts_ns, EVENTS, sizeof(*stream->ts_ns), by_time);
}

/* Many sources with many equal stamps: by time, then node, then source. */
static void streams_become_one(void **state)
{
	struct stream *stream = calloc(SOURCES, sizeof(*stream));
	struct order order = {NULL, 0, 0};
	struct order_head last = {NSEC_MIN, 0, 0};
	uint32_t source;
	size_t count = 0;

	(void)state;
	for (uint32_t i = 0; i < SOURCES; i++) {
		fill(&stream[i]);
		order_add(&order,
			  &(struct order_head){stream[i].ts_ns[0], (SOURCES - i) / 7, i});
	}
	while (order_first(&order, &source)) {
		struct stream *from = &stream[source];
		struct order_head head = {from->ts_ns[from->next], (SOURCES - source) / 7,
					  source};

		assert_true(head.ts_ns > last.ts_ns ||
			    (head.ts_ns == last.ts_ns &&
			     (head.node > last.node ||
			      (head.node == last.node && head.source >= last.source))));
		last = head;
		count++;
		if (++from->next < EVENTS)
			order_advance(&order, from->ts_ns[from->next]);
		else
			order_remove(&order);
	}
	assert_int_equal(count, SOURCES * EVENTS);
	order_clear(&order);
	free(stream);
}

static void nothing_has_no_first(void **state)
{
	struct order order = {NULL, 0, 0};
	uint32_t source;

	(void)state;
	assert_false(order_first(&order, &source));
	order_add(&order, &(struct order_head){5, 0, 3});
	assert_true(order_first(&order, &source));
	assert_int_equal(source, 3);
	order_remove(&order);
	assert_false(order_first(&order, &source));
	order_clear(&order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    DRAW_TEST(streams_become_one),
	    cmocka_unit_test(nothing_has_no_first),
	};

	return cmocka_run_group_tests(tests, draw_take_seed, NULL);
}
