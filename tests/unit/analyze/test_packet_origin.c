/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/packet_origin.h"

#include "../scratch.h"
#include "base/nsec.h"

struct packet {
	int64_t buffer;
	const char *device;
	int64_t length, id, ttl;
	const char *protocol, *src, *dst;
	int64_t seq; /* -1: none */
};

static struct packet_origins origins;
static int64_t events;
static nsec_t at_ns;
static bool is_v6;

static int begin(void **state)
{
	(void)state;
	origins = (struct packet_origins){.count = 0};
	events = at_ns = 0;
	is_v6 = false;
	return 0;
}

static int end(void **state)
{
	(void)state;
	packet_origins_clear(&origins);
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

/* Node 1's thread `tid` queues a packet, a millisecond later than the one before. */
static struct packet_origin queue(int64_t tid, struct packet packet)
{
	struct cell field[PACKET_ORIGIN_COUNT] = {{.type = CELL_NULL}};
	struct event_row row = {.id = ++events,
				.ts_ns = at_ns += NSEC_PER_MSEC,
				.node = 1,
				.tid = tid,
				.field = field};
	size_t at = is_v6 ? 9 : 2; /* as PACKET_ORIGIN_FIELDS */

	field[0] = number(packet.buffer);
	field[1] = text(packet.device);
	field[at++] = number(packet.length - (is_v6 ? 40 : 0));
	if (!is_v6)
		field[at++] = number(packet.id);
	field[at++] = number(packet.ttl);
	field[at++] = text(packet.protocol);
	field[at++] = text(packet.src);
	field[at++] = text(packet.dst);
	if (packet.seq >= 0)
		field[at] = number(packet.seq);
	return packet_origin_of(&origins, &row);
}

static void assert_origin(struct packet_origin origin, int64_t event, int64_t tid,
			  bool is_carrier)
{
	assert_int_equal(origin.event, event);
	assert_int_equal(origin.tid, tid);
	assert_int_equal(origin.ts_ns, event * NSEC_PER_MSEC);
	assert_int_equal(origin.is_carrier, is_carrier);
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

static void buffers_are_forgotten(void **state)
{
	struct packet packet = {8, "bond0", 1500, 0, 64, "_tcp", "a", "b", 700};

	(void)state;
	queue(5, packet);
	at_ns += NSEC_PER_SEC - NSEC_PER_MSEC;
	packet.device = "eth0";
	assert_int_equal(queue(9, packet).event, 2);
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

	return cmocka_run_group_tests(tests, NULL, NULL);
}
