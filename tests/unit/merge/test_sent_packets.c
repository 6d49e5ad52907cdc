/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/sent_packets.h"

#include "../timeline/timeline.h"
#include "timeline/writer.h"

struct packet {
	int64_t buffer;
	const char *device;
	int64_t length, id, ttl;
	const char *protocol, *src, *dst;
	int64_t seq; /* -1: none */
};

#define V4  "network_header_ipv4_"
#define V6  "network_header_ipv6_"
#define SEQ "transport_header_tcp_seq"

static const struct timeline_column columns[] = {
    {"skbaddr", CELL_INTEGER, false},      {"name", CELL_TEXT, false},
    {V4 "tot_len", CELL_INTEGER, false},   {V4 "id", CELL_INTEGER, false},
    {V4 "ttl", CELL_INTEGER, false},       {V4 "protocol", CELL_TEXT, false},
    {V4 "saddr", CELL_TEXT, false},        {V4 "daddr", CELL_TEXT, false},
    {V4 SEQ, CELL_INTEGER, false},         {V6 "payload_len", CELL_INTEGER, false},
    {V6 "hop_limit", CELL_INTEGER, false}, {V6 "nexthdr", CELL_TEXT, false},
    {V6 "saddr", CELL_TEXT, false},        {V6 "daddr", CELL_TEXT, false},
    {V6 SEQ, CELL_INTEGER, false},
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

/* What is to be told of the n-th event. */
struct wanted {
	int64_t origin, tid;
	bool is_carrier;
};

static struct timeline_writer *writer;
static uint32_t class;
static struct wanted wanted[16]; /* origin 0: not looked at */
static int64_t events;
static nsec_t at_ns, late_ns; /* now; when event 2 was, if not in turn */
static bool is_v6;

static int begin(void **state)
{
	static const struct timeline_class queue = {"kernel", "net_dev_queue", columns,
						    COLUMNS};
	const struct timeline_node node = {.id = 1, .name = "n1"};
	struct error error = ERROR_INIT;

	(void)state;
	unlink("t");
	writer = timeline_writer_new("t", NULL, true, &error);
	assert_int_equal(timeline_add_node(writer, &node, &error), 0);
	assert_int_equal(timeline_add_class(writer, &queue, &class, &error), 0);
	memset(wanted, 0, sizeof(wanted));
	events = at_ns = late_ns = 0;
	is_v6 = false;
	return 0;
}

static struct cell text(const char *bytes)
{
	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(bytes), .bytes = bytes};
}

static struct cell number(int64_t integer)
{
	return (struct cell)INTEGER(integer);
}

/* Node 1's thread `tid` queues a packet, a millisecond later than the one before. */
static int64_t queue(int64_t tid, struct packet packet)
{
	struct cell field[COLUMNS] = {{.type = CELL_NULL}};
	struct error error = ERROR_INIT;
	const struct timeline_event event = {.ts_ns = at_ns += NSEC_PER_MSEC,
					     .node = 1,
					     .cpu = 0,
					     .tid = tid,
					     .class = class,
					     .cell = field};
	size_t at = 2;

	field[0] = number(packet.buffer);
	field[1] = text(packet.device);
	if (is_v6)
		at = 9;
	field[at++] = number(packet.length - (is_v6 ? 40 : 0));
	if (!is_v6)
		field[at++] = number(packet.id);
	field[at++] = number(packet.ttl);
	field[at++] = text(packet.protocol);
	field[at++] = text(packet.src);
	field[at++] = text(packet.dst);
	if (packet.seq >= 0)
		field[at] = number(packet.seq);
	assert_int_equal(timeline_add_event(writer, &event, NULL, &error), 0);
	return ++events;
}

static void assert_origin(int64_t event, int64_t origin, int64_t tid, bool is_carrier)
{
	wanted[event] = (struct wanted){origin, tid, is_carrier};
}

/* All that was wanted is told. */
static int end(void **state)
{
	struct error error = ERROR_INIT;
	struct timeline_reader *reader;
	struct sent_packets *packets;

	(void)state;
	finish_timeline(writer);
	reader = timeline_reader_open("t", &error);
	packets = sent_packets_new(reader, &error);
	assert_string_equal(error_text(&error), "");
	for (int64_t i = 1; i <= events; i++) {
		const struct sent_packet *packet;

		if (!wanted[i].origin)
			continue;
		assert_int_equal(sent_packets_find(packets, i, &packet, &error), 0);
		assert_non_null(packet);
		assert_int_equal(packet->origin, wanted[i].origin);
		assert_int_equal(packet->origin_tid, wanted[i].tid);
		assert_int_equal(packet->origin_ns,
				 late_ns ? late_ns : wanted[i].origin * NSEC_PER_MSEC);
		assert_int_equal(packet->is_carrier, wanted[i].is_carrier);
	}
	sent_packets_free(packets);
	timeline_reader_free(reader);
	return 0;
}

/* The container's interface and the card are both eth0; masquerading changes the source.
 */
static void nat_changes_an_address_only(void **state)
{
	struct packet packet = {8, "eth0", 228, 0, 64, "_udp", "c", "b", -1};

	(void)state;
	assert_origin(queue(5, packet), 1, 5, false);
	packet.ttl = 63;
	packet.src = "a";
	assert_origin(queue(14, packet), 1, 5, false);
	/* The next one of the same length in the same buffer is anew. */
	packet.ttl = 64;
	packet.src = "c";
	assert_origin(queue(6, packet), 3, 6, false);
	/* And one to another host is another's. */
	packet.src = "x";
	packet.dst = "y";
	packet.ttl = 63;
	assert_origin(queue(7, packet), 4, 7, false);
}

static void a_bond_queues_twice(void **state)
{
	struct packet packet = {8, "bond0", 1500, 0, 64, "_tcp", "a", "b", 700};

	(void)state;
	is_v6 = true;
	assert_origin(queue(5, packet), 1, 5, false);
	packet.device = "eth0";
	assert_origin(queue(9, packet), 1, 5, false);
	packet.device = "bond0"; /* sent again */
	assert_origin(queue(0, packet), 3, 0, false);
	packet.device = "eth0";
	packet.seq = 2200;
	assert_origin(queue(5, packet), 4, 5, false);
}

/* On bridges TTL stays, and all interfaces may bear one name. */
static void an_id_tells_a_packet(void **state)
{
	struct packet packet = {8, "eth0", 228, 4711, 64, "_udp", "c", "b", -1};

	(void)state;
	assert_origin(queue(5, packet), 1, 5, false);
	assert_origin(queue(14, packet), 1, 5, false);
	packet.id = 4712;
	assert_origin(queue(6, packet), 3, 6, false);
}

static void a_tunnel_carries_packets(void **state)
{
	const struct packet inner = {8, "wg0", 252, 9, 64, "_tcp", "i", "j", 5};
	struct packet outer = {8, "eth0", 316, 77, 64, "_udp", "a", "b", -1};

	(void)state;
	queue(5, inner);
	assert_origin(queue(541, outer), 2, 541, true);
	outer.device = "card";
	outer.ttl = 63;
	assert_origin(queue(3, outer), 2, 541, true);
	/* Neither in another buffer, nor much longer, nor of TCP. */
	queue(5, inner);
	outer.buffer = 16;
	assert_origin(queue(541, outer), 5, 541, false);
	outer = (struct packet){8, "eth0", 381, 77, 64, "_udp", "a", "b", -1};
	assert_origin(queue(541, outer), 6, 541, false);
	queue(5, inner);
	outer = (struct packet){8, "eth0", 316, 77, 64, "_tcp", "a", "b", 5};
	assert_origin(queue(541, outer), 8, 541, false);
}

/* After a second a buffer's packet is another one. */
static void buffers_are_forgotten(void **unused)
{
	struct packet packet = {8, "bond0", 1500, 0, 64, "_tcp", "a", "b", 700};

	(void)unused;
	queue(5, packet);
	packet.device = "eth0";
	at_ns += NSEC_PER_SEC - NSEC_PER_MSEC;
	wanted[queue(9, packet)] = (struct wanted){2, 9, false};
	late_ns = at_ns;
}

#define ORIGIN_TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    ORIGIN_TEST(nat_changes_an_address_only),
	    ORIGIN_TEST(a_bond_queues_twice),
	    ORIGIN_TEST(an_id_tells_a_packet),
	    ORIGIN_TEST(a_tunnel_carries_packets),
	    ORIGIN_TEST(buffers_are_forgotten),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
