/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

enum { A = 0, B = 1, C = 2, D = 3 };

#define LATER (2 * NSEC_PER_SEC)

MATCH_TEST(a_broadcast_is_a_message_to_each)
{
	received(B, udp(1), 20);
	received(C, udp(1), 21);
	sent(A, udp(1), 10);
	received(D, udp(1), 22);
	MESSAGES({A, B, 10, 20}, {A, C, 10, 21}, {A, D, 10, 22});
	assert_left(0, 0, 0);
}

/* In every order in which the four packet events may be read. */
static void check_forwarder(unsigned order)
{
	unsigned left = 0xf;

	bench_init(BENCH_LIMIT);
	for (unsigned n = 4; n > 0; n--, order /= 4) {
		unsigned at = order % 4;

		while (!(left >> at & 1))
			at = (at + 1) % 4;
		left &= ~(1u << at);
		if (at == 0)
			sent(A, udp(1), 10);
		else if (at == 1)
			received(B, udp(1), 20);
		else if (at == 2)
			sent(B, udp(1), 30);
		else
			received(C, udp(1), 40);
	}
	MESSAGES({A, B, 10, 20}, {A, C, 10, 40});
	assert_left(0, 0, 0);
}

MATCH_TEST(a_forwarder_is_no_sender)
{
	for (unsigned order = 0; order < 256; order++)
		check_forwarder(order);
}

MATCH_TEST(a_packet_that_comes_back_is_no_message)
{
	/* A switch floods it back to its sender. */
	sent(A, udp(1), 10);
	received(A, udp(1), 12);
	received(B, udp(1), 20);
	bench_finish();
	for (size_t i = 0; i < bench.count; i++)
		assert_true(bench.message[i].from != bench.message[i].to);
}

MATCH_TEST(each_source_of_a_host_has_its_message)
{
	/* A trace and a capture on the one host, two of each on the other. */
	sent(A, udp(1), 10);
	sent(B, udp(1), 510);
	received(C, udp(1), 20);
	received(D, udp(1), 1020);
	MESSAGES({A, C, 10, 20}, {A, D, 10, 1020}, {B, C, 510, 20}, {B, D, 510, 1020});
	assert_left(0, 0, 0);
}

/* Each source by its own count of repeats. */
MATCH_TEST(one_source_may_have_lost_a_send)
{
	sent(A, udp(9), 1);
	sent(B, udp(9), 2);
	received(C, udp(9), 3);
	sent(A, udp(1), LATER + 10);
	sent(A, udp(1), LATER + 12);
	sent(B, udp(1), LATER + 512);
	received(C, udp(1), LATER + 20);
	received(C, udp(1), LATER + 22);
	MESSAGES({A, C, 1, 3}, {B, C, 2, 3}, {A, C, LATER + 10, LATER + 20});
	assert_left(0, 0, 3);
}

static void check_meeting(bool receive_first)
{
	const struct match_output *output;

	bench_init(BENCH_LIMIT);
	output = matcher_output(bench.matcher);
	if (receive_first)
		received(A, udp(1), 20);
	sent(B, udp(1), 10);
	assert_int_equal(output->meetings, receive_first);
	if (!receive_first)
		received(A, udp(1), 20);
	assert_int_equal(output->meetings, 1);
	assert_true(output->meeting->from_clock == B && output->meeting->to_clock == A);
	assert_true(output->meeting->send_ns == 10 && output->meeting->recv_ns == 20);
	/* It is no message yet. */
	assert_int_equal(bench.count, 0);
	received(A, udp(1), 30);
	received(C, udp(1), 40);
	assert_int_equal(output->meetings, 1);
}

MATCH_TEST(a_meeting_is_told_at_once)
{
	check_meeting(false);
	check_meeting(true);
}

/* Two clocks of a host and another one: what both sent comes out when it is let go. */
MATCH_TEST(what_two_clocks_of_a_host_sent_is_told)
{
	static const uint32_t host[] = {A, B, A};
	const struct match_output *output;

	bench_init_hosts(BENCH_LIMIT, host);
	output = matcher_output(bench.matcher);
	sent(C, udp(1), 510);
	sent(A, udp(1), 10);
	received(B, udp(1), 30);
	assert_int_equal(output->handings, 0);
	MESSAGES({A, B, 10, 30}, {C, B, 510, 30});
	assert_int_equal(output->handings, 1);
	assert_int_equal(output->handing[0][0].clock_index, A);
	assert_int_equal(output->handing[0][0].queued_ns, 10);
	assert_int_equal(output->handing[0][1].clock_index, C);
	assert_int_equal(output->handing[0][1].queued_ns, 510);
}
