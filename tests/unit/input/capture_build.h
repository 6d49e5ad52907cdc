/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_CAPTURE_BUILD_H
#define CT_TESTS_CAPTURE_BUILD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Frames and captures put together field by field. Hosts have a number: host
 * 7 is 10.0.0.7, fd00::7 and 02:00:00:00:00:07; host 255 is everybody.
 */
enum { EVERYBODY = 255 };

struct bytes {
	size_t count;
	uint8_t data[4096];
};

static inline void put(struct bytes *bytes, const void *data, size_t count)
{
	memcpy(bytes->data + bytes->count, data, count);
	bytes->count += count;
}

static inline void put_zeros(struct bytes *bytes, size_t count)
{
	memset(bytes->data + bytes->count, 0, count);
	bytes->count += count;
}

static inline void put8(struct bytes *bytes, unsigned value)
{
	bytes->data[bytes->count++] = (uint8_t)value;
}

/* Network order. */
static inline void put16(struct bytes *bytes, unsigned value)
{
	put8(bytes, value >> 8);
	put8(bytes, value);
}

static inline void put32(struct bytes *bytes, uint32_t value)
{
	put16(bytes, value >> 16);
	put16(bytes, value);
}

static inline void put_mac(struct bytes *bytes, unsigned host)
{
	static const uint8_t everybody[6] = {255, 255, 255, 255, 255, 255};
	uint8_t mac[6] = {2, 0, 0, 0, 0, (uint8_t)host};

	put(bytes, host == EVERYBODY ? everybody : mac, 6);
}

static inline void put_ethernet(struct bytes *bytes, unsigned from, unsigned to,
				unsigned type)
{
	put_mac(bytes, to);
	put_mac(bytes, from);
	put16(bytes, type);
}

static inline void put_vlan(struct bytes *bytes, unsigned id, unsigned type)
{
	put16(bytes, id);
	put16(bytes, type);
}

static inline void put_cooked(struct bytes *bytes, unsigned packet_type,
			      unsigned hardware, unsigned type)
{
	put16(bytes, packet_type);
	put16(bytes, hardware);
	put16(bytes, 6);
	put_mac(bytes, 9);
	put16(bytes, 0);
	put16(bytes, type);
}

static inline void put_cooked2(struct bytes *bytes, unsigned packet_type, uint32_t device,
			       unsigned type)
{
	put16(bytes, type);
	put16(bytes, 0);
	put32(bytes, device);
	put16(bytes, 1);
	put8(bytes, packet_type);
	put8(bytes, 6);
	put_mac(bytes, 9);
	put16(bytes, 0);
}

static inline void put_address4(struct bytes *bytes, unsigned host)
{
	if (host == EVERYBODY)
		put32(bytes, 0xffffffff);
	else
		put32(bytes, 0x0a000000 + host);
}

/* Differences from a plain IPv4 header; `more` are bytes after it. */
struct ipv4 {
	unsigned from, to, protocol, more;
	unsigned id, fragment, hops, options;
	bool no_length;
};

static inline void put_ipv4(struct bytes *bytes, struct ipv4 ip)
{
	put8(bytes, 0x45 + ip.options / 4);
	put8(bytes, 0);
	put16(bytes, ip.no_length ? 0 : 20 + ip.options + ip.more);
	put16(bytes, ip.id);
	put16(bytes, ip.fragment);
	put8(bytes, ip.hops ? ip.hops : 64);
	put8(bytes, ip.protocol);
	put16(bytes, 0xbeef);
	put_address4(bytes, ip.from);
	put_address4(bytes, ip.to);
	put_zeros(bytes, ip.options);
}

static inline void put_address6(struct bytes *bytes, unsigned host)
{
	put16(bytes, host == EVERYBODY ? 0xff02 : 0xfd00);
	put_zeros(bytes, 13);
	put8(bytes, host == EVERYBODY ? 1 : host);
}

static inline void put_ipv6(struct bytes *bytes, unsigned from, unsigned to,
			    unsigned protocol, unsigned more)
{
	put32(bytes, 0x6 << 28 | 0xfe << 20 | 0xabcde);
	put16(bytes, more);
	put8(bytes, protocol);
	put8(bytes, 64);
	put_address6(bytes, from);
	put_address6(bytes, to);
}

/* 20 bytes: ports 1000 and 2000, flags SYN and CWR, window 0x5678. */
static inline void put_tcp(struct bytes *bytes, uint32_t seq, unsigned checksum)
{
	put16(bytes, 1000);
	put16(bytes, 2000);
	put32(bytes, seq);
	put32(bytes, 0x9abcdef0);
	put8(bytes, 5 << 4 | 1);
	put8(bytes, 0x82);
	put16(bytes, 0x5678);
	put16(bytes, checksum);
	put16(bytes, 0);
}

/* 8 bytes. */
static inline void put_udp(struct bytes *bytes, unsigned data, unsigned checksum)
{
	put16(bytes, 1111);
	put16(bytes, 2222);
	put16(bytes, 8 + data);
	put16(bytes, checksum);
}

/* An IPv4 and TCP packet without data, 40 bytes. */
static inline void put_segment(struct bytes *bytes, unsigned from, unsigned to,
			       uint32_t seq)
{
	put_ipv4(bytes,
		 (struct ipv4){from, to, IPPROTO_TCP, .more = 20, .id = seq & 0xffff});
	put_tcp(bytes, seq, 0x1111);
}

#endif
