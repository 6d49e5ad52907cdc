/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

enum { MANY = 1000, A = 0, B = 1, C = 2, D = 3 };

#define LATER (2 * NSEC_PER_SEC)

TEST(a_broadcast_is_a_message_to_each)
{
	struct bench bench;

	bench_init(&bench, MANY);
	received(&bench, B, udp(1), 20);
	received(&bench, C, udp(1), 21);
	sent(&bench, A, udp(1), 10);
	received(&bench, D, udp(1), 22);
	MESSAGES(&bench, {A, B, 10, 20}, {A, C, 10, 21}, {A, D, 10, 22});
	assert_left(&bench, 0, 0, 0);
	bench_clear(&bench);
}

/* In every order in which the four packet events may be read. */
static void check_forwarder(unsigned order)
{
	unsigned left = 0xf;
	struct bench bench;

	bench_init(&bench, MANY);
	for (unsigned n = 4; n > 0; n--, order /= 4) {
		unsigned at = order % 4;

		while (!(left >> at & 1))
			at = (at + 1) % 4;
		left &= ~(1u << at);
		if (at == 0)
			sent(&bench, A, udp(1), 10);
		else if (at == 1)
			received(&bench, B, udp(1), 20);
		else if (at == 2)
			sent(&bench, B, udp(1), 30);
		else
			received(&bench, C, udp(1), 40);
	}
	MESSAGES(&bench, {A, B, 10, 20}, {A, C, 10, 40});
	assert_left(&bench, 0, 0, 0);
	bench_clear(&bench);
}

TEST(a_forwarder_is_no_sender)
{
	for (unsigned order = 0; order < 256; order++)
		check_forwarder(order);
}

TEST(a_packet_that_comes_back_is_no_message)
{
	struct bench bench;

	bench_init(&bench, MANY);
	/* A switch floods it back to its sender. */
	sent(&bench, A, udp(1), 10);
	received(&bench, A, udp(1), 12);
	received(&bench, B, udp(1), 20);
	bench_finish(&bench);
	for (size_t i = 0; i < bench.count; i++)
		assert_true(bench.message[i].from != bench.message[i].to);
	bench_clear(&bench);
}

TEST(each_source_of_a_host_has_its_message)
{
	struct bench bench;

	bench_init(&bench, MANY);
	/* A trace and a capture on the one host, two of each on the other. */
	sent(&bench, A, udp(1), 10);
	sent(&bench, B, udp(1), 510);
	received(&bench, C, udp(1), 20);
	received(&bench, D, udp(1), 1020);
	MESSAGES(&bench, {A, C, 10, 20}, {A, D, 10, 1020}, {B, C, 510, 20},
		 {B, D, 510, 1020});
	assert_left(&bench, 0, 0, 0);
	bench_clear(&bench);
}

/* Each source by its own count of repeats. */
TEST(one_source_may_have_lost_a_send)
{
	struct bench bench;

	bench_init(&bench, MANY);
	sent(&bench, A, udp(9), 1);
	sent(&bench, B, udp(9), 2);
	received(&bench, C, udp(9), 3);
	sent(&bench, A, udp(1), LATER + 10);
	sent(&bench, A, udp(1), LATER + 12);
	sent(&bench, B, udp(1), LATER + 512);
	received(&bench, C, udp(1), LATER + 20);
	received(&bench, C, udp(1), LATER + 22);
	MESSAGES(&bench, {A, C, 1, 3}, {B, C, 2, 3}, {A, C, LATER + 10, LATER + 20});
	assert_left(&bench, 0, 0, 3);
	bench_clear(&bench);
}

static void check_meeting(bool receive_first)
{
	const struct match_output *output;
	struct bench bench;

	bench_init(&bench, MANY);
	output = matcher_output(bench.matcher);
	if (receive_first)
		received(&bench, A, udp(1), 20);
	sent(&bench, B, udp(1), 10);
	assert_int_equal(output->meetings, receive_first);
	if (!receive_first)
		received(&bench, A, udp(1), 20);
	assert_int_equal(output->meetings, 1);
	assert_true(output->meeting->from_clock == B && output->meeting->to_clock == A);
	assert_true(output->meeting->send_ns == 10 && output->meeting->recv_ns == 20);
	/* It is no message yet. */
	assert_int_equal(bench.count, 0);
	received(&bench, A, udp(1), 30);
	received(&bench, C, udp(1), 40);
	assert_int_equal(output->meetings, 1);
	bench_clear(&bench);
}

TEST(a_meeting_is_told_at_once)
{
	check_meeting(false);
	check_meeting(true);
}

/* Two clocks of a host and another one: what both sent comes out when it is let go. */
TEST(what_two_clocks_of_a_host_sent_is_told)
{
	static const uint32_t host[] = {A, B, A};
	const struct match_output *output;
	struct bench bench;

	bench_init_hosts(&bench, MANY, host);
	output = matcher_output(bench.matcher);
	sent(&bench, C, udp(1), 510);
	sent(&bench, A, udp(1), 10);
	received(&bench, B, udp(1), 30);
	assert_int_equal(output->handings, 0);
	MESSAGES(&bench, {A, B, 10, 30}, {C, B, 510, 30});
	assert_int_equal(output->handings, 1);
	assert_int_equal(output->handing[0][0].clock_index, A);
	assert_int_equal(output->handing[0][0].queued_ns, 10);
	assert_int_equal(output->handing[0][1].clock_index, C);
	assert_int_equal(output->handing[0][1].queued_ns, 510);
	bench_clear(&bench);
}
