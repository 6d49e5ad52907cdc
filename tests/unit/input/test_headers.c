/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/headers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "../test.h"
#include "capture_build.h"

enum { IPV4 = 0x0800, IPV6 = 0x86dd, VLAN = 0x8100, SERVICE_VLAN = 0x88a8 };

/* The frame that was decoded last. */
static struct frame frame;

static enum frame_status decode(enum frame_link link, const struct bytes *bytes)
{
	memset(&frame, 0xff, sizeof(frame));
	return frame_decode(&frame, link, bytes->data, bytes->count, bytes->count);
}

static void assert_address4(const uint8_t address[16], unsigned host)
{
	struct bytes want = {0};

	put_address4(&want, host);
	put_zeros(&want, 12);
	assert_memory_equal(address, want.data, 16);
}

static void assert_address6(const uint8_t address[16], unsigned host)
{
	struct bytes want = {0};

	put_address6(&want, host);
	assert_memory_equal(address, want.data, 16);
}

/* Check the segment of put_tcp(), after any kind of IP. */
static void assert_tcp(uint32_t seq, uint32_t payload)
{
	assert_int_equal(frame.packet.known, PACKET_NETWORK | PACKET_TRANSPORT);
	assert_int_equal(frame.packet.protocol, IPPROTO_TCP);
	assert_int_equal(frame.packet.sport, 1000);
	assert_int_equal(frame.packet.dport, 2000);
	assert_int_equal(frame.packet.seq, seq);
	assert_int_equal(frame.packet.ack, 0x9abcdef0);
	assert_int_equal(frame.packet.flags, 0x82);
	assert_int_equal(frame.packet.window, 0x5678);
	assert_int_equal(frame.packet.payload, payload);
	assert_int_equal(frame.packet.udp_length, 0);
}

TEST(test_ethernet_tcp)
{
	struct bytes bytes = {0};

	put_ethernet(&bytes, 1, 2, IPV4);
	put_ipv4(&bytes, (struct ipv4){1, 2, IPPROTO_TCP, .more = 120, .id = 0x4321,
				       .fragment = 0x4000, .hops = 63, .options = 8});
	put_tcp(&bytes, 0x12345678, 1);
	put_zeros(&bytes, 100);
	assert_int_equal(decode(FRAME_ETHERNET, &bytes), FRAME_PACKET);
	assert_tcp(0x12345678, 100);
	assert_int_equal(frame.packet.family, 4);
	assert_int_equal(frame.packet.id, 0x4321);
	assert_int_equal(frame.packet.length, 148);
	assert_int_equal(frame.packet.fragment, 0); /* "do not fragment" is none */
	assert_address4(frame.packet.src, 1);
	assert_address4(frame.packet.dst, 2);
	assert_int_equal(frame.hops, 63);
	assert_true(frame.has_ethernet);
	assert_int_equal(frame.source[5], 1);
	assert_int_equal(frame.target[5], 2);
	assert_int_equal(frame.cooked, FRAME_UNCOOKED);
	assert_int_equal(frame.checksum, CHECKSUM_FULL);
	assert_false(frame.loopback);
}

TEST(test_udp)
{
	struct bytes bytes = {0};

	put_ipv4(&bytes, (struct ipv4){3, EVERYBODY, IPPROTO_UDP, .more = 20});
	put_udp(&bytes, 12, 0);
	put_zeros(&bytes, 12);
	assert_int_equal(decode(FRAME_RAW, &bytes), FRAME_PACKET);
	assert_int_equal(frame.packet.known, PACKET_NETWORK | PACKET_TRANSPORT);
	assert_int_equal(frame.packet.sport, 1111);
	assert_int_equal(frame.packet.dport, 2222);
	assert_int_equal(frame.packet.udp_length, 20);
	assert_int_equal(frame.packet.payload, 0);
	assert_int_equal(frame.checksum, CHECKSUM_UNKNOWN);
	assert_false(frame.has_ethernet);
}

TEST(test_icmp)
{
	struct bytes bytes = {0};

	put_ipv4(&bytes, (struct ipv4){1, 2, IPPROTO_ICMP, .more = 8});
	put16(&bytes, 0x0803);
	put16(&bytes, 0xffff);
	put16(&bytes, 77);
	put16(&bytes, 5);
	assert_int_equal(decode(FRAME_RAW, &bytes), FRAME_PACKET);
	assert_int_equal(frame.packet.known, PACKET_NETWORK | PACKET_TRANSPORT);
	assert_int_equal(frame.packet.sport, 0x0803);
	assert_int_equal(frame.packet.dport, 0);
	assert_int_equal(frame.packet.seq, 77 << 16 | 5);
}

TEST(test_other_protocols_have_no_transport)
{
	static const unsigned protocols[] = {IPPROTO_GRE, IPPROTO_SCTP, IPPROTO_ICMPV6};

	for (int i = 0; i < 3; i++) {
		struct bytes bytes = {0};

		put_ipv6(&bytes, 1, 2, protocols[i], 8);
		put_zeros(&bytes, 8);
		assert_int_equal(decode(FRAME_RAW, &bytes), FRAME_PACKET);
		assert_int_equal(frame.packet.known, PACKET_NETWORK);
		assert_int_equal(frame.packet.protocol, protocols[i]);
		assert_int_equal(frame.packet.sport, 0);
	}
}

TEST(test_fragments)
{
	struct bytes first = {0}, later = {0};

	put_ipv4(&first,
		 (struct ipv4){1, 2, IPPROTO_UDP, .more = 16, .fragment = 0x2000});
	put_udp(&first, 400, 9);
	put_zeros(&first, 8);
	assert_int_equal(decode(FRAME_RAW, &first), FRAME_PACKET);
	assert_int_equal(frame.packet.fragment, 0x2000);
	assert_int_equal(frame.packet.udp_length, 408);
	assert_int_equal(frame.packet.known, PACKET_NETWORK | PACKET_TRANSPORT);

	put_ipv4(&later,
		 (struct ipv4){1, 2, IPPROTO_UDP, .more = 16, .fragment = 0x20b9});
	put_zeros(&later, 16);
	assert_int_equal(decode(FRAME_RAW, &later), FRAME_PACKET);
	assert_int_equal(frame.packet.fragment, 0x20b9);
	assert_int_equal(frame.packet.known, PACKET_NETWORK);
	assert_int_equal(frame.packet.protocol, IPPROTO_UDP);
}

TEST(test_length_left_to_the_card)
{
	struct bytes bytes = {0};

	put_ethernet(&bytes, 1, 2, IPV4);
	put_ipv4(&bytes, (struct ipv4){1, 2, IPPROTO_TCP, .more = 0, .no_length = true});
	put_tcp(&bytes, 1, 1);
	assert_int_equal(frame_decode(&frame, FRAME_ETHERNET, bytes.data, bytes.count,
				      14 + 40 + 100000),
			 FRAME_PACKET);
	assert_int_equal(frame.packet.length, 100040);
	assert_tcp(1, 100000);
}

TEST(test_ipv6)
{
	struct bytes bytes = {0};

	put_ethernet(&bytes, 1, 2, IPV6);
	put_ipv6(&bytes, 1, 2, IPPROTO_TCP, 25);
	put_tcp(&bytes, 7, 3);
	put_zeros(&bytes, 5);
	assert_int_equal(decode(FRAME_ETHERNET, &bytes), FRAME_PACKET);
	assert_tcp(7, 5);
	assert_int_equal(frame.packet.family, 6);
	assert_int_equal(frame.packet.id, 0xabcde);
	assert_int_equal(frame.packet.length, 25);
	assert_address6(frame.packet.src, 1);
	assert_address6(frame.packet.dst, 2);
	assert_int_equal(frame.hops, 64);
}

/* Hop-by-hop of 8, destination of 16, routing of 24, fragment of 8 bytes. */
static void put_extensions(struct bytes *bytes, unsigned fragment)
{
	put8(bytes, IPPROTO_DSTOPTS);
	put_zeros(bytes, 7);
	put8(bytes, IPPROTO_ROUTING);
	put8(bytes, 1);
	put_zeros(bytes, 14);
	put8(bytes, IPPROTO_FRAGMENT);
	put8(bytes, 2);
	put_zeros(bytes, 22);
	put8(bytes, IPPROTO_TCP);
	put8(bytes, 200); /* reserved; no length */
	put16(bytes, fragment);
	put32(bytes, 0x77777777);
}

TEST(test_ipv6_extension_headers)
{
	struct bytes whole = {0}, later = {0};

	put_ipv6(&whole, 1, 2, IPPROTO_HOPOPTS, 56 + 23);
	put_extensions(&whole, 1);
	put_tcp(&whole, 8, 3);
	put_zeros(&whole, 3);
	assert_int_equal(decode(FRAME_RAW, &whole), FRAME_PACKET);
	assert_tcp(8, 3);
	assert_int_equal(frame.packet.length, 79);
	assert_int_equal(frame.packet.fragment, 0x2000);
	assert_int_equal(frame.packet.id, 0x77777777);

	put_ipv6(&later, 1, 2, IPPROTO_HOPOPTS, 56 + 4);
	put_extensions(&later, 100 << 3);
	put_zeros(&later, 4);
	assert_int_equal(decode(FRAME_RAW, &later), FRAME_PACKET);
	assert_int_equal(frame.packet.known, PACKET_NETWORK);
	assert_int_equal(frame.packet.protocol, IPPROTO_TCP);
	assert_int_equal(frame.packet.fragment, 100);
}

TEST(test_vlan_tags)
{
	struct bytes one = {0}, two = {0}, cooked = {0};

	put_ethernet(&one, 1, 2, VLAN);
	put_vlan(&one, 5, IPV4);
	put_segment(&one, 1, 2, 11);
	assert_int_equal(decode(FRAME_ETHERNET, &one), FRAME_PACKET);
	assert_tcp(11, 0);

	put_ethernet(&two, 1, 2, SERVICE_VLAN);
	put_vlan(&two, 5, VLAN);
	put_vlan(&two, 6, IPV6);
	put_ipv6(&two, 1, 2, IPPROTO_TCP, 20);
	put_tcp(&two, 12, 3);
	assert_int_equal(decode(FRAME_ETHERNET, &two), FRAME_PACKET);
	assert_tcp(12, 0);
	assert_int_equal(frame.vlan, 5);
	assert_int_equal(frame.type, IPV6);

	put_cooked(&cooked, COOKED_HOST, 1, VLAN);
	put_vlan(&cooked, 5, IPV4);
	put_segment(&cooked, 1, 2, 13);
	assert_int_equal(decode(FRAME_COOKED, &cooked), FRAME_PACKET);
	assert_tcp(13, 0);
}

TEST(test_labels_sessions_and_snap)
{
	static const uint8_t snap[] = {0xaa, 0xaa, 3, 0, 0, 0}, ip[] = {6, 6, 3},
			     tree[] = {0x42, 0x42, 3, 0, 0};
	struct bytes mpls = {0}, wire = {0}, pppoe = {0}, llc = {0}, raw = {0},
		     bridge = {0}, compressed = {0};

	put_ethernet(&mpls, 1, 2, 0x8847);
	put32(&mpls, 100 << 12 | 64);
	put32(&mpls, 101 << 12 | 0x100 | 64);
	put_segment(&mpls, 1, 2, 61);
	assert_int_equal(decode(FRAME_ETHERNET, &mpls), FRAME_PACKET);
	assert_tcp(61, 0);

	/* A pseudowire: what is in it is Ethernet again. */
	put_ethernet(&wire, 1, 2, 0x8847);
	put32(&wire, 102 << 12 | 0x100 | 64);
	put32(&wire, 0);
	put_ethernet(&wire, 3, 4, IPV6);
	put_ipv6(&wire, 3, 4, IPPROTO_TCP, 20);
	put_tcp(&wire, 62, 3);
	assert_int_equal(decode(FRAME_ETHERNET, &wire), FRAME_PACKET);
	assert_tcp(62, 0);

	put_ethernet(&pppoe, 1, 2, 0x8864);
	put32(&pppoe, 0x11000001);
	put16(&pppoe, 42);
	put16(&pppoe, 0x21);
	put_segment(&pppoe, 1, 2, 63);
	assert_int_equal(decode(FRAME_ETHERNET, &pppoe), FRAME_PACKET);
	assert_tcp(63, 0);
	assert_int_equal(frame.type, IPV4);
	for (size_t captured = 0; captured < pppoe.count; captured++)
		assert_int_equal(frame_decode(&frame, FRAME_ETHERNET, pppoe.data,
					      captured, pppoe.count),
				 FRAME_CUT);

	put_ethernet(&llc, 1, 2, 8 + 40);
	put(&llc, snap, sizeof(snap));
	put16(&llc, IPV4);
	put_segment(&llc, 1, 2, 64);
	assert_int_equal(decode(FRAME_ETHERNET, &llc), FRAME_PACKET);
	assert_tcp(64, 0);
	put_ethernet(&raw, 1, 2, 3 + 40);
	put(&raw, ip, sizeof(ip));
	put_segment(&raw, 1, 2, 65);
	assert_int_equal(decode(FRAME_ETHERNET, &raw), FRAME_PACKET);
	assert_tcp(65, 0);
	put_ethernet(&bridge, 1, 2, 38);
	put(&bridge, tree, sizeof(tree));
	put_zeros(&bridge, 33);
	assert_int_equal(decode(FRAME_ETHERNET, &bridge), FRAME_OTHER);
	assert_int_equal(frame.undecoded, 0);

	put16(&compressed, 0xff03);
	put8(&compressed, 0x21);
	put_segment(&compressed, 1, 2, 66);
	assert_int_equal(decode(FRAME_PPP, &compressed), FRAME_PACKET);
	assert_tcp(66, 0);
}

static void put_geneve(struct bytes *bytes, unsigned type)
{
	put_ethernet(bytes, 8, 9, IPV4);
	put_ipv4(bytes, (struct ipv4){8, 9, IPPROTO_UDP, .more = 8 + 16 + 14 + 40});
	put16(bytes, 5000);
	put16(bytes, 6081);
	put16(bytes, 8 + 16 + 14 + 40);
	put16(bytes, 0);
	put16(bytes, 0x0200);
	put16(bytes, type);
	put32(bytes, 7 << 8);
	put_zeros(bytes, 8);
}

/* The packet is the inner one; the network card's is the outer frame. */
TEST(test_geneve)
{
	static const uint8_t outer[6] = {2, 0, 0, 0, 0, 8};
	struct bytes inner = {0}, other = {0};

	put_geneve(&inner, 0x6558);
	put_ethernet(&inner, 1, 2, IPV4);
	put_segment(&inner, 1, 2, 71);
	assert_int_equal(decode(FRAME_ETHERNET, &inner), FRAME_PACKET);
	assert_tcp(71, 0);
	assert_address4(frame.packet.src, 1);
	assert_int_equal(frame.carrier.family, 4);
	assert_address4(frame.carrier.src, 8);
	assert_address4(frame.carrier.dst, 9);
	assert_memory_equal(frame.source, outer, 6);
	/* Without inner headers it is the tunnel's packet. */
	assert_int_equal(
	    frame_decode(&frame, FRAME_ETHERNET, inner.data, 80, inner.count),
	    FRAME_PACKET);
	assert_int_equal(frame.packet.protocol, IPPROTO_UDP);
	assert_int_equal(frame.carrier.family, 0);
	put_geneve(&other, 0x0806);
	assert_int_equal(decode(FRAME_ETHERNET, &other), FRAME_PACKET);
	assert_int_equal(frame.packet.dport, 6081);
}

TEST(test_what_is_not_decoded_is_named)
{
	struct bytes secured = {0}, arp = {0}, control = {0}, nested = {0};

	put_ethernet(&secured, 1, 2, 0x88e5);
	put_zeros(&secured, 50);
	assert_int_equal(decode(FRAME_ETHERNET, &secured), FRAME_OTHER);
	assert_int_equal(frame.undecoded, frame_undecoded(UNDECODED_TYPE, 0x88e5));
	put_ethernet(&arp, 1, 2, 0x0806);
	put_zeros(&arp, 28);
	assert_int_equal(decode(FRAME_ETHERNET, &arp), FRAME_OTHER);
	assert_int_equal(frame.undecoded, 0);
	put16(&control, 0xff03);
	put16(&control, 0xc021);
	assert_int_equal(decode(FRAME_PPP, &control), FRAME_OTHER);
	assert_int_equal(frame.undecoded, 0);
	/* Pseudowires within each other end somewhere. */
	for (int i = 0; i < 30; i++) {
		put_ethernet(&nested, 1, 2, 0x8847);
		put32(&nested, 0x100);
		put32(&nested, 0);
	}
	assert_int_equal(decode(FRAME_ETHERNET, &nested), FRAME_OTHER);
	assert_int_equal(frame.undecoded, frame_undecoded(UNDECODED_DEPTH, 0));
}

TEST(test_cooked)
{
	struct bytes first = {0}, second = {0}, loopback = {0};

	put_cooked(&first, COOKED_OUTGOING, 1, IPV4);
	put_segment(&first, 1, 2, 21);
	assert_int_equal(decode(FRAME_COOKED, &first), FRAME_PACKET);
	assert_tcp(21, 0);
	assert_int_equal(frame.vlan, -1);
	assert_int_equal(frame.cooked, COOKED_OUTGOING);
	assert_int_equal(frame.device, 0);
	assert_false(frame.has_ethernet);

	put_cooked2(&second, COOKED_MULTICAST, 0x10002, IPV6);
	put_ipv6(&second, 1, EVERYBODY, IPPROTO_TCP, 20);
	put_tcp(&second, 22, 3);
	assert_int_equal(decode(FRAME_COOKED2, &second), FRAME_PACKET);
	assert_tcp(22, 0);
	assert_int_equal(frame.cooked, COOKED_MULTICAST);
	assert_int_equal(frame.device, 0x10002);
	assert_false(frame.loopback);

	put_cooked(&loopback, COOKED_HOST, 772, IPV4);
	put_segment(&loopback, 1, 2, 23);
	assert_int_equal(decode(FRAME_COOKED, &loopback), FRAME_PACKET);
	assert_true(frame.loopback);
}

TEST(test_raw_and_loopback)
{
	static const uint8_t family[4] = {30, 0, 0, 0}, appletalk[5] = {16, 0, 0, 0, 1};
	struct bytes bytes = {0}, other = {0};

	put(&bytes, family, sizeof(family));
	put_ipv6(&bytes, 1, 2, IPPROTO_TCP, 20);
	put_tcp(&bytes, 31, 3);
	assert_int_equal(decode(FRAME_LOOPBACK, &bytes), FRAME_PACKET);
	assert_tcp(31, 0);
	put(&other, appletalk, sizeof(appletalk));
	assert_int_equal(decode(FRAME_LOOPBACK, &other), FRAME_OTHER);
	assert_int_equal(frame_decode(&frame, FRAME_RAW, other.data, 0, 0), FRAME_OTHER);
	assert_int_equal(frame_decode(&frame, FRAME_RAW, other.data, 0, 9), FRAME_CUT);
}

TEST(test_cut_and_malformed)
{
	struct bytes bytes = {0}, header = {0}, version = {0}, runt = {0};

	put_ethernet(&bytes, 1, 2, IPV4);
	put_segment(&bytes, 1, 2, 41);
	for (size_t captured = 0; captured < bytes.count; captured++) {
		assert_int_equal(frame_decode(&frame, FRAME_ETHERNET, bytes.data,
					      captured, bytes.count),
				 FRAME_CUT);
		/* Behind its header the IP packet says how long it is. */
		assert_int_equal(
		    frame_decode(&frame, FRAME_ETHERNET, bytes.data, captured, captured),
		    captured < 14 + 20 ? FRAME_MALFORMED : FRAME_CUT);
	}
	/* The data may be cut. */
	assert_int_equal(
	    frame_decode(&frame, FRAME_ETHERNET, bytes.data, bytes.count, 1500),
	    FRAME_PACKET);

	put_ipv4(&header, (struct ipv4){1, 2, IPPROTO_TCP, .more = 20});
	put_tcp(&header, 1, 1);
	header.data[32] = 4 << 4; /* TCP header of 16 bytes */
	assert_int_equal(decode(FRAME_RAW, &header), FRAME_MALFORMED);
	header.data[32] = 6 << 4; /* of 24 bytes, where the packet holds 20 */
	assert_int_equal(decode(FRAME_RAW, &header), FRAME_MALFORMED);
	header.data[0] = 0x44; /* IP header of 16 bytes */
	assert_int_equal(decode(FRAME_RAW, &header), FRAME_MALFORMED);

	put_ethernet(&version, 1, 2, IPV6);
	put_segment(&version, 1, 2, 1);
	assert_int_equal(decode(FRAME_ETHERNET, &version), FRAME_MALFORMED);

	put_ipv4(&runt, (struct ipv4){1, 2, IPPROTO_UDP, .more = 4});
	put_zeros(&runt, 30);
	assert_int_equal(decode(FRAME_RAW, &runt), FRAME_MALFORMED);
}

/* Ethernet's padding after a short packet does not belong to the packet. */
TEST(test_padding)
{
	struct bytes bytes = {0};

	put_ethernet(&bytes, 1, 2, IPV4);
	put_segment(&bytes, 1, 2, 51);
	put_zeros(&bytes, 6);
	decode(FRAME_ETHERNET, &bytes);
	assert_int_equal(frame.packet.length, 40);
	assert_int_equal(frame.packet.payload, 0);
}

TEST(test_open_checksum)
{
	/* 10.0.0.1 to 10.0.0.2, TCP, 20 bytes: 0x1400 + 3 + 6 + 20. */
	struct bytes ipv4 = {0}, ipv6 = {0};

	put_ipv4(&ipv4, (struct ipv4){1, 2, IPPROTO_TCP, .more = 20});
	put_tcp(&ipv4, 1, 0x141d);
	decode(FRAME_RAW, &ipv4);
	assert_int_equal(frame.checksum, CHECKSUM_PARTIAL);

	/* fd00::1 to fd00::2, UDP, 8 bytes: 0x1fa00 + 3 + 17 + 8, folded. */
	put_ipv6(&ipv6, 1, 2, IPPROTO_UDP, 8);
	put_udp(&ipv6, 0, 0xfa1d);
	decode(FRAME_RAW, &ipv6);
	assert_int_equal(frame.checksum, CHECKSUM_PARTIAL);
}

/* Whatever the bytes, nothing is read behind them; the sanitizers watch. */
TEST(test_any_bytes)
{
	const char *given = getenv("CT_SEED");
	uint64_t state = 0;

	if (given)
		state = strtoull(given, NULL, 0);
	else if (getrandom(&state, sizeof(state), 0) != sizeof(state))
		fail();
	printf("seed: CT_SEED=%" PRIu64 "\n", state);
	for (int round = 0; round < 200000; round++) {
		struct bytes bytes = {0};
		uint8_t *exact;
		size_t captured, wire;

		put_ethernet(&bytes, 1, 2, round & 1 ? IPV4 : IPV6);
		if (round & 1)
			put_segment(&bytes, 1, 2, 1);
		else
			put_ipv6(&bytes, 1, 2, IPPROTO_HOPOPTS, 99);
		put_zeros(&bytes, 40);
		for (int i = 0; i < 4; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			bytes.data[(state >> 33) % bytes.count] = (uint8_t)(state >> 41);
		}
		captured = (state >> 50) % bytes.count;
		wire = captured + (state >> 30) % 4;
		exact = malloc(captured ? captured : 1);
		memcpy(exact, bytes.data, captured);
		frame_decode(&frame, (enum frame_link)(round / 2 % 5), exact, captured,
			     wire);
		free(exact);
	}
}
