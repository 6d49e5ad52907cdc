/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/resends.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/search.h"

enum { FLAG_SYN = 2 };

/* A packet without identification that follows within this time is the same one at
 * another device: a retransmission takes at least a round trip, usually 200 ms. */
#define SAME_PACKET NSEC_PER_MSEC

/* A send that contains bytes not sent before. */
struct first_send {
	struct sent_place place;
	uint32_t begin, end; /* sequence numbers */
	uint32_t id;
	uint8_t hops;
};

struct sent_flow {
	struct first_send *send; /* by ascending end */
	size_t count, capacity;
};

struct resends {
	struct intmap index; /* index in `flow`, by clock, addresses and ports */
	struct sent_flow *flow;
	size_t flows, capacity;
};

static const struct sent_place none = {.ns = NSEC_MAX};

struct resends *resends_new(void)
{
	return mem_zalloc(sizeof(struct resends));
}

static struct sent_flow *find_flow(struct resends *resends, uint32_t clock_index,
				   const struct packet *packet)
{
	uint64_t ports = (uint64_t)packet->sport << 16 | packet->dport;
	uint64_t hash = hash_mix((uint64_t)clock_index << 32 | ports), part;
	struct sent_flow *flow;
	int64_t at;

	for (size_t i = 0; i < sizeof(packet->src); i += sizeof(part)) {
		memcpy(&part, packet->src + i, sizeof(part));
		hash = hash_mix(hash ^ part);
		memcpy(&part, packet->dst + i, sizeof(part));
		hash = hash_mix(hash ^ part);
	}
	if (intmap_get(&resends->index, hash, &at))
		return &resends->flow[at];
	intmap_put(&resends->index, hash, (int64_t)resends->flows);
	flow = MEM_NEXT(resends->flow, resends->flows, resends->capacity);
	*flow = (struct sent_flow){.count = 0};
	return flow;
}

/* Return true if `a` is before `b`. Sequence numbers wrap around (RFC 793, 3.3). */
static bool is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static void add_first_send(struct sent_flow *flow, const struct first_send *send)
{
	const size_t half = RESENDS_REMEMBERED / 2;

	if (flow->count == RESENDS_REMEMBERED) {
		flow->count -= half;
		memmove(flow->send, flow->send + half, flow->count * sizeof(*send));
	}
	*MEM_NEXT(flow->send, flow->count, flow->capacity) = *send;
}

/*
 * Return true if the send is the packet of the first one, seen at another device of the
 * host.
 */
static bool is_same_packet(const struct first_send *first, const struct first_send *send,
			   const struct packet *packet)
{
	if (packet->family == 4 && (packet->id || first->id))
		return packet->id == first->id;
	return send->hops < first->hops || send->place.ns - first->place.ns < SAME_PACKET;
}

/* Return the send that first contained a byte, or NULL if it is unknown. */
static const struct first_send *find_first(const struct sent_flow *flow, uint32_t byte)
{
	size_t at = PARTITION_POINT(flow->count, i, !is_before(byte, flow->send[i].end));

	return at < flow->count && !is_before(byte, flow->send[at].begin)
		   ? &flow->send[at]
		   : NULL;
}

struct sent_place resends_add(struct resends *resends, uint32_t clock_index,
			      uint32_t trace_index, const struct packet_event *event)
{
	const struct packet *packet = &event->packet;
	bool is_syn = packet->flags & FLAG_SYN;
	const struct first_send send = {
	    .place = {trace_index, event->stream, event->ordinal, event->ns},
	    .begin = packet->seq,
	    .end = packet->seq + packet->payload + is_syn,
	    .id = packet->family == 4 ? packet->id : 0,
	    .hops = event->hops,
	};
	const struct first_send *found;
	struct sent_place first = none;
	struct sent_flow *flow;

	if (packet->protocol != IPPROTO_TCP || send.end == packet->seq ||
	    packet->known != (PACKET_NETWORK | PACKET_TRANSPORT))
		return none;
	flow = find_flow(resends, clock_index, packet);
	/* The ports may be those of an older connection. */
	if (is_syn && flow->count && flow->send[0].begin != packet->seq)
		flow->count = 0;
	found = find_first(flow, packet->seq);
	if (found && found->place.ns < send.place.ns &&
	    !is_same_packet(found, &send, packet))
		first = found->place;
	if (!flow->count || is_before(flow->send[flow->count - 1].end, send.end))
		add_first_send(flow, &send);
	return first;
}

void resends_free(struct resends *resends)
{
	if (!resends)
		return;
	for (size_t i = 0; i < resends->flows; i++)
		free(resends->flow[i].send);
	free(resends->flow);
	intmap_clear(&resends->index);
	free(resends);
}
