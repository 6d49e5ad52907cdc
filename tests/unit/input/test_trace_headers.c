/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/trace_packets.h"
#include "trace_values.h"

#include <netinet/in.h>

/* The fields of an event, and the packet that was decoded from them. */
static struct values values;
static struct packet packet;

static struct packet decode(void)
{
	struct packet_event packet_event;

	memset(&packet_event, 0xff, sizeof(packet_event));
	assert_int_equal(trace_packet_decode(values.value, &packet_event), 0);
	return packet_event.packet;
}

static void assert_address(const uint8_t address[16], const uint8_t *wanted, size_t bytes)
{
	static const uint8_t zero[16];

	assert_memory_equal(address, wanted, bytes);
	assert_memory_equal(address + bytes, zero, 16 - bytes);
}

TEST(tcp_over_ipv4)
{
	values_init(&values, CLASS_QUEUE);
	put_ipv4(&values, IPPROTO_TCP, 252);
	put_tcp(&values, "ipv4", 796852315);
	packet = decode();
	assert_int_equal(packet.known, PACKET_NETWORK | PACKET_TRANSPORT);
	assert_int_equal(packet.family, 4);
	assert_int_equal(packet.protocol, IPPROTO_TCP);
	assert_address(packet.src, (const uint8_t[]){10, 0, 0, 1}, 4);
	assert_address(packet.dst, (const uint8_t[]){10, 0, 0, 2}, 4);
	assert_int_equal(packet.id, 4711);
	assert_int_equal(packet.length, 252);
	assert_int_equal(packet.fragment, 0);
	assert_int_equal(packet.sport, 39302);
	assert_int_equal(packet.dport, 7001);
	assert_int_equal(packet.seq, 796852315);
	assert_int_equal(packet.ack, 4000000000);
	assert_int_equal(packet.flags, 0x18);
	assert_int_equal(packet.window, 501);
	assert_int_equal(packet.payload, 252 - 20 - 32);
	assert_int_equal(packet.udp_length, 0);
}

/* Lengths that cannot be are no huge payload. */
TEST(a_payload_is_never_negative)
{
	values_init(&values, CLASS_QUEUE);
	put_ipv4(&values, IPPROTO_TCP, 52);
	put_tcp(&values, "ipv4", 1);
	assert_int_equal(decode().payload, 0);
	put_number(&values, "tot_len", 30);
	assert_int_equal(decode().payload, 0);
	put_number(&values, "tot_len", 0);
	assert_int_equal(decode().payload, 0);
}

TEST(udp_over_ipv4)
{
	values_init(&values, CLASS_RECEIVE);
	put_ipv4(&values, IPPROTO_UDP, 128);
	put_number(&values, "ipv4.transport_header.udp.source_port", 53);
	put_number(&values, "ipv4.transport_header.udp.dest_port", 40000);
	put_number(&values, "ipv4.transport_header.udp.len", 108);
	packet = decode();
	assert_int_equal(packet.known, PACKET_NETWORK | PACKET_TRANSPORT);
	assert_int_equal(packet.protocol, IPPROTO_UDP);
	assert_int_equal(packet.sport, 53);
	assert_int_equal(packet.dport, 40000);
	assert_int_equal(packet.udp_length, 108);
	assert_int_equal(packet.seq, 0);
}

TEST(icmp_over_ipv4)
{
	values_init(&values, CLASS_QUEUE);
	put_ipv4(&values, IPPROTO_ICMP, 84);
	put_number(&values, "ipv4.transport_header.icmp.type", 8);
	put_number(&values, "ipv4.transport_header.icmp.code", 1);
	put_number(&values, "ipv4.transport_header.icmp.gateway", 0x12340007);
	packet = decode();
	assert_int_equal(packet.known, PACKET_NETWORK | PACKET_TRANSPORT);
	assert_int_equal(packet.protocol, IPPROTO_ICMP);
	assert_int_equal(packet.sport, 0x0801);
	assert_int_equal(packet.seq, 0x12340007);
}

/* A part of a datagram: what stands where a header would be is none. */
TEST(fragments_have_no_transport)
{
	values_init(&values, CLASS_QUEUE);
	put_ipv4(&values, IPPROTO_UDP, 1500);
	put_number(&values, "ipv4.transport_header.udp.source_port", 53);
	put_number(&values, "frag_off", 0x2000);
	packet = decode();
	assert_int_equal(packet.known, PACKET_NETWORK | PACKET_TRANSPORT);
	assert_int_equal(packet.fragment, 0x2000);
	put_number(&values, "frag_off", 0x20b9);
	packet = decode();
	assert_int_equal(packet.known, PACKET_NETWORK);
	assert_int_equal(packet.fragment, 0x20b9);
	assert_int_equal(packet.sport, 0);
}

TEST(other_protocols_are_known_by_their_network_part)
{
	values_init(&values, CLASS_QUEUE);
	put_ipv4(&values, 132, 100);
	packet = decode();
	assert_int_equal(packet.known, PACKET_NETWORK);
	assert_int_equal(packet.protocol, 132);
	assert_int_equal(packet.id, 4711);
}

/* fe80::102 and fe80::103, as 16-bit words as LTTng has them. */
TEST(tcp_over_ipv6)
{
	static const uint8_t source[16] = {0xfe, 0x80, [14] = 1, [15] = 2};
	static const uint8_t target[16] = {0xfe, 0x80, [14] = 1, [15] = 3};

	values_init(&values, CLASS_RECEIVE);
	put_array_of(&values, "ipv6.saddr", 2, ARRAY(0xfe80, 0, 0, 0, 0, 0, 0, 0x102));
	put_array_of(&values, "ipv6.daddr", 2, ARRAY(0xfe80, 0, 0, 0, 0, 0, 0, 0x103));
	put_number(&values, "payload_len", 132);
	put_array(&values, "flow_lbl", ARRAY(0xfb, 0x12, 0x34));
	put_number(&values, "nexthdr", IPPROTO_TCP);
	put_tcp(&values, "ipv6", 7);
	packet = decode();
	assert_int_equal(packet.known, PACKET_NETWORK | PACKET_TRANSPORT);
	assert_int_equal(packet.family, 6);
	assert_address(packet.src, source, 16);
	assert_address(packet.dst, target, 16);
	assert_int_equal(packet.id, 0xb1234);
	assert_int_equal(packet.length, 132);
	assert_int_equal(packet.seq, 7);
	assert_int_equal(packet.payload, 100);
	put_number(&values, "flow_lbl", 0xab1234);
	assert_int_equal(decode().id, 0xb1234);
	assert_int_equal(decode().protocol, IPPROTO_TCP);
}

static void assert_no_packet(void)
{
	struct packet_event packet_event;

	assert_int_equal(trace_packet_decode(values.value, &packet_event), -1);
}

TEST(without_addresses_it_is_no_packet)
{
	static const uint64_t zeros[16];

	values_init(&values, CLASS_RECEIVE);
	assert_no_packet();
	put_ipv4(&values, IPPROTO_TCP, 100);
	put_number(&values, "ipv4.saddr", 1);
	assert_no_packet();
	/* Arrays of other lengths than an address can have. */
	for (unsigned count = 0; count <= 40; count++) {
		values_init(&values, CLASS_RECEIVE);
		put_array(&values, "ipv4.saddr", zeros, count);
		put_array(&values, "ipv4.daddr", zeros, 4);
		if (count != 4)
			assert_no_packet();
		values_init(&values, CLASS_RECEIVE);
		put_array(&values, "ipv6.saddr", zeros, 16);
		put_array(&values, "ipv6.daddr", zeros, count);
		if (count != 16)
			assert_no_packet();
	}
}

TEST(sockets_tell_the_transport_part)
{
	values_init(&values, CLASS_SOCKET_OUT);
	assert_int_equal(trace_socket_decode(values.value, &packet), -1);
	put_number(&values, "window", 501);
	put_signed(&values, "ack_seq", -1);
	put_number(&values, "flags", 0x10);
	/* The whole name is also the end of another's. */
	assert_string_equal(values.wanted->field[0], "seq");
	values.value[0] = (struct cell){.type = CELL_INTEGER, .integer = 5};
	assert_int_equal(trace_socket_decode(values.value, &packet), 0);
	assert_int_equal(packet.known, PACKET_TRANSPORT);
	assert_int_equal(packet.protocol, IPPROTO_TCP);
	assert_int_equal(packet.seq, 5);
	assert_int_equal(packet.ack, UINT32_MAX);
	assert_int_equal(packet.window, 501);
	assert_int_equal(packet.flags, 0x10);
	assert_int_equal(packet.family, 0);
}

/* As a word of the header in network order, and as the addons of 2013 wrote it. */
TEST(flags_of_sockets_have_two_layouts)
{
	static const struct {
		uint16_t word, old;
		uint8_t flags;
	} flags[] = {
	    {0xa002, 0x400a, 0x02}, /* SYN */
	    {0xa012, 0x480a, 0x12}, /* SYN ACK */
	    {0x8010, 0x0808, 0x10}, /* ACK */
	    {0x8018, 0x1808, 0x18}, /* ACK PSH */
	    {0x5011, 0x8805, 0x11}, /* ACK FIN */
	    {0x5004, 0x2005, 0x04}, /* RST */
	    {0xf019, 0x980f, 0x19}, /* ACK PSH FIN */
	    {0xa0c2, 0x430a, 0xc2}, /* SYN ECE CWR */
	};

	for (size_t i = 0; i < 2 * sizeof(flags) / sizeof(*flags); i++) {
		values_init(&values, CLASS_SOCKET_IN);
		values.value[0] = (struct cell){.type = CELL_INTEGER, .integer = 5};
		put_number(&values, "flags",
			   i % 2 ? flags[i / 2].old : flags[i / 2].word);
		assert_int_equal(trace_socket_decode(values.value, &packet), 0);
		assert_int_equal(packet.flags, flags[i / 2].flags);
	}
}
