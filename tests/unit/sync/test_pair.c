/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_pair_has_no_direction(void **state)
{
	struct pair_table table = {NULL, 0, 0, {NULL, 0, 0}};

	(void)state;
	assert_int_equal(pair_table_find(&table, 3, 1), 0);
	assert_int_equal(pair_table_find(&table, 1, 3), 0);
	assert_int_equal(pair_table_find(&table, 1, 0), 1);
	assert_int_equal(table.pair[0].a, 1);
	assert_int_equal(table.pair[0].b, 3);
	assert_true(table.pair[0].upper.upper);
	assert_false(table.pair[0].lower.upper);
	assert_int_equal(table.pair[0].min_latency_ba_ns, NSEC_MAX);
	pair_table_clear(&table);
}

static void many_pairs_are_kept_apart(void **state)
{
	struct pair_table table = {NULL, 0, 0, {NULL, 0, 0}};
	uint32_t *order;

	(void)state;
	for (uint32_t b = 60; b > 0; b--)
		for (uint32_t a = 0; a < b; a++)
			pair_table_find(&table, a, b);
	assert_int_equal(table.count, 60 * 61 / 2);
	for (uint32_t b = 60; b > 0; b--)
		for (uint32_t a = 0; a < b; a++) {
			uint32_t index = pair_table_find(&table, b, a);
			const struct pair *pair = &table.pair[index];

			assert_true(pair->a == a && pair->b == b);
		}
	assert_int_equal(table.count, 60 * 61 / 2);
	order = pair_table_order(&table);
	for (size_t i = 1; i < table.count; i++) {
		const struct pair *p = &table.pair[order[i - 1]];
		const struct pair *q = &table.pair[order[i]];

		assert_true(p->a < q->a || (p->a == q->a && p->b < q->b));
	}
	free(order);
	pair_table_clear(&table);
}

static void messages_go_to_the_hull_of_their_direction(void **state)
{
	struct pair_table table = {NULL, 0, 0, {NULL, 0, 0}};
	struct pair *pair;

	(void)state;
	assert_int_equal(pair_table_find(&table, 0, 1), 0);
	pair = &table.pair[0];
	/* x is a's time, y is b's. */
	pair_add(pair, &(struct message){.forward = false, .send_ns = 70, .recv_ns = 60});
	pair_add(pair, &(struct message){.forward = true, .send_ns = 10, .recv_ns = 30});
	pair_add(pair, &(struct message){.forward = true, .send_ns = 20, .recv_ns = 20});
	pair_table_settle(&table);
	assert_int_equal(pair->messages_ab, 2);
	assert_int_equal(pair->messages_ba, 1);
	assert_int_equal(pair->violations_before, 1);
	assert_true(pair->origin.x == 60 && pair->origin.y == 70);
	assert_int_equal(pair->lower.count, 2);
	assert_true(pair->lower.point[0].x == 10 && pair->lower.point[0].y == 30);
	assert_int_equal(pair->upper.count, 1);
	assert_true(pair->upper.point[0].x == 60 && pair->upper.point[0].y == 70);
	pair_table_clear(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_pair_has_no_direction),
	    cmocka_unit_test(many_pairs_are_kept_apart),
	    cmocka_unit_test(messages_go_to_the_hull_of_their_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
