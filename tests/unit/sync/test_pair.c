/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/pair/pair.h"

#include <stdlib.h>

#include "../test.h"

TEST(a_pair_has_no_direction)
{
	struct pair_numbers numbers = {.count = 0};

	assert_int_equal(pair_number(&numbers, 3, 1), 0);
	assert_int_equal(pair_number(&numbers, 1, 3), 0);
	assert_int_equal(pair_number(&numbers, 1, 0), 1);
	assert_int_equal(numbers.pair[0].a, 1);
	assert_int_equal(numbers.pair[0].b, 3);
	pair_numbers_clear(&numbers);
}

static void add(struct message_log *log, uint32_t from, uint32_t to, nsec_t send_ns,
		nsec_t recv_ns)
{
	struct error error = ERROR_INIT;
	struct message message = {.send_ns = send_ns, .recv_ns = recv_ns};

	assert_int_equal(message_log_add(log, from, to, &message, &error), 0);
}

TEST(many_pairs_are_kept_apart)
{
	enum { CLOCKS = 61 };
	struct pair_table table = {.count = 0};
	struct error error = ERROR_INIT;
	struct message_log log;
	uint32_t *order;

	message_log_init(&log);
	for (uint32_t b = CLOCKS - 1; b > 0; b--)
		for (uint32_t a = 0; a < b; a++)
			add(&log, a, b, a, b);
	for (uint32_t b = CLOCKS - 1; b > 0; b--)
		for (uint32_t a = 0; a < b; a++)
			add(&log, b, a, b, a);
	assert_int_equal(pairs_collect(&table, &log, 1e-4, &error), 0);
	assert_int_equal(table.count, CLOCKS * (CLOCKS - 1) / 2);
	for (size_t i = 0; i < table.count; i++) {
		const struct pair *pair = &table.pair[i];

		assert_int_equal(pair->messages_ab, 1);
		assert_int_equal(pair->messages_ba, 1);
		assert_int_equal(pair->hulls.lower.point[0].x, pair->a);
		assert_int_equal(pair->hulls.upper.point[0].y, pair->b);
	}
	order = pair_table_order(&table);
	for (size_t i = 1; i < table.count; i++) {
		const struct pair *p = &table.pair[order[i - 1]];
		const struct pair *q = &table.pair[order[i]];

		assert_true(p->a < q->a || (p->a == q->a && p->b < q->b));
	}
	free(order);
	pair_table_clear(&table);
	message_log_clear(&log);
}

static int reject_first(void *context, struct message *message)
{
	size_t *count = context;

	message->rejected = !(*count)++;
	return 0;
}

/* For those that are not rejected, also if others were collected before. */
TEST(messages_go_to_the_hull_of_their_direction)
{
	struct pair_table table = {.count = 0};
	struct error error = ERROR_INIT;
	struct message_log log;
	struct pair *pair;
	size_t count = 0;

	message_log_init(&log);
	/* x is the time of clock 0, y that of clock 1. */
	add(&log, 0, 1, 5, 1);
	add(&log, 1, 0, 70, 60);
	add(&log, 0, 1, 10, 30);
	add(&log, 0, 1, 20, 20);
	assert_int_equal(pairs_collect(&table, &log, 1e-4, &error), 0);
	assert_int_equal(table.pair[0].messages_ab, 3);
	assert_int_equal(message_log_change(&log, reject_first, &count, &error), 0);
	assert_int_equal(pairs_collect(&table, &log, 1e-4, &error), 0);
	assert_int_equal(table.count, 1);
	pair = &table.pair[0];
	assert_int_equal(pair->messages_ab, 2);
	assert_int_equal(pair->messages_ba, 1);
	assert_int_equal(pair->violations_before, 1);
	assert_true(pair->hulls.origin.x == 10 && pair->hulls.origin.y == 30);
	assert_int_equal(pair->hulls.lower.count, 2);
	assert_true(pair->hulls.lower.point[1].x == 20 &&
		    pair->hulls.lower.point[1].y == 20);
	assert_int_equal(pair->hulls.upper.count, 1);
	assert_true(pair->hulls.upper.point[0].x == 60 &&
		    pair->hulls.upper.point[0].y == 70);
	pair_table_clear(&table);
	message_log_clear(&log);
}
