/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Find the kernel's event without headers that belongs to a captured packet. */
#include "../scratch.h"

#include "merge/kernel_packets.h"

enum { NODE = 1, NODES = 2, CAPTURE = 7, OTHER_CAPTURE = 8, MS = 1000000 };

static void add(struct kernel_packets *packets, bool is_sent, nsec_t ts_ns,
		uint32_t bytes, uint64_t ordinal)
{
	kernel_packets_add(
	    packets, NODE, is_sent,
	    &(struct kernel_packet){.ts_ns = ts_ns, .bytes = bytes, .ordinal = ordinal});
}

/* The ordinal of the event that was found; 0: none. */
static uint64_t find(struct kernel_packets *packets, bool is_sent, nsec_t ts_ns,
		     uint32_t bytes, uint32_t source)
{
	const struct kernel_packet *found = kernel_packets_find(
	    packets, NODE, is_sent,
	    &(struct kernel_packet){.ts_ns = ts_ns, .bytes = bytes, .source = source});

	return found ? found->ordinal : 0;
}

TEST(nearest_of_the_length_is_found_once)
{
	struct kernel_packets *packets = kernel_packets_new(NODES);

	add(packets, true, 100 * MS, 52, 1);
	add(packets, true, 101 * MS, 1500, 2);
	add(packets, true, 102 * MS, 52, 3);
	add(packets, false, 102 * MS, 52, 4);
	assert_int_equal(find(packets, true, 102 * MS + 5000, 52, CAPTURE), 3);
	assert_int_equal(find(packets, true, 102 * MS + 6000, 52, CAPTURE), 1);
	assert_int_equal(find(packets, true, 102 * MS + 7000, 52, CAPTURE), 0);
	assert_int_equal(find(packets, true, 102 * MS + 5000, 52, OTHER_CAPTURE), 3);
	assert_int_equal(find(packets, true, 102 * MS, 1499, CAPTURE), 0);
	assert_int_equal(find(packets, true, 112 * MS, 1500, CAPTURE), 0);
	assert_int_equal(find(packets, false, 102 * MS - 9000, 52, CAPTURE), 4);
	kernel_packets_free(packets);
}

/* The capture gets a packet after it was queued. */
TEST(a_later_event_is_less_likely_the_sent_one)
{
	struct kernel_packets *packets = kernel_packets_new(NODES);

	add(packets, true, 100 * MS, 52, 1);
	add(packets, true, 100 * MS + 100000, 52, 2);
	assert_int_equal(find(packets, true, 100 * MS + 70000, 52, CAPTURE), 1);
	kernel_packets_free(packets);
	packets = kernel_packets_new(NODES);
	add(packets, true, 100 * MS, 52, 1);
	/* By as much as clock.csv can be wrong it may seem so. */
	assert_int_equal(find(packets, true, 100 * MS - 10000, 52, CAPTURE), 1);
	kernel_packets_free(packets);
}

TEST(short_packets_arrive_padded)
{
	struct kernel_packets *packets = kernel_packets_new(NODES);

	add(packets, false, 100 * MS, 46, 1);
	add(packets, true, 100 * MS, 46, 2);
	assert_int_equal(find(packets, true, 100 * MS, 40, CAPTURE), 0);
	assert_int_equal(find(packets, false, 100 * MS, 40, CAPTURE), 1);
	kernel_packets_free(packets);
}
