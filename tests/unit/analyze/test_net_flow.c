/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/net_flow.h"

#include "../scratch.h"

static void send(struct flows *flows, uint32_t seq, int64_t payload, unsigned flags)
{
	struct packet_seen packet = {.node = 1,
				     .protocol = "tcp",
				     .src = "10.0.0.1",
				     .dst = "10.0.0.2",
				     .sport = 1,
				     .dport = 2,
				     .bytes = payload + 40,
				     .is_tcp = true,
				     .seq = seq,
				     .payload = payload,
				     .flags = flags};

	flows_add(flows, &packet);
}

static void expect(struct flows *flows, uint64_t packets, uint64_t bytes)
{
	assert_int_equal(flows->keys.count, 1);
	assert_int_equal(flows->item[0].again_packets, packets);
	assert_int_equal(flows->item[0].again_bytes, bytes);
	flows_clear(flows);
}

static void test_nothing_again(void **unused)
{
	struct flows flows = {0};

	(void)unused;
	send(&flows, 99, 0, 2);
	send(&flows, 100, 0, 0);
	send(&flows, 100, 1000, 0);
	send(&flows, 1100, 0, 0);
	send(&flows, 1100, 0, 0);
	send(&flows, 1100, 500, 1);
	assert_int_equal(flows.item[0].packets, 6);
	assert_int_equal(flows.item[0].bytes, 6 * 40 + 1500);
	expect(&flows, 0, 0);
}

static void test_whole_and_part_again(void **unused)
{
	struct flows flows = {0};

	(void)unused;
	send(&flows, 100, 1000, 0);
	send(&flows, 1100, 1000, 0);
	send(&flows, 100, 1000, 0);
	send(&flows, 1600, 1000, 0);
	expect(&flows, 2, 1000 + 500);
}

static void test_syn_and_fin_again(void **unused)
{
	struct flows flows = {0};

	(void)unused;
	send(&flows, 99, 0, 2);
	send(&flows, 99, 0, 2);
	send(&flows, 100, 0, 1);
	send(&flows, 100, 0, 1);
	expect(&flows, 2, 0);
}

/* The numbers go on after 2^32, and a port that comes again begins anew. */
static void test_numbers_come_round(void **unused)
{
	struct flows flows = {0};

	(void)unused;
	send(&flows, UINT32_MAX - 499, 1000, 0);
	send(&flows, 500, 1000, 0);
	send(&flows, UINT32_MAX - 499, 1000, 0);
	send(&flows, 70000, 0, 2);
	send(&flows, 70001, 100, 0);
	expect(&flows, 1, 1000);
}

static void address(const struct cell *cell, const char *wanted)
{
	char text[64];

	flow_address(text, cell);
	assert_string_equal(text, wanted);
}

static void text_address(const char *recorded, const char *wanted)
{
	const struct cell cell = {
	    .type = CELL_TEXT, .size = (uint32_t)strlen(recorded), .bytes = recorded};

	address(&cell, wanted);
}

static void test_addresses(void **unused)
{
	const struct cell blob = {
	    .type = CELL_BLOB, .size = 4, .bytes = "\x0a\x07\x00\x02"};
	const struct cell none = {.type = CELL_NULL};

	(void)unused;
	text_address("[65152,0,0,0,20564,255,65031,1]", "fe80::5054:ff:fe07:1");
	text_address("[10,7,0,1]", "10.7.0.1");
	text_address("[253,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1]", "fd00::1");
	text_address("fd00::1", "fd00::1");
	address(&blob, "10.7.0.2");
	address(&none, "");
}

static void test_no_addresses(void **unused)
{
	static const char *const wrong[] = {
	    "",
	    "[",
	    "[]",
	    "[10,7,0,",
	    "[10,7,0,1",
	    "[10,7,0,1,",
	    "[10,7,0,x]",
	    "[10,7,0]",
	    "[10,7,0,256]",
	    "[10,7,0,1}",
	    "[,7,0,1]",
	    "[65536,0,0,0,0,0,0,1]",
	    "[10,7,0,-1]",
	    "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17]",
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		text_address(wrong[i], "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing_again),
	    cmocka_unit_test(test_whole_and_part_again),
	    cmocka_unit_test(test_syn_and_fin_again),
	    cmocka_unit_test(test_numbers_come_round),
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_no_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
