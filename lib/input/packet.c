/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet.h"

#include <netinet/in.h>
#include <string.h>

bool packet_equal(const struct packet *a, const struct packet *b)
{
	return a->known == b->known && a->family == b->family &&
	       a->protocol == b->protocol && a->flags == b->flags && a->id == b->id &&
	       a->length == b->length && a->sport == b->sport && a->dport == b->dport &&
	       a->window == b->window && a->udp_length == b->udp_length &&
	       a->fragment == b->fragment && a->seq == b->seq && a->ack == b->ack &&
	       memcmp(a->src, b->src, sizeof(a->src)) == 0 &&
	       memcmp(a->dst, b->dst, sizeof(a->dst)) == 0;
}

__extension__ typedef unsigned __int128 wide;

/* Both halves of a 128-bit product, as in wyhash (Wang Yi 2019). */
static uint64_t fold(uint64_t a, uint64_t b)
{
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* The finalizer of splitmix64 (Steele, Lea and Flood 2014) as a mixing step. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash ^= value + 0x9e3779b97f4a7c15u;
	hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
	hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
	return hash ^ (hash >> 31);
}

static uint64_t hash_address(const uint8_t address[16], uint64_t a, uint64_t b)
{
	uint64_t half[2];

	memcpy(half, address, sizeof(half));
	return fold(half[0] ^ a, half[1] ^ b);
}

uint64_t packet_hash_transport(const struct packet *packet)
{
	uint64_t hash = mix(packet->protocol, (uint64_t)packet->seq << 32 | packet->ack);

	return mix(hash, (uint64_t)packet->window << 8 | packet->flags);
}

uint64_t packet_hash(const struct packet *packet)
{
	uint64_t numbers = (uint64_t)packet->seq << 32 | packet->ack;
	uint64_t kind = (uint64_t)packet->window << 48 | (uint64_t)packet->flags << 40 |
			(uint64_t)packet->protocol << 32 | packet->id;
	uint64_t ports = (uint64_t)packet->length << 32 | (uint64_t)packet->sport << 16 |
			 packet->dport;
	uint64_t rest = (uint64_t)packet->udp_length << 32 |
			(uint64_t)packet->fragment << 16 | (uint64_t)packet->family << 8 |
			packet->known;
	uint64_t hash = fold(numbers ^ 0x243f6a8885a308d3u, kind ^ 0x13198a2e03707344u);

	/* Any odd-looking numbers would do: these are pi's. */
	hash ^= fold(ports ^ 0xa4093822299f31d0u, rest ^ 0x082efa98ec4e6c89u);
	hash ^= hash_address(packet->src, 0x452821e638d01377u, 0xbe5466cf34e90c6cu);
	hash ^= hash_address(packet->dst, 0xc0ac29b7c97c50ddu, 0x3f84d5b5b5470917u);
	return mix(0, hash);
}

bool packet_is_local(const struct packet *packet)
{
	static const uint8_t loopback6[16] = {[15] = 1};

	if (!(packet->known & PACKET_NETWORK))
		return false;
	if (memcmp(packet->src, packet->dst, sizeof(packet->src)) == 0)
		return true;
	if (packet->family == 4)
		return packet->src[0] == 127 || packet->dst[0] == 127;
	return memcmp(packet->src, loopback6, 16) == 0 ||
	       memcmp(packet->dst, loopback6, 16) == 0;
}

bool packet_is_to_many(const struct packet *packet)
{
	static const uint8_t broadcast[4] = {255, 255, 255, 255};

	if (packet->family == 6)
		return packet->dst[0] == 0xff;
	return packet->dst[0] >> 4 == 0xe || memcmp(packet->dst, broadcast, 4) == 0;
}

bool packet_is_anonymous(const struct packet *packet)
{
	static const uint8_t nobody[16];

	return packet->known & PACKET_NETWORK &&
	       memcmp(packet->src, nobody, sizeof(nobody)) == 0;
}

const char *packet_protocol_name(const struct packet *packet)
{
	switch (packet->protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_ICMP:
		return "icmp";
	case IPPROTO_ICMPV6:
		return "icmp6";
	default:
		return NULL;
	}
}
