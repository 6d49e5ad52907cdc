/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/sent_packets.h"

#include <string.h>

#include "../scratch.h"

struct sent {
	int64_t buffer;
	const char *device;
	int64_t length, id, ttl;
	const char *protocol, *src, *dst;
	int64_t seq; /* -1: none */
};

#define V4  "network_header_ipv4_"
#define V6  "network_header_ipv6_"
#define TCP "transport_header_tcp_"
#define SEQ TCP "seq"

static const char *const columns[] = {
    "skbaddr",      "name",       V4 "tot_len", V4 "id",    V4 "ttl",
    V4 "protocol",  V4 "saddr",   V4 "daddr",   V4 SEQ,     V6 "payload_len",
    V6 "hop_limit", V6 "nexthdr", V6 "saddr",   V6 "daddr", V6 SEQ,
};
enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

static struct sent_packets *packets;
static struct event_class class;
static int64_t events;
static nsec_t at_ns;
static bool is_v6;

/* The class with these columns. */
static void make_class(void)
{
	static const struct selection everything = {.begin_ns = NSEC_MIN,
						    .end_ns = NSEC_MAX};
	const struct event_filter filter = {&everything, .spans = true};
	struct trace_column column[COLUMNS];
	const struct trace_class of = {
	    .name = (char *)"net_dev_queue", .column = column, .columns = COLUMNS};

	for (size_t i = 0; i < COLUMNS; i++)
		column[i] = (struct trace_column){.name = (char *)columns[i]};
	event_class_init(&class, &of, &filter);
}

static int begin(void **state)
{
	(void)state;
	packets = sent_packets_new();
	make_class();
	events = at_ns = 0;
	is_v6 = false;
	return 0;
}

static int end(void **state)
{
	(void)state;
	sent_packets_free(packets);
	return 0;
}

static struct cell text(const char *bytes)
{
	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(bytes), .bytes = bytes};
}

static struct cell number(int64_t integer)
{
	return (struct cell){.type = CELL_INTEGER, .integer = integer};
}

/* An event of the class, a millisecond later than the one before. */
static struct sent_packet tell(int64_t tid, const struct cell *field)
{
	struct sent_packet told = {
	    .origin = ++events, .origin_ns = at_ns += NSEC_PER_MSEC, .origin_tid = tid};

	sent_packets_event(packets, &class, 0, field, &told);
	return told;
}

/* Thread `tid` queues a packet. */
static struct sent_packet queue(int64_t tid, struct sent packet)
{
	struct cell field[COLUMNS] = {{.type = CELL_NULL}};
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
	return tell(tid, field);
}

static void assert_origin(struct sent_packet told, int64_t origin, int64_t tid,
			  bool is_carrier)
{
	assert_int_equal(told.origin, origin);
	assert_int_equal(told.origin_tid, tid);
	assert_int_equal(told.is_carrier, is_carrier);
}

/* The container's interface and the card are both eth0; masquerading changes the source.
 */
FIXTURE_TEST(nat_changes_an_address_only, begin, end)
{
	struct sent packet = {8, "eth0", 228, 0, 64, "_udp", "c", "b", -1};

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

FIXTURE_TEST(a_bond_queues_twice, begin, end)
{
	struct sent packet = {8, "bond0", 1500, 0, 64, "_tcp", "a", "b", 700};

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
FIXTURE_TEST(an_id_tells_a_packet, begin, end)
{
	struct sent packet = {8, "eth0", 228, 4711, 64, "_udp", "c", "b", -1};

	assert_origin(queue(5, packet), 1, 5, false);
	assert_origin(queue(14, packet), 1, 5, false);
	packet.id = 4712;
	assert_origin(queue(6, packet), 3, 6, false);
}

FIXTURE_TEST(a_tunnel_carries_packets, begin, end)
{
	const struct sent inner = {8, "wg0", 252, 9, 64, "_tcp", "i", "j", 5};
	struct sent outer = {8, "eth0", 316, 77, 64, "_udp", "a", "b", -1};

	queue(5, inner);
	assert_origin(queue(541, outer), 2, 541, true);
	outer.device = "card";
	outer.ttl = 63;
	assert_origin(queue(3, outer), 2, 541, true);
	/* Neither in another buffer, nor much longer, nor of TCP. */
	queue(5, inner);
	outer.buffer = 16;
	assert_origin(queue(541, outer), 5, 541, false);
	outer = (struct sent){8, "eth0", 381, 77, 64, "_udp", "a", "b", -1};
	assert_origin(queue(541, outer), 6, 541, false);
	queue(5, inner);
	outer = (struct sent){8, "eth0", 316, 77, 64, "_tcp", "a", "b", 5};
	assert_origin(queue(541, outer), 8, 541, false);
}

/* After a second a buffer's packet is another one. */
FIXTURE_TEST(buffers_are_forgotten, begin, end)
{
	struct sent packet = {8, "bond0", 1500, 0, 64, "_tcp", "a", "b", 700};
	struct sent_packet told;

	queue(5, packet);
	packet.device = "eth0";
	told = queue(8, packet);
	assert_origin(told, 1, 5, false);
	assert_int_equal(told.origin_ns, NSEC_PER_MSEC);
	at_ns += NSEC_PER_SEC - NSEC_PER_MSEC;
	packet.device = "eth1";
	told = queue(9, packet);
	assert_origin(told, 3, 9, false);
	assert_int_equal(told.origin_ns, at_ns);
}

/* A buffer is a kernel's own. */
FIXTURE_TEST(nodes_have_buffers_of_their_own, begin, end)
{
	struct cell field[COLUMNS] = {
	    number(8),    text("eth0"), number(228), number(4711),        number(64),
	    text("_udp"), text("a"),    text("b"),   {.type = CELL_NULL},
	};
	struct sent_packet told = {.origin = 7, .origin_ns = 1, .origin_tid = 3};

	tell(5, field);
	sent_packets_event(packets, &class, 1, field, &told);
	assert_origin(told, 7, 3, false);
}
