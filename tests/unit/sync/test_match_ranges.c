/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

enum { A = 0, B = 1, C = 2 };

MATCH_TEST(a_super_packet_was_sent_before_its_segments)
{
	sent(A, tcp(5000, 3000, 1), 10);
	received(B, tcp(5000, 1448, 1), 20);
	received(B, tcp(6448, 1448, 2), 21);
	received(B, tcp(7896, 104, 3), 22);
	MESSAGES({A, B, 10, 20}, {A, B, 10, 21}, {A, B, 10, 22});
	assert_left(0, 0, 0);
}

/* Its first byte came at 20; that all had come is known of 25 only. */
static void merged(uint32_t source, struct packet packet)
{
	see(source, &(struct packet_event){
			.packet = packet, .ns = 20, .whole_ns = 25, .received = true});
}

MATCH_TEST(merged_data_is_later_than_each_of_its_sends)
{
	sent(A, tcp(5000, 1000, 1), 10);
	sent(A, tcp(6000, 1000, 2), 21);
	sent(A, tcp(7000, 1000, 3), 22);
	merged(B, tcp(5000, 3000, 1));
	MESSAGES({A, B, 10, 20}, {A, B, 21, 25}, {A, B, 22, 25});
	assert_left(0, 0, 0);
}

/* Neither cut nor merged at the same bytes. */
MATCH_TEST(borders_need_not_agree)
{
	sent(A, tcp(1000, 3000, 1), 10);
	sent(A, tcp(4000, 3000, 2), 12);
	merged(B, tcp(3000, 2000, 3));
	received(B, tcp(5000, 500, 4), 30);
	MESSAGES({A, B, 10, 20}, {A, B, 12, 25}, {A, B, 12, 30});
}

MATCH_TEST(the_first_send_of_a_byte_counts)
{
	sent(A, tcp(5000, 3000, 1), 10);
	received(B, tcp(5000, 1000, 1), 20);
	/* The second segment was lost and comes again, with the third. */
	received(B, tcp(7000, 1000, 3), 22);
	sent(A, tcp(6000, 2000, 9), 50);
	received(B, tcp(6000, 1000, 9), 60);
	received(B, tcp(7000, 1000, 10), 61);
	MESSAGES({A, B, 10, 20}, {A, B, 10, 22}, {A, B, 10, 60}, {A, B, 10, 61});
	assert_left(1, 0, 0);
}

MATCH_TEST(numbers_go_on_past_the_wrap)
{
	sent(A, tcp(UINT32_MAX - 999, 3000, 1), 10);
	sent(A, tcp(2000, 3000, 4), 12);
	received(B, tcp(UINT32_MAX - 999, 1000, 1), 20);
	received(B, tcp(0, 1000, 2), 21);
	received(B, tcp(1000, 2000, 3), 22);
	received(B, tcp(3000, 1000, 5), 23);
	MESSAGES({A, B, 10, 20}, {A, B, 10, 21}, {A, B, 10, 22}, {A, B, 12, 22},
		 {A, B, 12, 23});
	assert_left(0, 0, 0);
}

/* A number comes back after 4 GiB: the two laps are far apart in bytes. */
MATCH_TEST(a_lap_later_is_not_the_same_byte)
{
	enum { STEP = 1 << 29, LAP = 8 };

	for (uint32_t i = 0; i < 2 * LAP; i++)
		sent(A, tcp(i * STEP, 3000, 2 * i), 1000 * i);
	for (uint32_t i = 0; i < 2 * LAP; i++)
		received(B, tcp(i * STEP + 1000, 1000, 2 * i + 1), 1000 * i + 50);
	bench_finish();
	assert_int_equal(bench.count, 2 * LAP);
	for (uint32_t i = 0; i < 2 * LAP; i++)
		assert_int_equal(bench.message[i].recv_ns - bench.message[i].send_ns, 50);
}

MATCH_TEST(flows_are_kept_apart)
{
	struct packet one = tcp(5000, 3000, 1), other = one, back = one;

	other.sport = 1001;
	back.sport = one.dport;
	back.dport = one.sport;
	memcpy(back.src, one.dst, sizeof(back.src));
	memcpy(back.dst, one.src, sizeof(back.dst));
	sent(A, one, 10);
	sent(A, other, 11);
	sent(B, back, 12);
	one.payload = other.payload = back.payload = 1000;
	one.length = other.length = back.length = 1040;
	received(B, other, 20);
	received(B, one, 21);
	received(A, back, 22);
	MESSAGES({A, B, 10, 21}, {A, B, 11, 20}, {B, A, 12, 22});
	assert_left(0, 0, 0);
}

MATCH_TEST(every_source_of_a_host_is_matched)
{
	sent(A, tcp(5000, 3000, 1), 10);
	sent(B, tcp(5000, 3000, 1), 510);
	received(C, tcp(5000, 1000, 1), 20);
	MESSAGES({A, C, 10, 20}, {B, C, 510, 20});
	assert_left(0, 0, 0);
}

MATCH_TEST(bytes_that_nobody_sent_stay_unmatched)
{
	sent(A, tcp(5000, 3000, 1), 10);
	received(B, tcp(4000, 1000, 0), 18);
	received(B, tcp(8000, 1000, 2), 22);
	received(B, tcp(5000, 0, 3), 24); /* an acknowledgement, no byte */
	bench_finish();
	assert_int_equal(bench.count, 0);
	assert_left(1, 3, 0);
}
