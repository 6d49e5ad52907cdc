/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_INPUT_PACKET_H
#define CT_INPUT_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/nsec.h"

/*
 * A network packet as both hosts see it: the fields that are the same at the
 * sender and at the receiver. Never the checksum (offload fills it in late),
 * the TTL, or a kernel pointer. All numbers in host byte order; what the
 * source does not record is 0 and not in `known`.
 */
enum packet_known {
	PACKET_NETWORK = 1,   /* family, addresses, id or flow label, length */
	PACKET_TRANSPORT = 2, /* ports or ICMP fields, TCP numbers */
};

enum {
	PACKET_DECLARED = 1, /* the family of a declared message (input/declared.h), */
	PACKET_NO_PROTOCOL = 255, /* and its protocol, which IP reserves */
	PACKET_COUNTED = 1,       /* flag: the key says nothing of the packet's place */
	PACKET_ASKS = 2,          /* flag: another packet can answer this one */
	PACKET_ANSWERS = 4,       /* flag: it answers a packet of the same key */
	PACKET_NAME_MOST = 16,    /* bytes of its protocol's name */
};

struct packet {
	uint8_t known;    /* enum packet_known, or-ed */
	uint8_t family;   /* 4, 6, or PACKET_DECLARED: `dst` is the name of the protocol,
			     and id, length, seq and ack are a hash of the key */
	uint8_t protocol; /* IPPROTO_TCP, _UDP, _ICMP, _ICMPV6, ... */
	uint8_t flags;    /* TCP: FIN 1 ... CWR 128 */
	uint8_t src[16];  /* IPv4 in the first four bytes, the rest 0 */
	uint8_t dst[16];
	uint32_t id;           /* IPv4 identification or IPv6 flow label */
	uint32_t length;       /* IPv4 total length or IPv6 payload length */
	uint16_t sport, dport; /* TCP, UDP; ICMP: type << 8 | code, 0 */
	uint16_t window;       /* TCP */
	uint16_t udp_length;   /* UDP */
	uint16_t fragment;     /* IPv4: offset in 8 bytes | 0x2000 if more follow */
	uint16_t zero;         /* what is before the payload is compared as bytes */
	uint32_t seq;     /* TCP; ICMP: echo id << 16 | sequence; UDP without an id in a
			     capture: a hash of its first data, or 0 */
	uint32_t ack;     /* TCP */
	uint32_t payload; /* TCP: bytes of data, headers not counted */
};

/* Addresses and ports of a packet that were translated on its way, as its sender saw it.
 */
struct packet_names {
	bool is_translated; /* the rest is set */
	uint8_t src[16], dst[16];
	uint16_t sport, dport;
};

/*
 * A packet event: one packet as one host sent or received it.
 *
 * A message bounds the clocks because it is received after it was sent. So the time of a
 * send is the latest at which the packet had certainly not left, and that of a receive
 * the earliest at which it had certainly arrived.
 */
struct packet_event {
	struct packet packet;
	bool received;
	bool is_captured; /* from a capture, which may contain a packet several times */
	uint8_t hops;     /* IPv4 time to live or IPv6 hop limit; 0 if not recorded */
	nsec_t ns;        /* local time; for merged data, of its first byte */
	/*
	 * For a receive, when all its data had arrived. For a send, when the driver had
	 * certainly received it; NSEC_MAX if unknown.
	 */
	nsec_t whole_ns;
	uint64_t hash; /* packet_hash() of the packet, or 0 if not computed yet */
	/*
	 * The time of the event itself; 0 if equal to `ns`. It gives the order in which a
	 * source saw one packet, while the times above are moved to the safe side.
	 */
	nsec_t event_ns;
	/*
	 * The ordinal of the event or captured packet, as in struct trace_event. For a
	 * send it is that of net_dev_queue, whichever event gave its time.
	 */
	uint64_t ordinal;
	uint32_t stream;
	uint32_t device; /* a number for the network device within the source */
};

/* Return the names of a packet if they are recorded and were translated until it was
 * received; otherwise is_translated is false. */
struct packet_names packet_names_sent(const struct packet *sent,
				      const struct packet *received);

/* Return true if two packet events are of the same packet, as far as both record it. */
bool packet_equal(const struct packet *a, const struct packet *b);

/*
 * Return true if a packet is sent to a broadcast or multicast address, or comes from the
 * unspecified one.
 */
bool packet_is_to_many(const struct packet *packet);
bool packet_is_anonymous(const struct packet *packet);

/*
 * Return true if the sender will not soon give the same identity to another packet: the
 * packet has an IPv4 identification, or uses up TCP sequence numbers.
 */
bool packet_is_numbered(const struct packet *packet);

/* Return a hash of the whole identity, or of the part that address translation keeps. */
uint64_t packet_hash(const struct packet *packet);
uint64_t packet_hash_transport(const struct packet *packet);

/*
 * Return true if a packet is of the loopback interface and so cannot have left its host.
 */
bool packet_is_local(const struct packet *packet);

/* Return "tcp", "udp", "icmp", "icmp6", or NULL for other protocols. */
const char *packet_protocol_name(const struct packet *packet);

/* Return true if this can be the name of a declared message: letters, digits, '.', '_'
 * and '-', not more of them than PACKET_NAME_MOST. */
bool packet_name_is_valid(const char *name);

static inline bool packet_is_declared(const struct packet *packet)
{
	return packet->family == PACKET_DECLARED;
}

/* Set the identity of a declared message by the hash of its key. */
static inline void packet_set_key(struct packet *packet, const uint64_t hash[2])
{
	packet->id = (uint32_t)hash[0];
	packet->length = (uint32_t)(hash[0] >> 32);
	packet->seq = (uint32_t)hash[1];
	packet->ack = (uint32_t)(hash[1] >> 32);
}

static inline void packet_get_key(const struct packet *packet, uint64_t hash[2])
{
	hash[0] = (uint64_t)packet->length << 32 | packet->id;
	hash[1] = (uint64_t)packet->ack << 32 | packet->seq;
}

#endif
