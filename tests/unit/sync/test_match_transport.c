/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

enum { A = 0, B = 1, C = 2, RST = 4 };

/* Return a packet as a trace of the addons' socket events records it. */
static struct packet bare(struct packet packet)
{
	return (struct packet){.known = PACKET_TRANSPORT,
			       .protocol = IPPROTO_TCP,
			       .flags = packet.flags,
			       .window = packet.window,
			       .seq = packet.seq,
			       .ack = packet.ack};
}

/* The same packet behind a router that translates addresses. */
static struct packet translated(struct packet packet)
{
	packet.src[0] = 192;
	packet.sport = 61234;
	return packet;
}

MATCH_TEST(addons_are_matched_with_addons)
{
	sent(A, bare(tcp(5000, 100, 1)), 10);
	received(B, bare(tcp(5000, 100, 1)), 20);
	sent(B, bare(tcp(9000, 100, 1)), 30);
	received(A, bare(tcp(9000, 100, 1)), 40);
	MESSAGES({A, B, 10, 20}, {B, A, 30, 40});
	assert_left(0, 0, 0);
}

MATCH_TEST(addons_are_matched_with_whole_headers)
{
	sent(A, tcp(5000, 100, 1), 10);
	received(B, bare(tcp(5000, 100, 1)), 20);
	MESSAGES({A, B, 10, 20});
}

MATCH_TEST(addresses_may_be_translated)
{
	for (uint32_t i = 0; i < 3; i++) {
		sent(A, tcp(5000 + 100 * i, 100, i), 10 + i);
		received(B, translated(tcp(5000 + 100 * i, 100, i)), 20 + i);
	}
	MESSAGES({A, B, 10, 20}, {A, B, 11, 21}, {A, B, 12, 22});
	assert_left(0, 0, 0);
}

static void check_no_match(struct packet one, struct packet other)
{
	bench_init(BENCH_LIMIT);
	sent(A, one, 10);
	received(B, translated(other), 20);
	bench_finish();
	assert_int_equal(bench.count, 0);
	assert_left(1, 1, 0);
}

MATCH_TEST(all_numbers_must_agree)
{
	const struct packet one = tcp(5000, 100, 1);
	struct packet other[5] = {one, one, one, one, one};

	other[0].seq++;
	other[1].ack++;
	other[2].flags = 0x18;
	other[3].window++;
	other[4].payload++;
	for (size_t i = 0; i < 5; i++)
		check_no_match(one, other[i]);
}

MATCH_TEST(resets_are_not_matched)
{
	struct packet reset = tcp(5000, 0, 1);

	reset.flags = RST;
	check_no_match(reset, reset);
}

/* A datagram back to the sender of udp(). */
static struct packet reply(uint32_t id)
{
	struct packet packet = udp(id);

	memcpy(packet.src, udp(id).dst, sizeof(packet.src));
	memcpy(packet.dst, udp(id).src, sizeof(packet.dst));
	packet.sport = udp(id).dport;
	packet.dport = udp(id).sport;
	return packet;
}

/* Return the server's packet to the translated address. */
static struct packet translated_reply(uint32_t id)
{
	struct packet packet = reply(id);

	packet.dst[0] = 192;
	packet.dport = 61234;
	return packet;
}

MATCH_TEST(datagrams_need_both_directions)
{
	check_no_match(udp(1), udp(1));
	bench_init(BENCH_LIMIT);
	sent(A, udp(1), 10);
	received(B, translated(udp(1)), 20);
	sent(A, udp(2), 11);
	received(B, translated(udp(2)), 21);
	sent(B, translated_reply(7), 30);
	received(A, reply(7), 40);
	MESSAGES({A, B, 10, 20}, {A, B, 11, 21}, {B, A, 30, 40});
	assert_left(0, 0, 0);
}

/* One of another conversation, or of others too. */
MATCH_TEST(datagrams_that_may_be_others_are_not_taken)
{
	struct packet other = reply(7), twin = udp(1);

	other.dport++;
	twin.sport++;
	sent(A, udp(1), 10);
	received(B, translated(udp(1)), 20);
	sent(B, translated_reply(7), 30);
	received(A, other, 40);
	bench_finish();
	assert_int_equal(bench.count, 0);

	bench_init(BENCH_LIMIT);
	sent(A, udp(1), 10);
	sent(C, twin, 11);
	received(B, translated(udp(1)), 20);
	sent(B, translated_reply(7), 30);
	received(A, reply(7), 40);
	bench_finish();
	assert_int_equal(bench.count, 0);
}

/* Without identifications by the data, if one of the ends has kept its address. */
MATCH_TEST(datagrams_without_identification)
{
	struct packet request = udp(0), answer = reply(0);
	struct packet to = translated(request), back = translated_reply(0);

	for (int both = 0; both < 2; both++) {
		request.seq = to.seq = 123;
		answer.seq = back.seq = 456;
		if (both)
			to.dport = back.sport = 53;
		bench_init(BENCH_LIMIT);
		sent(A, request, 10);
		received(B, to, 20);
		sent(B, back, 30);
		received(A, answer, 40);
		bench_finish();
		assert_int_equal(bench.count, both ? 0 : 2);
	}
}

/* Once one packet shows how a flow is translated, its merged data is found, too. */
MATCH_TEST(merged_data_behind_translation)
{
	sent(A, tcp(4900, 100, 1), 10);
	received(B, translated(tcp(4900, 100, 1)), 20);
	sent(A, tcp(5000, 100, 2), 30);
	sent(A, tcp(5100, 100, 3), 31);
	received(B, translated(tcp(5000, 200, 2)), 40);
	MESSAGES({A, B, 10, 20}, {A, B, 30, 40}, {A, B, 31, 40});
}

/* Whatever is seen twice on a side could be anybody's. */
MATCH_TEST(what_is_not_unique_is_not_taken)
{
	struct packet twin = tcp(5000, 100, 1);

	twin.sport++;
	sent(A, tcp(5000, 100, 1), 10);
	sent(A, twin, 11);
	received(B, translated(tcp(5000, 100, 1)), 20);
	/* Sent by two hosts, or twice by one. */
	sent(A, tcp(6000, 100, 2), 30);
	sent(C, bare(tcp(6000, 100, 2)), 31);
	received(B, translated(tcp(6000, 100, 2)), 40);
	sent(A, tcp(7000, 100, 3), 50);
	sent(A, tcp(7000, 100, 3), 55);
	received(B, translated(tcp(7000, 100, 3)), 60);
	bench_finish();
	assert_int_equal(bench.count, 0);
	assert_left(5, 3, 1);
}

MATCH_TEST(one_host_alone_is_no_message)
{
	/* Routed by A, which translates the address. */
	received(A, tcp(5000, 100, 1), 10);
	sent(A, translated(tcp(5000, 100, 1)), 20);
	bench_finish();
	assert_int_equal(bench.count, 0);
}

/* Between two hosts that see one address, and a third behind a translator. */
MATCH_TEST(what_is_matched_already_is_left_alone)
{
	sent(A, tcp(5000, 100, 1), 10);
	received(B, tcp(5000, 100, 1), 20);
	received(C, translated(tcp(5000, 100, 1)), 30);
	MESSAGES({A, B, 10, 20});
	assert_left(0, 1, 0);
}
