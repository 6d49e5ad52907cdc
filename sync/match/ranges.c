/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/private.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

/*
 * TCP data by sequence ranges, for packets that segmentation offload cut up
 * after they were recorded, or receive offload merged before. The first send
 * that holds a byte came before every receive of that byte by other hosts, on the
 * same level (see path.c) or on lower ones, if the sender had not received it before.
 */
struct range {
	struct entry *entry;
	uint32_t seen; /* index in the entry */
	uint64_t flow; /* hash of addresses and ports */
	uint32_t source;
	bool received, is_used;
	uint8_t hops;       /* 0 where that is not known of all the flow */
	nsec_t first_ns;    /* when, by the source's clock */
	int64_t begin, end; /* of the bytes, since the flow's first send */
};

/* Ranges of one source on one level and side, by begin. */
struct lane {
	struct range *range;
	size_t count;
};

struct flow {
	struct matcher *matcher;
	struct lane *lane; /* down the levels; sends before receives; by source */
	size_t lanes, room;
	bool is_mixed; /* a source has both sides on one level */
};

enum { LOOK_BACK = 64 }; /* sends that may cover a byte, by begin */

static uint64_t flow_of(const struct packet *packet)
{
	struct packet key = {.known = PACKET_NETWORK | PACKET_TRANSPORT,
			     .family = packet->family,
			     .protocol = packet->protocol,
			     .sport = packet->sport,
			     .dport = packet->dport};

	memcpy(key.src, packet->src, sizeof(key.src));
	memcpy(key.dst, packet->dst, sizeof(key.dst));
	return packet_hash(&key);
}

static int by_flow(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	return (p->flow > q->flow) - (p->flow < q->flow);
}

static int by_lane(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->hops != q->hops)
		return p->hops > q->hops ? -1 : 1;
	if (p->received != q->received)
		return p->received ? 1 : -1;
	if (p->source != q->source)
		return p->source < q->source ? -1 : 1;
	if (p->first_ns != q->first_ns)
		return p->first_ns < q->first_ns ? -1 : 1;
	return (p->begin > q->begin) - (p->begin < q->begin);
}

static int by_begin(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->begin != q->begin)
		return p->begin < q->begin ? -1 : 1;
	return (p->first_ns > q->first_ns) - (p->first_ns < q->first_ns);
}

static bool is_data(const struct packet *packet)
{
	return packet->protocol == IPPROTO_TCP && packet->payload &&
	       packet->known == (PACKET_NETWORK | PACKET_TRANSPORT);
}

/* Ranges of everything that waits and could be part of a bigger packet, by flow. */
static size_t gather(struct matcher *matcher, struct range **ranges)
{
	struct entry **waiting;
	size_t n = match_waiting(matcher, &waiting), count = 0, room = 0;

	*ranges = NULL;
	for (size_t i = 0; i < n; i++) {
		struct packet *packet = &waiting[i]->packet;

		for (uint32_t k = 0; is_data(packet) && k < waiting[i]->seens; k++) {
			struct seen *seen = &entry_seen(waiting[i])[k];

			*ranges = mem_grow(*ranges, count, &room, sizeof(**ranges));
			(*ranges)[count++] = (struct range){
			    .entry = waiting[i],
			    .seen = k,
			    .flow = flow_of(packet),
			    .source = seen->source,
			    .received = seen->received,
			    .hops = seen->hops,
			    .is_used = seen->used,
			    .first_ns = seen->first_ns,
			    .begin = packet->seq,
			};
		}
	}
	free(waiting);
	if (count)
		qsort(*ranges, count, sizeof(**ranges), by_flow);
	return count;
}

/* Count sequence numbers on past 2^32, in the order of the source's clock. */
static void unwrap(struct range *range, size_t n, uint32_t base)
{
	uint32_t last = base;
	int64_t at = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t seq = range[i].entry->packet.seq;

		at += (int32_t)(seq - last);
		last = seq;
		range[i].begin = at;
		range[i].end = at + range[i].entry->packet.payload;
	}
}

/* The first of a lane that begins at or after a byte. */
static size_t begin_after(const struct lane *lane, int64_t byte)
{
	return FIRST_NOT(lane->count, i, lane->range[i].begin < byte);
}

/* The earliest, or the latest, of a lane that holds the byte; or NULL. */
static struct range *holder(const struct lane *lane, int64_t byte, bool latest)
{
	struct range *best = NULL;
	size_t low = begin_after(lane, byte + 1);

	for (size_t back = 0; low > 0 && back < LOOK_BACK; back++) {
		struct range *at = &lane->range[--low];

		if (at->end > byte && (!best || (latest ? at->first_ns > best->first_ns
							: at->first_ns < best->first_ns)))
			best = at;
	}
	return best;
}

static nsec_t holder_ns(const struct lane *lane, int64_t byte, bool latest)
{
	const struct range *range = lane ? holder(lane, byte, latest) : NULL;

	if (range)
		return range->first_ns;
	return latest ? NSEC_MIN : NSEC_MAX;
}

/* A source's lane on a level, or NULL. */
static const struct lane *find_lane(const struct flow *flow, uint32_t source,
				    uint8_t hops, bool received)
{
	for (size_t i = 0; i < flow->lanes; i++) {
		const struct range *range = flow->lane[i].range;

		if (range->source == source && range->hops == hops &&
		    range->received == received)
			return &flow->lane[i];
	}
	return NULL;
}

/* Whether the source of a lane of sends had sent the byte before it received it. */
static bool begins_sent(const struct flow *flow, const struct lane *sends, int64_t byte)
{
	const struct lane *receives =
	    find_lane(flow, sends->range->source, sends->range->hops, true);

	return holder_ns(sends, byte, false) < holder_ns(receives, byte, false);
}

/* Whether what a source saw last of the byte, on a level, was a send. */
static bool ends_sent(const struct flow *flow, const struct range *at, int64_t byte)
{
	return holder_ns(find_lane(flow, at->source, at->hops, false), byte, true) >
	       holder_ns(find_lane(flow, at->source, at->hops, true), byte, true);
}

/* Whether the level, too, begins in another host with that byte, or seems so. */
static bool is_contested(const struct flow *flow, const struct lane *sends, int64_t byte)
{
	for (size_t i = 0; i < flow->lanes; i++) {
		const struct lane *lane = &flow->lane[i];

		if (!lane->range->received && lane->range->hops == sends->range->hops &&
		    !match_is_one_host(flow->matcher, lane->range->source,
				       sends->range->source) &&
		    holder(lane, byte, false) && begins_sent(flow, lane, byte))
			return true;
	}
	return false;
}

/* As path.c decides of whole packets: whether a byte surely went from here to there. */
static bool is_way(const struct flow *flow, const struct lane *sends,
		   const struct range *receive, int64_t byte)
{
	const struct lane *others;

	if (!flow->is_mixed)
		return true;
	if (!begins_sent(flow, sends, byte) || is_contested(flow, sends, byte))
		return false;
	if (receive->hops != sends->range->hops)
		return true;
	others = find_lane(flow, receive->source, receive->hops, false);
	return holder_ns(others, byte, false) > receive->first_ns &&
	       (ends_sent(flow, sends->range, byte) || !ends_sent(flow, receive, byte));
}

static struct match_side side_of(const struct range *range, bool whole)
{
	struct seen *seen = &entry_seen(range->entry)[range->seen];

	return (struct match_side){range->entry, seen, whole ? seen->whole_ns : seen->ns,
				   0};
}

static void emit(const struct flow *flow, const struct range *send,
		 const struct range *receive, bool whole)
{
	struct match_side from = side_of(send, false), to = side_of(receive, whole);

	match_emit(flow->matcher, &from, &to);
}

/*
 * A receive of merged data: its first byte was sent before it began to come,
 * and every other send that was first with its bytes before it was whole.
 */
static void match_receive(const struct flow *flow, const struct lane *sends,
			  const struct range *receive)
{
	struct range *head = holder(sends, receive->begin, false);

	if (head && is_way(flow, sends, receive, receive->begin))
		emit(flow, head, receive, false);
	for (size_t i = begin_after(sends, receive->begin + 1);
	     i < sends->count && sends->range[i].begin < receive->end; i++) {
		struct range *send = &sends->range[i];

		if (send != head && holder(sends, send->begin, false) == send &&
		    is_way(flow, sends, receive, send->begin))
			emit(flow, send, receive, true);
	}
}

static bool shares_level(const struct flow *flow, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < flow->lanes; i++) {
		const struct range *range = flow->lane[i].range;

		if (range->received && range->source == to &&
		    find_lane(flow, from, range->hops, false))
			return true;
	}
	return false;
}

/*
 * Whether messages can be made of these: both on one level or, where the sources share
 * none, on the two levels next to each other.
 */
static bool is_next(const struct flow *flow, const struct lane *sends,
		    const struct lane *receives)
{
	const struct range *from = sends->range, *to = receives->range;

	if (match_is_one_host(flow->matcher, from->source, to->source))
		return false;
	if (from->hops == to->hops)
		return true;
	if (from->hops < to->hops || shares_level(flow, from->source, to->source))
		return false;
	for (unsigned hops = to->hops + 1u; hops < from->hops; hops++)
		if (find_lane(flow, from->source, (uint8_t)hops, false) ||
		    find_lane(flow, to->source, (uint8_t)hops, true))
			return false;
	return true;
}

static void match_lanes(const struct flow *flow, const struct lane *sends,
			const struct lane *receives)
{
	/* What was used was looked at before, and has its messages. */
	for (size_t i = 0; i < receives->count; i++)
		if (!receives->range[i].is_used)
			match_receive(flow, sends, &receives->range[i]);
}

/* The lanes of a flow's ranges; -1 where not both sides are there. */
static int find_lanes(struct flow *flow, struct range *range, size_t n)
{
	uint32_t base = range->entry->packet.seq;
	size_t count, sends = 0;

	flow->lanes = 0;
	for (size_t i = 0; i < n; i += count) {
		count = 1;
		while (i + count < n && range[i + count].hops == range[i].hops &&
		       range[i + count].received == range[i].received &&
		       range[i + count].source == range[i].source)
			count++;
		sends += !range[i].received;
		flow->lane =
		    mem_grow(flow->lane, flow->lanes, &flow->room, sizeof(*flow->lane));
		flow->lane[flow->lanes++] = (struct lane){range + i, count};
	}
	if (!sends || sends == flow->lanes)
		return -1;
	for (size_t i = 0; i < flow->lanes; i++) {
		unwrap(flow->lane[i].range, flow->lane[i].count, base);
		qsort(flow->lane[i].range, flow->lane[i].count, sizeof(*range), by_begin);
	}
	return 0;
}

static bool is_mixed(const struct flow *flow)
{
	for (size_t i = 0; i < flow->lanes; i++) {
		const struct range *range = flow->lane[i].range;

		if (range->received && find_lane(flow, range->source, range->hops, false))
			return true;
	}
	return false;
}

static void match_flow(struct flow *flow, struct range *range, size_t n)
{
	bool knows_levels = true;

	for (size_t i = 0; i < n; i++)
		knows_levels &= range[i].hops > 0;
	for (size_t i = 0; i < n && !knows_levels; i++)
		range[i].hops = 0;
	qsort(range, n, sizeof(*range), by_lane);
	if (find_lanes(flow, range, n))
		return;
	flow->is_mixed = is_mixed(flow);
	for (size_t i = 0; i < flow->lanes; i++)
		for (size_t k = 0; k < flow->lanes; k++)
			if (!flow->lane[i].range->received &&
			    flow->lane[k].range->received &&
			    is_next(flow, &flow->lane[i], &flow->lane[k]))
				match_lanes(flow, &flow->lane[i], &flow->lane[k]);
}

void match_ranges(struct matcher *matcher)
{
	struct flow flow = {.matcher = matcher};
	struct range *range;
	size_t count = gather(matcher, &range), n;

	for (size_t i = 0; i < count; i += n) {
		n = 1;
		while (i + n < count && range[i + n].flow == range[i].flow)
			n++;
		match_flow(&flow, range + i, n);
	}
	free(flow.lane);
	free(range);
}
