/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

enum { A = 0, B = 1 };

#define LATER (2 * NSEC_PER_SEC)

MATCH_TEST(a_packet_is_one_message)
{
	sent(A, udp(1), 10);
	received(B, udp(1), 20);
	/* The clocks may be far apart, and the receiver may be read first. */
	received(A, udp(2), -5);
	sent(B, udp(2), 1000000);
	MESSAGES({A, B, 10, 20}, {B, A, 1000000, -5});
	assert_left(0, 0, 0);
	assert_int_equal(matcher_counts(bench.matcher)->sent, 2);
	assert_int_equal(matcher_counts(bench.matcher)->received, 2);
}

static void check_difference(const struct packet *one, const struct packet *other)
{
	bench_init(BENCH_LIMIT);
	sent(A, *one, 10);
	received(B, *other, 20);
	bench_finish();
	assert_int_equal(bench.count, 0);
	assert_left(1, 1, 0);
}

MATCH_TEST(every_field_tells_packets_apart)
{
	const struct packet one = udp(7);
	struct packet other[12];

	for (size_t i = 0; i < 12; i++)
		other[i] = one;
	other[0].src[3]++;
	other[1].dst[0]++;
	other[2].id++;
	other[3].length++;
	other[4].sport++;
	other[5].dport++;
	other[6].udp_length++;
	other[7].fragment = 0x2000;
	other[8].protocol = IPPROTO_UDPLITE;
	other[9].seq++;
	other[10].family = 6;
	other[11].known = PACKET_NETWORK;
	for (size_t i = 0; i < 12; i++)
		check_difference(&one, &other[i]);
}

MATCH_TEST(a_packet_seen_by_one_host_is_no_message)
{
	sent(A, udp(1), 10);
	received(A, udp(1), 20);
	sent(A, udp(2), 30);
	received(B, udp(3), 30);
	bench_finish();
	assert_int_equal(bench.count, 0);
	assert_left(1, 1, 0);
	assert_int_equal(matcher_counts(bench.matcher)->inside, 2);
}

MATCH_TEST(first_send_goes_with_first_receive)
{
	sent(A, udp(9), 1);
	received(B, udp(9), 2);
	sent(A, udp(1), LATER + 10);
	received(B, udp(1), LATER + 15);
	sent(A, udp(1), LATER + 20);
	received(B, udp(1), LATER + 25);
	/* Again, and this time one of two was lost on the way. */
	sent(A, udp(2), LATER + 30);
	sent(A, udp(2), LATER + 40);
	received(B, udp(2), LATER + 50);
	MESSAGES({A, B, 1, 2}, {A, B, LATER + 10, LATER + 15},
		 {A, B, LATER + 30, LATER + 50});
	assert_left(0, 0, 3);
}

/*
 * The same packet again and again, of which one host did not record the first and the
 * other not the last: as many here as there, and none of them fits.
 */
MATCH_TEST(repeats_may_have_begun_before_the_trace)
{
	for (int i = 0; i < 5; i++) {
		received(B, udp(1), 500 + 1000 * i);
		sent(A, udp(1), 1000 + 1000 * i);
	}
	/* One that is like no other came before, but so shortly that it may be first. */
	sent(A, udp(2), 400);
	received(B, udp(2), 450);
	MESSAGES({A, B, 400, 450});
	assert_left(0, 0, 10);
}

MATCH_TEST(more_receives_than_sends_are_refused)
{
	/* The send of the first receive was not recorded. */
	received(B, udp(1), 15);
	sent(A, udp(1), 20);
	received(B, udp(1), 25);
	bench_finish();
	assert_int_equal(bench.count, 0);
	assert_left(0, 0, 3);
}

MATCH_TEST(repeats_on_other_devices_are_one_packet)
{
	struct packet_event packet_event = {.packet = udp(1)};

	for (uint32_t i = 0; i < 3; i++) {
		packet_event.ns = 10 + i;
		packet_event.device = i;
		see(A, &packet_event);
	}
	packet_event.received = true;
	for (uint32_t i = 0; i < 4; i++) {
		packet_event.ns = 20 + i;
		packet_event.device = i;
		see(B, &packet_event);
	}
	MESSAGES({A, B, 10, 20});
	assert_left(0, 0, 0);
	assert_int_equal(matcher_counts(bench.matcher)->inside, 5);
}

MATCH_TEST(fragments_are_packets)
{
	static const uint16_t fragment[] = {0x2000, 0x2000 | 185, 370};

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < 3; i++) {
			struct packet packet = udp(1);

			packet.fragment = fragment[i];
			if (fragment[i] & 0x1fff) {
				packet.known = PACKET_NETWORK;
				packet.sport = packet.dport = packet.udp_length = 0;
			}
			if (k)
				received(B, packet, 20 + i);
			else
				sent(A, packet, 10 + i);
		}
	MESSAGES({A, B, 10, 20}, {A, B, 11, 21}, {A, B, 12, 22});
	assert_left(0, 0, 0);
}

/* A packet event of a capture; copies follow it at these distances. */
static void captured(uint32_t source, struct packet packet, nsec_t ns, bool is_receive,
		     const nsec_t *copy)
{
	struct packet_event packet_event = {.packet = packet,
					    .ns = ns,
					    .whole_ns = ns,
					    .received = is_receive,
					    .is_captured = true};

	see(source, &packet_event);
	for (; copy && *copy; copy++) {
		packet_event.ns = packet_event.whole_ns = ns + *copy;
		see(source, &packet_event);
	}
}

MATCH_TEST(a_capture_may_hold_a_packet_several_times)
{
	static const nsec_t none[] = {0}, once[] = {18000, 0}, twice[] = {1, 39000, 0};
	static const nsec_t *const copies[][2] = {
	    {none, once}, {once, none}, {once, once}, {twice, once}, {none, twice}};

	for (uint32_t i = 0; i < 5; i++)
		for (uint32_t k = 0; k < 2; k++) {
			nsec_t at = (nsec_t)(2 * i + k + 1) * 50 * NSEC_PER_MSEC;
			struct packet packet = k ? udp(i + 1) : tcp(i * 100, 100, 0);

			captured(A, packet, at, false, copies[i][0]);
			captured(B, packet, at + 20000, true, copies[i][1]);
		}
	bench_finish();
	assert_int_equal(bench.count, 10);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(bench.message[i].recv_ns - bench.message[i].send_ns,
				 20000);
	assert_left(0, 0, 0);
	assert_int_equal(matcher_counts(bench.matcher)->inside, 18);
}

/* Nothing tells the second of two such packets from a copy of the first. */
MATCH_TEST(what_has_no_number_is_no_copy)
{
	static const nsec_t soon[] = {18000, 0}, late[] = {11 * NSEC_PER_MSEC, 0};

	captured(A, udp(0), 10, false, NULL);
	captured(B, udp(0), 20, true, soon);
	captured(A, tcp(1, 0, 0), 30, false, NULL);
	captured(B, tcp(1, 0, 0), 40, true, soon);
	captured(A, tcp(1, 100, 0), 50, false, NULL);
	captured(B, tcp(1, 100, 0), 60, true, late);
	bench_finish();
	assert_int_equal(bench.count, 0);
	assert_left(0, 0, 9);
}
