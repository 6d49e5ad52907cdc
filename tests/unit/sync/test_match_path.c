/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bench.h"

/*
 * Ways of a packet, one word for each event in the order of true time, which all hosts'
 * clocks show: host, s(ent) or r(eceived), device, and the time to live. Host Z is not
 * traced. Of the messages, the words' numbers.
 */
struct way {
	const char *what, *words;
	struct {
		int send, recv; /* words, from 1 on */
	} message[6];
	size_t messages;
};

enum { MOST_WORDS = 24, HOSTS = 4 };

static const struct way ways[] = {
    {"host to host", "As1/64 Br1/64", {{1, 2}}, 1},
    {"routers that are not traced", "As1/64 Br1/61", {{1, 2}}, 1},
    {"a traced router", "As1/64 Br1/64 Bs2/63 Cr1/63", {{1, 2}, {3, 4}, {1, 4}}, 3},
    {"a traced bridge", "As1/64 Br1/64 Bs2/64 Cr1/64", {{1, 2}, {1, 4}}, 2},
    /* Containers on bridges, routed by their hosts; their devices are named alike. */
    {"container to container",
     "As1/64 Ar2/64 Ar3/64 As1/63 Br1/63 Bs3/62 Bs2/62 Br1/62",
     {{4, 5}},
     1},
    {"node to container", "As1/64 Br1/64 Bs3/63 Bs2/63 Br1/63", {{1, 2}}, 1},
    {"container to node", "As1/64 Ar2/64 Ar3/64 As1/63 Br1/63", {{4, 5}}, 1},
    {"container to container of one host", "As1/64 Ar2/64 As3/64 Ar1/64", {{0, 0}}, 0},
    /* The outer headers are another identity; receive offload shows the inner ones. */
    {"vxlan", "As1/64 Ar2/64 As4/64 Br1/64 Br4/64 Bs2/64 Br1/64", {{1, 4}}, 1},
    {"vxlan from a node", "As4/64 Br1/64 Br4/64 Bs2/64 Br1/64", {{1, 2}}, 1},
    {"vxlan without the inner receive",
     "As1/64 Ar2/64 As4/64 Br4/64 Bs2/64 Br1/64",
     {{1, 4}},
     1},
    {"vxlan through a routing host",
     "As1/64 Ar2/64 As4/64 Br1/64 Br4/64 Bs4/63 Cr1/63 Cr4/63 Cs2/63 Cr1/63",
     {{1, 4}, {6, 7}, {1, 7}},
     3},
    {"macvlan", "As5/64 As1/64 Br1/64 Br5/64", {{1, 3}}, 1},
    {"a bond", "As6/64 As1/64 Br1/64 Br6/64", {{1, 3}}, 1},
    {"a VLAN device", "As1/64 As2/64 Br1/64", {{1, 3}}, 1},
    /* Only what came from a bridge has headers. */
    {"without receive offload", "As1/64 Ar2/64 As1/63 Bs2/62 Br1/62", {{3, 5}}, 1},
    {"without it, both bridged", "As1/64 Ar2/64 As1/64 Bs2/64 Br1/64", {{0, 0}}, 0},
    {"a hub", "As1/64 Ar1/64 Br1/64 Cr1/64 Dr1/64", {{1, 3}, {1, 4}, {1, 5}}, 3},
    {"a mirror port", "As1/64 Cr7/64 Br1/64", {{1, 2}, {1, 3}}, 2},
    {"a hairpin",
     "As1/64 Ar2/64 As1/63 Br1/63 Bs1/62 Ar1/62 As2/61 Ar1/61",
     {{3, 4}, {5, 6}},
     2},
    {"a bridged hairpin",
     "As1/64 Ar2/64 As1/64 Br1/64 Bs1/64 Ar1/64 As2/64 Ar1/64",
     {{0, 0}},
     0},
    {"any device of hosts of containers",
     "Ar2/64 Ar3/64 As1/63 Br1/63 Bs3/62 Bs2/62",
     {{3, 4}},
     1},
    {"no time to live", "As1/0 Br1/0 Bs2/0 Cr1/0", {{1, 2}, {1, 4}}, 2},
    {"not of all", "As1/0 Ar2/0 As1/0 Br1/63 Bs3/62 Br1/62", {{1, 4}}, 1},
};

enum { WAYS = sizeof(ways) / sizeof(*ways) };

static size_t parse(const char *words, uint32_t *host, struct packet_event *packet_event)
{
	size_t n = 0;
	unsigned hops;
	char who, side;
	int used;

	for (; sscanf(words, " %c%c%u/%u%n", &who, &side, &packet_event[n].device, &hops,
		      &used) == 4;
	     n++, words += used) {
		host[n] = (uint32_t)(who - 'A');
		packet_event[n].received = side == 'r';
		packet_event[n].hops = (uint8_t)hops;
		packet_event[n].ns = packet_event[n].whole_ns = packet_event[n].event_ns =
		    10 * (nsec_t)(n + 1);
	}
	assert_int_equal(strspn(words, " "), strlen(words));
	return n;
}

/* The words' events, those of one host after another's as `order` says; some lost. */
static void walk(const struct way *way, unsigned order, unsigned lost)
{
	struct packet_event packet_event[MOST_WORDS];
	uint32_t host[MOST_WORDS];
	size_t n;

	memset(packet_event, 0, sizeof(packet_event));
	n = parse(way->words, host, packet_event);
	bench_init(BENCH_LIMIT);
	for (uint32_t i = 0; i < HOSTS; i++)
		for (size_t k = 0; k < n; k++) {
			packet_event[k].packet = udp(7);
			if (host[k] == (i ^ order) && !(lost >> k & 1))
				see(host[k], &packet_event[k]);
		}
	bench_finish();
}

static void check_way(const struct way *way, unsigned order)
{
	walk(way, order, 0);
	if (bench.count != way->messages)
		print_error("%s: %zu messages\n", way->what, bench.count);
	assert_int_equal(bench.count, way->messages);
	for (size_t i = 0; i < way->messages; i++) {
		bool found = false;

		for (size_t k = 0; k < bench.count; k++)
			found |= bench.message[k].send_ns == 10 * way->message[i].send &&
				 bench.message[k].recv_ns == 10 * way->message[i].recv;
		if (!found)
			print_error("%s: no message from %d to %d\n", way->what,
				    way->message[i].send, way->message[i].recv);
		assert_true(found);
	}
}

/* C did not record what it received: it may have been before B or after. */
MATCH_TEST(a_level_that_begins_twice_is_not_taken)
{
	static const struct way way = {
	    "twice", "As1/64 Br1/64 Bs2/64 Cs2/64 Dr1/64 Ds2/64", {{0, 0}}, 0};

	check_way(&way, 0);
}

MATCH_TEST(ways_give_their_messages)
{
	for (size_t i = 0; i < WAYS; i++)
		for (unsigned order = 0; order < HOSTS; order++)
			check_way(&ways[i], order);
}

static void check_truth(const struct way *way, unsigned lost)
{
	walk(way, 0, lost);
	for (size_t i = 0; i < bench.count; i++) {
		if (bench.message[i].recv_ns <= bench.message[i].send_ns)
			print_error("%s without %x: %d to %d\n", way->what, lost,
				    (int)bench.message[i].send_ns / 10,
				    (int)bench.message[i].recv_ns / 10);
		assert_true(bench.message[i].recv_ns > bench.message[i].send_ns);
	}
}

/* Whatever event of one host is not recorded, or its first few, nothing is reversed. */
MATCH_TEST(losses_reverse_nothing)
{
	struct packet_event packet_event[MOST_WORDS];
	uint32_t host[MOST_WORDS];

	for (size_t i = 0; i < WAYS; i++) {
		size_t n = parse(ways[i].words, host, packet_event);

		for (size_t k = 0; k < n; k++)
			check_truth(&ways[i], 1u << k);
		for (uint32_t who = 0; who < HOSTS; who++) {
			unsigned lost = 0;

			for (size_t k = 0; k < n; k++) {
				if (host[k] != who)
					continue;
				lost |= 1u << k;
				check_truth(&ways[i], lost);
			}
		}
	}
}

/* Two traces of one host, and what one of them sent and the other received. */
MATCH_TEST(sources_of_a_host_send_each_other_nothing)
{
	static const uint32_t host[] = {0, 1, 0, 1};

	bench_init_hosts(BENCH_LIMIT, host);
	sent(0, udp(1), 10);
	received(2, udp(1), 510);
	sent(2, udp(1), 520);
	received(1, udp(1), 30);
	received(3, udp(1), 1030);
	MESSAGES({0, 1, 10, 30}, {0, 3, 10, 1030});
}

/* A host that asks for an address of its own looks like any other that does. */
MATCH_TEST(nobody_is_not_one_host)
{
	struct packet packet = udp(1);

	memset(packet.src, 0, sizeof(packet.src));
	memset(packet.dst, 255, 4);
	sent(0, packet, 10);
	received(2, packet, 20);
	sent(1, packet, 5000);
	bench_finish();
	assert_int_equal(bench.count, 0);
}

/* Router solicitations and the like come again and again, and look the same. */
MATCH_TEST(what_hosts_repeat_for_ever_is_not_taken_at_once)
{
	struct packet packet = udp(0);

	packet.dst[0] = 224;
	sent(0, packet, 5000);
	received(1, packet, 20);
	bench_finish();
	assert_int_equal(bench.count, 0);
}
