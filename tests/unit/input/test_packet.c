/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet.h"

#include <netinet/in.h>
#include <string.h>

#include "../test.h"

static struct packet sample(void)
{
	return (struct packet){.known = PACKET_NETWORK | PACKET_TRANSPORT,
			       .family = 4,
			       .protocol = IPPROTO_TCP,
			       .flags = 0x18,
			       .src = {10, 7, 0, 1},
			       .dst = {10, 7, 0, 3},
			       .id = 30279,
			       .length = 252,
			       .sport = 39302,
			       .dport = 7001,
			       .window = 501,
			       .seq = 796852315,
			       .ack = 4000000000,
			       .payload = 200};
}

static void assert_other(const struct packet *other)
{
	const struct packet one = sample();

	assert_false(packet_equal(&one, other));
	assert_false(packet_equal(other, &one));
	assert_true(packet_hash(&one) != packet_hash(other));
}

#define CHANGED(member)                                                                  \
	do {                                                                             \
		struct packet other = sample();                                          \
                                                                                         \
		other.member ^= 1;                                                       \
		assert_other(&other);                                                    \
	} while (0)

TEST(every_field_is_part_of_the_identity)
{
	CHANGED(known);
	CHANGED(family);
	CHANGED(protocol);
	CHANGED(flags);
	CHANGED(src[0]);
	CHANGED(src[15]);
	CHANGED(dst[0]);
	CHANGED(dst[8]);
	CHANGED(id);
	CHANGED(length);
	CHANGED(sport);
	CHANGED(dport);
	CHANGED(window);
	CHANGED(udp_length);
	CHANGED(fragment);
	CHANGED(seq);
	CHANGED(ack);
}

TEST(the_way_back_is_another_packet)
{
	struct packet back = sample();

	back.src[3] = 3;
	back.dst[3] = 1;
	assert_other(&back);
	back = sample();
	back.sport = 7001;
	back.dport = 39302;
	assert_other(&back);
}

TEST(what_is_the_same_has_the_same_hash)
{
	struct packet one = sample(), other;

	memset(&other, 0xff, sizeof(other));
	other = sample();
	assert_true(packet_equal(&one, &other));
	assert_int_equal(packet_hash(&one), packet_hash(&other));
}

/* Translation changes addresses, ports and the id, and not what TCP counts. */
TEST(the_transport_hash_survives_translation)
{
	struct packet one = sample(), other = sample();

	other.src[0] = 192;
	other.dst[2] = 9;
	other.sport = 1;
	other.dport = 2;
	other.id = 3;
	other.length = 4;
	other.known = PACKET_TRANSPORT;
	other.family = 6;
	assert_int_equal(packet_hash_transport(&one), packet_hash_transport(&other));
	other.seq++;
	assert_true(packet_hash_transport(&one) != packet_hash_transport(&other));
	other.seq--;
	other.window++;
	assert_true(packet_hash_transport(&one) != packet_hash_transport(&other));
}

static void assert_local(bool wanted, uint8_t family, const uint8_t src[16],
			 const uint8_t dst[16])
{
	struct packet packet = sample();

	packet.family = family;
	memcpy(packet.src, src, 16);
	memcpy(packet.dst, dst, 16);
	assert_int_equal(packet_is_local(&packet), wanted);
	packet.known = PACKET_TRANSPORT;
	assert_false(packet_is_local(&packet));
}

TEST(loopback_is_local)
{
	static const uint8_t node[16] = {10, 7, 0, 1}, other[16] = {10, 7, 0, 2};
	static const uint8_t loop[16] = {127, 0, 0, 53}, loop6[16] = {[15] = 1};
	static const uint8_t node6[16] = {0xfd, [15] = 1}, other6[16] = {0xfd, [15] = 2};
	static const uint8_t like_loop6[16] = {127, [15] = 1};

	assert_local(false, 4, node, other);
	assert_local(true, 4, node, node);
	assert_local(true, 4, loop, node);
	assert_local(true, 4, node, loop);
	assert_local(false, 6, node6, other6);
	assert_local(true, 6, node6, node6);
	assert_local(true, 6, loop6, node6);
	assert_local(true, 6, node6, loop6);
	assert_local(false, 6, like_loop6, node6);
}
