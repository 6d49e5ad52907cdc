/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

enum { A = 0, B = 1 };

TEST(the_oldest_are_given_up)
{
	struct bench bench;

	bench_init(&bench, 10);
	for (uint32_t i = 0; i < 10; i++)
		sent(&bench, A, udp(i), i);
	assert_int_equal(matcher_given_up(bench.matcher), 0);
	sent(&bench, A, udp(10), 10);
	assert_int_equal(matcher_given_up(bench.matcher), 5);
	for (uint32_t i = 5; i < 11; i++)
		received(&bench, B, udp(i), 100 + i);
	for (uint32_t i = 0; i < 5; i++)
		received(&bench, B, udp(i), 100 + i);
	MESSAGES(&bench, {A, B, 5, 105}, {A, B, 6, 106}, {A, B, 7, 107}, {A, B, 8, 108},
		 {A, B, 9, 109}, {A, B, 10, 110});
	assert_left(&bench, 5, 5, 0);
	assert_int_equal(matcher_given_up(bench.matcher), 5);
	bench_clear(&bench);
}

/* Nobody answers: memory stays that of the limit. */
TEST(a_lone_sender_does_not_fill_the_memory)
{
	struct bench bench;

	bench_init(&bench, 100);
	for (uint32_t i = 0; i < 100000; i++)
		sent(&bench, A, udp(i), i);
	assert_true(matcher_given_up(bench.matcher) >= 100000 - 100);
	bench_finish(&bench);
	assert_left(&bench, 100000, 0, 0);
	bench_clear(&bench);
}

TEST(ranges_are_tried_before_giving_up)
{
	struct bench bench;

	bench_init(&bench, 4);
	sent(&bench, A, tcp(5000, 3000, 1), 10);
	received(&bench, B, tcp(5000, 1000, 1), 20);
	received(&bench, B, tcp(6000, 1000, 2), 21);
	received(&bench, B, tcp(7000, 1000, 3), 22);
	sent(&bench, A, udp(1), 30);
	/* The last one was too much, but all before it has its messages. */
	assert_int_equal(matcher_counts(bench.matcher)->matched, 3);
	assert_int_equal(matcher_given_up(bench.matcher), 0);
	MESSAGES(&bench, {A, B, 10, 20}, {A, B, 10, 21}, {A, B, 10, 22});
	assert_left(&bench, 1, 0, 0);
	bench_clear(&bench);
}

/* More matched packets than are remembered for repeats. */
TEST(many_messages_pass_through)
{
	enum { MANY = 100000 };
	struct bench bench;

	bench_init(&bench, 10);
	for (uint32_t i = 0; i < MANY; i++) {
		sent(&bench, A, udp(i), 100 * i);
		received(&bench, B, udp(i), 100 * i + 50);
	}
	received(&bench, B, udp(MANY - 1), 100 * MANY); /* refused as one repeat */
	received(&bench, B, udp(0), 100 * MANY);        /* long forgotten */
	bench_finish(&bench);
	assert_int_equal(bench.count, MANY - 1);
	for (size_t i = 0; i < bench.count; i++) {
		assert_int_equal(bench.message[i].send_ns, 100 * i);
		assert_int_equal(bench.message[i].recv_ns, 100 * i + 50);
	}
	assert_left(&bench, 0, 1, 3);
	bench_clear(&bench);
}
