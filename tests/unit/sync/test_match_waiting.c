/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

enum { A = 0, B = 1 };

MATCH_TEST(the_oldest_are_given_up)
{
	bench_init(10);
	for (uint32_t i = 0; i < 10; i++)
		sent(A, udp(i), i);
	assert_int_equal(matcher_given_up(bench.matcher), 0);
	sent(A, udp(10), 10);
	assert_int_equal(matcher_given_up(bench.matcher), 5);
	for (uint32_t i = 5; i < 11; i++)
		received(B, udp(i), 100 + i);
	for (uint32_t i = 0; i < 5; i++)
		received(B, udp(i), 100 + i);
	MESSAGES({A, B, 5, 105}, {A, B, 6, 106}, {A, B, 7, 107}, {A, B, 8, 108},
		 {A, B, 9, 109}, {A, B, 10, 110});
	assert_left(5, 5, 0);
	assert_int_equal(matcher_given_up(bench.matcher), 5);
}

/* Nobody answers: memory stays that of the limit. */
MATCH_TEST(a_lone_sender_does_not_fill_the_memory)
{
	bench_init(100);
	for (uint32_t i = 0; i < 100000; i++)
		sent(A, udp(i), i);
	assert_true(matcher_given_up(bench.matcher) >= 100000 - 100);
	bench_finish();
	assert_left(100000, 0, 0);
}

MATCH_TEST(ranges_are_tried_before_giving_up)
{
	bench_init(4);
	sent(A, tcp(5000, 3000, 1), 10);
	received(B, tcp(5000, 1000, 1), 20);
	received(B, tcp(6000, 1000, 2), 21);
	received(B, tcp(7000, 1000, 3), 22);
	sent(A, udp(1), 30);
	/* The last one was too much, but all before it has its messages. */
	assert_int_equal(matcher_counts(bench.matcher)->matched, 3);
	assert_int_equal(matcher_given_up(bench.matcher), 0);
	MESSAGES({A, B, 10, 20}, {A, B, 10, 21}, {A, B, 10, 22});
	assert_left(1, 0, 0);
}

/* More matched packets than are remembered for repeats. */
MATCH_TEST(many_messages_pass_through)
{
	enum { MANY = 100000 };

	bench_init(10);
	for (uint32_t i = 0; i < MANY; i++) {
		sent(A, udp(i), 100 * i);
		received(B, udp(i), 100 * i + 50);
	}
	received(B, udp(MANY - 1), 100 * MANY); /* refused as one repeat */
	received(B, udp(0), 100 * MANY);        /* long forgotten */
	bench_finish();
	assert_int_equal(bench.count, MANY - 1);
	for (size_t i = 0; i < bench.count; i++) {
		assert_int_equal(bench.message[i].send_ns, 100 * i);
		assert_int_equal(bench.message[i].recv_ns, 100 * i + 50);
	}
	assert_left(0, 1, 3);
}
