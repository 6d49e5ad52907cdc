/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdlib.h>

#include "../test.h"
#include "capture_build.h"
#include "input/capture/survey.h"

enum { IPV4 = 0x0800 };

static const struct node_address own[] = {
    {4, {10, 0, 0, 1}},
    {4, {10, 0, 0, 4}},
    {6, {0xfd, [15] = 1}},
};

static struct frame decode(enum frame_link link, const struct bytes *bytes)
{
	struct frame frame;

	assert_int_equal(
	    frame_decode(&frame, link, bytes->data, bytes->count, bytes->count),
	    FRAME_PACKET);
	return frame;
}

static struct frame raw(unsigned from, unsigned to)
{
	struct bytes bytes = {0};

	put_segment(&bytes, from, to, 1);
	return decode(FRAME_RAW, &bytes);
}

static struct frame raw6(unsigned from, unsigned to)
{
	struct bytes bytes = {0};

	put_ipv6(&bytes, from, to, IPPROTO_TCP, 20);
	put_tcp(&bytes, 1, 1);
	return decode(FRAME_RAW, &bytes);
}

/* The Ethernet and the IP addresses need not agree. */
static struct frame ethernet(unsigned from_mac, unsigned to_mac, unsigned from,
			     unsigned to)
{
	struct bytes bytes = {0};

	put_ethernet(&bytes, from_mac, to_mac, IPV4);
	put_segment(&bytes, from, to, 1);
	return decode(FRAME_ETHERNET, &bytes);
}

static struct frame cooked(unsigned type, unsigned hardware, unsigned from, unsigned to)
{
	struct bytes bytes = {0};

	put_cooked(&bytes, type, hardware, IPV4);
	put_segment(&bytes, from, to, 1);
	return decode(FRAME_COOKED, &bytes);
}

static void assert_side(const struct sides *sides, struct frame frame, enum side side)
{
	assert_int_equal(sides_tell(sides, &frame), side);
}

TEST(test_by_address)
{
	const struct sides sides = {.rule = SIDES_BY_ADDRESS, .local = own, .locals = 3};
	struct frame multicast = raw(2, 9), anonymous = raw(0, EVERYBODY);
	static const uint8_t group[4] = {239, 1, 2, 3};

	assert_side(&sides, raw(1, 2), SIDE_SENT);
	assert_side(&sides, raw(2, 1), SIDE_RECEIVED);
	assert_side(&sides, raw(4, 2), SIDE_SENT);
	assert_side(&sides, raw(2, 3), SIDE_FOREIGN);
	assert_side(&sides, raw(1, 4), SIDE_INSIDE);
	assert_side(&sides, raw(2, EVERYBODY), SIDE_RECEIVED);
	assert_side(&sides, raw(1, EVERYBODY), SIDE_SENT);
	assert_side(&sides, raw6(1, 2), SIDE_SENT);
	assert_side(&sides, raw6(2, 1), SIDE_RECEIVED);
	assert_side(&sides, raw6(4, 2), SIDE_FOREIGN);
	assert_side(&sides, raw6(2, EVERYBODY), SIDE_RECEIVED);
	memcpy(multicast.packet.dst, group, 4);
	assert_side(&sides, multicast, SIDE_RECEIVED);
	/* From 0.0.0.0, which may be the node itself. */
	memset(anonymous.packet.src, 0, 4);
	assert_side(&sides, anonymous, SIDE_FOREIGN);
}

/* To a subnet's broadcast address, which only the link layer shows. */
TEST(test_link_broadcasts)
{
	const struct sides sides = {.rule = SIDES_BY_ADDRESS, .local = own, .locals = 3};

	assert_side(&sides, ethernet(2, EVERYBODY, 2, 77), SIDE_RECEIVED);
	assert_side(&sides, ethernet(1, EVERYBODY, 1, 77), SIDE_SENT);
	assert_side(&sides, ethernet(2, 3, 2, 77), SIDE_FOREIGN);
	assert_side(&sides, cooked(COOKED_BROADCAST, 1, 2, 77), SIDE_RECEIVED);
	assert_side(&sides, cooked(COOKED_MULTICAST, 1, 2, 77), SIDE_RECEIVED);
	assert_side(&sides, cooked(COOKED_HOST, 1, 2, 77), SIDE_FOREIGN);
}

TEST(test_by_ethernet)
{
	const struct sides sides = {.rule = SIDES_BY_LINK, .ethernet = {2, [5] = 1}};
	struct frame group = ethernet(2, 3, 20, 30);

	assert_side(&sides, ethernet(1, 2, 10, 20), SIDE_SENT);
	assert_side(&sides, ethernet(2, 1, 20, 10), SIDE_RECEIVED);
	assert_side(&sides, ethernet(2, 3, 20, 30), SIDE_FOREIGN);
	assert_side(&sides, ethernet(2, EVERYBODY, 20, EVERYBODY), SIDE_RECEIVED);
	assert_side(&sides, ethernet(1, EVERYBODY, 10, EVERYBODY), SIDE_SENT);
	group.target[0] = 0x33;
	assert_side(&sides, group, SIDE_RECEIVED);
	assert_side(&sides, raw(1, 2), SIDE_FOREIGN);
}

TEST(test_by_cooked_type)
{
	const struct sides sides = {.rule = SIDES_BY_LINK};

	assert_side(&sides, cooked(COOKED_OUTGOING, 1, 5, 6), SIDE_SENT);
	assert_side(&sides, cooked(COOKED_HOST, 1, 5, 6), SIDE_RECEIVED);
	assert_side(&sides, cooked(COOKED_BROADCAST, 1, 5, 6), SIDE_RECEIVED);
	assert_side(&sides, cooked(COOKED_MULTICAST, 1, 5, 6), SIDE_RECEIVED);
	assert_side(&sides, cooked(COOKED_OTHER_HOST, 1, 5, 6), SIDE_FOREIGN);
	assert_side(&sides, cooked(7, 1, 5, 6), SIDE_FOREIGN);
}

TEST(test_what_never_leaves)
{
	const struct sides by_cooked = {.rule = SIDES_BY_LINK};
	struct frame frame = raw(1, 2);
	const struct sides sides = {.rule = SIDES_BY_ADDRESS, .local = own, .locals = 3};

	frame.packet.src[0] = 127;
	assert_side(&sides, frame, SIDE_INSIDE);
	assert_side(&sides, raw(9, 9), SIDE_INSIDE);
	assert_side(&by_cooked, cooked(COOKED_HOST, 772, 5, 6), SIDE_INSIDE);
}
