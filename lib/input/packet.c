/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/packet.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#include "base/hash.h"

/*
 * 64-bit words of the identity: all members except the payload, which the others
 * determine.
 */
enum { WORDS = 8 };

_Static_assert(offsetof(struct packet, payload) == WORDS * sizeof(uint64_t),
	       "a packet has a gap");

bool packet_equal(const struct packet *a, const struct packet *b)
{
	return memcmp(a, b, offsetof(struct packet, payload)) == 0;
}

struct packet_names packet_names_sent(const struct packet *sent,
				      const struct packet *received)
{
	struct packet_names names = {.sport = sent->sport, .dport = sent->dport};

	if (!(sent->known & received->known & PACKET_NETWORK) ||
	    sent->family != received->family)
		return (struct packet_names){.is_translated = false};
	if ((sent->known & received->known & PACKET_TRANSPORT) == 0) {
		names.sport = received->sport;
		names.dport = received->dport;
	}
	memcpy(names.src, sent->src, sizeof(names.src));
	memcpy(names.dst, sent->dst, sizeof(names.dst));
	names.is_translated = memcmp(names.src, received->src, sizeof(names.src)) != 0 ||
			      memcmp(names.dst, received->dst, sizeof(names.dst)) != 0 ||
			      names.sport != received->sport ||
			      names.dport != received->dport;
	return names;
}

__extension__ typedef unsigned __int128 wide;

/* Return both halves of a 128-bit product, xor-ed, as in wyhash (Wang Yi 2019). */
static uint64_t fold_product(uint64_t a, uint64_t b)
{
	wide product = (wide)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t mix_hash(uint64_t hash, uint64_t value)
{
	return hash_mix(hash ^ (value + 0x9e3779b97f4a7c15u));
}

uint64_t packet_hash_transport(const struct packet *packet)
{
	uint64_t hash =
	    mix_hash(packet->protocol, (uint64_t)packet->seq << 32 | packet->ack);

	return mix_hash(hash, (uint64_t)packet->window << 8 | packet->flags);
}

uint64_t packet_hash(const struct packet *packet)
{
	/* Arbitrary odd numbers: digits of pi. */
	static const uint64_t odd[WORDS] = {0x243f6a8885a308d3u, 0x13198a2e03707344u,
					    0xa4093822299f31d0u, 0x082efa98ec4e6c89u,
					    0x452821e638d01377u, 0xbe5466cf34e90c6cu,
					    0xc0ac29b7c97c50ddu, 0x3f84d5b5b5470917u};
	uint64_t word[WORDS], hash = 0;

	memcpy(word, packet, sizeof(word));
	for (int i = 0; i < WORDS; i += 2)
		hash ^= fold_product(word[i] ^ odd[i], word[i + 1] ^ odd[i + 1]);
	return mix_hash(0, hash);
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

bool packet_is_numbered(const struct packet *packet)
{
	enum { FIN = 1, SYN = 2 };

	return (packet->family == 4 && packet->id) ||
	       (packet->protocol == IPPROTO_TCP &&
		(packet->payload || packet->flags & (FIN | SYN)));
}

bool packet_name_is_valid(const char *name)
{
	size_t length =
	    strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
			 "0123456789._-");

	return length && length <= PACKET_NAME_MOST && !name[length];
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
