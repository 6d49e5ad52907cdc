/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/matcher_private.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"

/* Match waiting entries again: by the bytes they hold, then without addresses, and by
 * bytes again if that reveals flows with translated addresses. */

/* TCP data by sequence ranges, for packets that segmentation offload splits after they
 * were recorded, or that receive offload merged before. The first send of a byte came
 * before every receive of it by other hosts, if the byte took that way, as path.c decides
 * for whole packets. */
struct range {
	struct entry *entry;
	uint64_t flow;   /* hash of addresses and ports */
	nsec_t first_ns; /* when, by the clock */
	int64_t begin;   /* the first of its bytes, since the flow's first send */
	uint32_t length; /* in bytes */
	uint32_t seen;   /* index in the entry */
	uint32_t clock_index;
	bool received, is_used;
	uint8_t hops; /* 0 if unknown for the whole flow */
};

/* The ranges of one clock on one level and side, sorted by start. */
struct lane {
	struct range *range;
	size_t count;
	int64_t longest;     /* length of the longest range, in bytes */
	struct range *first; /* the first range with the current byte, or NULL */
	size_t stop;         /* index of the byte's stop, if `first` is set */
};

struct flow {
	struct matcher *matcher;
	struct lane *lane; /* down the levels; by clock; sends before receives */
	size_t lanes, capacity;
	int64_t byte; /* the byte that matcher->path is for, unless it is empty */
};

enum { LOOK_BACK = 64 }; /* sends, sorted by first byte, that are searched for a byte */

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

void match_learn_translation(struct matcher *matcher, const struct packet *sent,
			     const struct packet *received)
{
	if (sent->protocol == IPPROTO_TCP)
		intmap_put(&matcher->translated, flow_of(received),
			   (int64_t)flow_of(sent));
}

/* Return the hash of a packet's flow as it was sent, as far as translations are known. */
static uint64_t sent_flow_of(const struct matcher *matcher, const struct packet *packet)
{
	uint64_t flow = flow_of(packet);
	int64_t sent;

	return intmap_get(&matcher->translated, flow, &sent) ? (uint64_t)sent : flow;
}

static int by_flow(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	return COMPARE(p->flow, q->flow);
}

static int by_lane(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	return COMPARE(q->hops, p->hops) ?:
	       COMPARE(p->clock_index, q->clock_index) ?:
	       COMPARE(p->received, q->received) ?:
	       COMPARE(p->first_ns, q->first_ns) ?:
	       COMPARE(p->begin, q->begin);
}

static int by_begin(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	return COMPARE(p->begin, q->begin) ?: COMPARE(p->first_ns, q->first_ns);
}

static bool is_data(const struct packet *packet)
{
	return packet->protocol == IPPROTO_TCP && packet->payload &&
	       packet->known == (PACKET_NETWORK | PACKET_TRANSPORT);
}

/* Ranges of everything that waits and could be part of a bigger packet, by flow. */
static size_t gather_ranges(struct matcher *matcher, struct range **ranges)
{
	struct entry *entry = matcher->entries.waiting.oldest;
	size_t count = 0, capacity = 0;

	*ranges = NULL;
	for (; entry; entry = entry->newer) {
		struct packet *packet = &entry->packet;

		for (uint32_t k = 0; is_data(packet) && k < entry->seens; k++) {
			const struct seen *seen = &entry->seen[k];

			*MEM_NEXT(*ranges, count, capacity) = (struct range){
			    .entry = entry,
			    .seen = k,
			    .flow = sent_flow_of(matcher, packet),
			    .clock_index = seen->clock_index,
			    .received = seen->received,
			    .hops = seen->hops,
			    .is_used = seen->used,
			    .first_ns = seen->first_ns,
			    .length = packet->payload,
			};
		}
	}
	SORT(*ranges, count, by_flow);
	return count;
}

/* Count sequence numbers on past 2^32, in the order of the clock. */
static void unwrap_sequence(struct lane *lane, uint32_t base)
{
	struct range *range = lane->range;
	uint32_t last = base;
	int64_t at = 0;

	for (size_t i = 0; i < lane->count; i++) {
		const struct packet *packet = &range[i].entry->packet;

		at += (int32_t)(packet->seq - last);
		last = packet->seq;
		range[i].begin = at;
		if (range[i].length > lane->longest)
			lane->longest = range[i].length;
	}
}

/* The first of a lane that begins at or after a byte. */
static size_t begin_after(const struct lane *lane, int64_t byte)
{
	return PARTITION_POINT(lane->count, i, lane->range[i].begin < byte);
}

/* The earliest of a lane that holds a byte, or NULL, and the latest. */
static struct range *find_covering_range(const struct lane *lane, int64_t byte,
					 struct range **latest)
{
	struct range *first = NULL, *last = NULL;
	size_t low = begin_after(lane, byte + 1);

	for (size_t back = 0; low > 0 && back < LOOK_BACK; back++) {
		struct range *at = &lane->range[--low];

		if (at->begin + lane->longest <= byte)
			break;
		if (at->begin + at->length <= byte)
			continue;
		if (!first || at->first_ns < first->first_ns)
			first = at;
		if (!last || at->first_ns > last->first_ns)
			last = at;
	}
	*latest = last;
	return first;
}

static struct match_side side_of(const struct range *range, bool whole)
{
	struct seen *seen = &range->entry->seen[range->seen];

	return (struct match_side){range->entry, seen, whole ? seen->whole_ns : seen->ns,
				   0};
}

/* The stops of a byte. Packet events are not looked at: they would have to be fetched. */
static void find_stops(struct flow *flow, int64_t byte)
{
	struct path *path = &flow->matcher->path;

	if (path->stops && flow->byte == byte)
		return;
	path->stops = 0;
	flow->byte = byte;
	for (struct lane *lane = flow->lane; lane < flow->lane + flow->lanes; lane++) {
		struct range *last, *first = find_covering_range(lane, byte, &last);

		lane->first = first;
		if (!first)
			continue;
		stop_add(path_stop(path, first->clock_index, first->hops),
			 first->received, first->first_ns, first->first_ns,
			 last->first_ns);
		lane->stop = path->stops - 1;
	}
}

/* Return true if the byte certainly took this way. */
static bool lane_precedes(const struct flow *flow, const struct lane *sends,
			  const struct lane *receives)
{
	const struct stop *stop = flow->matcher->path.stop;

	return sends->first && receives->first &&
	       path_leads(flow->matcher, stop + sends->stop, stop + receives->stop);
}

/*
 * Return the offset in the received data at which the current byte's send begins. Of the
 * clocks of the sending host, use the one that saw the byte in the longest piece,
 * because others may have seen the packets that segmentation offload made from it.
 */
static uint32_t offset_in(const struct flow *flow, const struct lane *sends,
			  const struct range *receive)
{
	int64_t begin = flow->byte;

	for (const struct lane *lane = flow->lane; lane < flow->lane + flow->lanes;
	     lane++)
		if (lane->first && !lane->first->received &&
		    lane->first->hops == sends->first->hops &&
		    match_is_one_host(flow->matcher, lane->first->clock_index,
				      sends->first->clock_index) &&
		    lane->first->begin < begin)
			begin = lane->first->begin;
	return begin > receive->begin ? (uint32_t)(begin - receive->begin) : 0;
}

static void emit_byte_message(const struct flow *flow, const struct range *send,
			      const struct range *receive, bool whole)
{
	struct match_side from = side_of(send, false), to = side_of(receive, whole);

	match_emit(flow->matcher, &from, &to);
}

/* Match a receive of merged data. Its first byte was sent before it began to arrive, and
 * every other first send of its bytes before it was complete. */
static void match_receive(struct flow *flow, const struct lane *sends,
			  const struct lane *receives, const struct range *receive)
{
	struct range *head;

	find_stops(flow, receive->begin);
	head = sends->first;
	flow->matcher->path.offset = 0;
	if (lane_precedes(flow, sends, receives))
		emit_byte_message(flow, head, receive, false);
	for (size_t i = begin_after(sends, receive->begin + 1);
	     i < sends->count && sends->range[i].begin < receive->begin + receive->length;
	     i++) {
		struct range *send = &sends->range[i];

		if (send == head)
			continue;
		find_stops(flow, send->begin);
		if (sends->first != send || !lane_precedes(flow, sends, receives))
			continue;
		flow->matcher->path.offset = offset_in(flow, sends, receive);
		emit_byte_message(flow, send, receive, true);
	}
}

/* From all lanes of sends; what was used was looked at before, and has its messages. */
static void match_lane(struct flow *flow, const struct lane *receives)
{
	const struct range *to = receives->range, *from;

	for (; to < receives->range + receives->count; to++) {
		flow->matcher->path.packet = &to->entry->packet;
		flow->matcher->path.number =
		    entry_number(&flow->matcher->entries, to->entry);
		for (size_t i = 0; i < flow->lanes && !to->is_used; i++) {
			from = flow->lane[i].range;
			if (!from->received && from->hops >= to->hops &&
			    !match_is_one_host(flow->matcher, from->clock_index,
					       to->clock_index))
				match_receive(flow, &flow->lane[i], receives, to);
		}
	}
}

/* Find the lanes of a flow's ranges. Return -1 unless it has both sides. */
static int find_lanes(struct flow *flow, struct range *range, size_t n)
{
	uint32_t base = range->entry->packet.seq;
	size_t count, sends = 0;

	flow->lanes = 0;
	for (size_t i = 0; i < n; i += count) {
		count = 1;
		while (i + count < n && range[i + count].hops == range[i].hops &&
		       range[i + count].received == range[i].received &&
		       range[i + count].clock_index == range[i].clock_index)
			count++;
		sends += !range[i].received;
		*MEM_NEXT(flow->lane, flow->lanes, flow->capacity) =
		    (struct lane){.range = range + i, .count = count};
	}
	if (!sends || sends == flow->lanes)
		return -1;
	for (size_t i = 0; i < flow->lanes; i++) {
		unwrap_sequence(&flow->lane[i], base);
		SORT(flow->lane[i].range, flow->lane[i].count, by_begin);
	}
	return 0;
}

static void match_flow(struct flow *flow, struct range *range, size_t n)
{
	bool knows_levels = true;

	for (size_t i = 0; i < n; i++)
		knows_levels &= range[i].hops > 0;
	for (size_t i = 0; i < n && !knows_levels; i++)
		range[i].hops = 0;
	SORT(range, n, by_lane);
	if (find_lanes(flow, range, n))
		return;
	flow->matcher->path.stops = 0;
	for (size_t k = 0; k < flow->lanes; k++)
		if (flow->lane[k].range->received)
			match_lane(flow, &flow->lane[k]);
}

static void rematch_ranges(struct matcher *matcher)
{
	struct flow flow = {.matcher = matcher};
	AUTOFREE struct range *range = NULL;
	size_t count = gather_ranges(matcher, &range), n;

	matcher->path.is_one_identity = true;
	for (size_t i = 0; i < count; i += n) {
		n = 1;
		while (i + n < count && range[i + n].flow == range[i].flow)
			n++;
		match_flow(&flow, range + i, n);
	}
	free(flow.lane);
}

/* TCP packets by sequence and acknowledgement number, flags and window alone, for
 * addresses that were translated on the way or not recorded on one side. Only packets
 * that passed each place once are used. */
enum { FLAG_RST = 4 }; /* resets carry too little of a number to go by */

struct candidate {
	struct entry *entry;
	uint64_t hash;
};

static int by_hash(const void *a, const void *b)
{
	const struct candidate *p = a, *q = b;

	return COMPARE(p->hash, q->hash);
}

static bool may_be_one(const struct packet *a, const struct packet *b)
{
	return a->seq == b->seq && a->ack == b->ack && a->flags == b->flags &&
	       a->window == b->window &&
	       (!(a->known & b->known & PACKET_NETWORK) || a->payload == b->payload);
}

/* Return true if both saw the packet at one place: it then passed twice. */
static bool is_same_place(const struct seen *a, const struct seen *b)
{
	return a->clock_index == b->clock_index && a->received == b->received &&
	       a->device == b->device && a->hops == b->hops;
}

/* Return true if all that a host saw of an identity is between its send and its receive:
 * a packet on its way within the host, before or after translation. */
static bool stays_inside(struct entry *entry)
{
	const struct seen *seen = entry->seen, *first = seen, *last = seen;

	for (uint32_t i = 1; i < entry->seens; i++) {
		if (seen[i].clock_index != seen->clock_index)
			return false;
		if (seen[i].first_ns < first->first_ns)
			first = &seen[i];
		if (seen[i].last_ns > last->last_ns)
			last = &seen[i];
	}
	return !first->received && last->received;
}

/* More packet events than this with equal numbers are regular traffic, not one packet. */
enum { MOST_SIDES = 64 };

/* The packet events of a group become matcher->side, if all can be of one packet. */
static bool collect_group_sides(struct matcher *matcher, const struct candidate *group,
				size_t n)
{
	bool leaves = false;

	matcher->sides = 0;
	for (size_t i = 0; i < n; i++) {
		struct entry *entry = group[i].entry;

		if (!may_be_one(&group->entry->packet, &entry->packet) ||
		    matcher->sides + entry->seens > MOST_SIDES)
			return false;
		leaves |= !stays_inside(entry);
		for (uint32_t k = 0; k < entry->seens; k++) {
			struct seen *seen = &entry->seen[k];

			if (seen->count > 1 || seen->used)
				return false;
			for (size_t m = 0; m < matcher->sides; m++)
				if (is_same_place(matcher->side[m].seen, seen))
					return false;
			*MEM_NEXT(matcher->side, matcher->sides, matcher->side_capacity) =
			    (struct match_side){entry, seen, seen->ns, 0};
		}
	}
	return leaves;
}

static void rematch_transport(struct matcher *matcher)
{
	const struct entry_queue *waiting = &matcher->entries.waiting;
	AUTOFREE struct candidate *candidate =
	    mem_alloc(waiting->count * sizeof(*candidate) + 1);
	size_t count = 0, n;

	for (struct entry *entry = waiting->oldest; entry; entry = entry->newer) {
		const struct packet *packet = &entry->packet;

		if (packet->protocol == IPPROTO_TCP &&
		    (packet->known & PACKET_TRANSPORT) && !(packet->flags & FLAG_RST))
			candidate[count++] =
			    (struct candidate){entry, packet_hash_transport(packet)};
	}
	SORT(candidate, count, by_hash);
	for (size_t i = 0; i < count; i += n) {
		n = 1;
		while (i + n < count && candidate[i + n].hash == candidate[i].hash)
			n++;
		if (n > 1 && collect_group_sides(matcher, candidate + i, n))
			path_emit(matcher);
	}
}

/* UDP packets with translated addresses, by what translation keeps: the identification,
 * or else the hash of the data, and the length. Others can have the same by chance, so
 * both directions of a conversation must have such packets. Data repeats more often than
 * identifications do, so it counts only if one end has kept its address and port. */
struct coincidence {
	struct candidate side[2]; /* sent, received */
	uint64_t conversation;
	bool is_forward; /* from the lower of the two hosts */
};

static uint32_t host_of(const struct matcher *matcher, const struct entry *entry)
{
	const uint32_t *host = matcher->host_of_clock;

	return host ? host[entry->seen->clock_index] : entry->seen->clock_index;
}

/* Return true if one host saw a packet, once at each place and only on one side. */
static bool has_one_side(const struct matcher *matcher, const struct entry *entry)
{
	const struct seen *seen = entry->seen;

	for (uint32_t i = 0; i < entry->seens; i++)
		if (seen[i].count > 1 || seen[i].used ||
		    seen[i].received != seen->received ||
		    !match_is_one_host(matcher, seen[i].clock_index, seen->clock_index))
			return false;
	return true;
}

static bool is_datagram(const struct packet *packet)
{
	return packet->protocol == IPPROTO_UDP &&
	       packet->known == (PACKET_NETWORK | PACKET_TRANSPORT) &&
	       (packet_is_numbered(packet) || packet->seq);
}

/* A hash of what translation leaves as it is. */
static uint64_t datagram_hash(const struct packet *packet)
{
	struct packet key = {.family = packet->family,
			     .protocol = packet->protocol,
			     .id = packet->family == 4 ? packet->id : 0,
			     .length = packet->length,
			     .udp_length = packet->udp_length,
			     .fragment = packet->fragment,
			     .seq = packet->seq};

	return packet_hash(&key);
}

/* A hash of a host and of a conversation as it sees it, in either direction. */
static uint64_t view_of(const struct matcher *matcher, const struct entry *entry)
{
	struct packet back = entry->packet;

	memcpy(back.src, entry->packet.dst, sizeof(back.src));
	memcpy(back.dst, entry->packet.src, sizeof(back.dst));
	back.sport = entry->packet.dport;
	back.dport = entry->packet.sport;
	return hash_mix((flow_of(&entry->packet) ^ flow_of(&back)) +
			host_of(matcher, entry));
}

static bool shares_end(const struct packet *a, const struct packet *b)
{
	return (a->sport == b->sport && memcmp(a->src, b->src, sizeof(a->src)) == 0) ||
	       (a->dport == b->dport && memcmp(a->dst, b->dst, sizeof(a->dst)) == 0);
}

static bool is_coincidence(const struct matcher *matcher, const struct candidate side[2])
{
	const struct packet *sent = &side[0].entry->packet;
	const struct packet *received = &side[1].entry->packet;

	return !side[0].entry->seen->received && side[1].entry->seen->received &&
	       host_of(matcher, side[0].entry) != host_of(matcher, side[1].entry) &&
	       (packet_is_numbered(sent) || shares_end(sent, received));
}

static int by_conversation(const void *a, const void *b)
{
	const struct coincidence *p = a, *q = b;

	return COMPARE(p->conversation, q->conversation)
		   ?: COMPARE(p->is_forward, q->is_forward);
}

/* Find the packets that exactly one host sent and one received. Keeps the order of
 * hashes; returns how many. */
static size_t find_coincidences(const struct matcher *matcher,
				const struct candidate *candidate, size_t count,
				struct coincidence *found)
{
	size_t coincidences = 0, n;

	for (size_t i = 0; i < count; i += n) {
		struct candidate side[2] = {candidate[i], candidate[i]};

		n = 1;
		while (i + n < count && candidate[i + n].hash == candidate[i].hash)
			n++;
		if (n != 2)
			continue;
		side[!candidate[i].entry->seen->received] = candidate[i + 1];
		if (is_coincidence(matcher, side))
			found[coincidences++] =
			    (struct coincidence){{side[0], side[1]},
						 view_of(matcher, side[0].entry) +
						     view_of(matcher, side[1].entry),
						 host_of(matcher, side[0].entry) <
						     host_of(matcher, side[1].entry)};
	}
	return coincidences;
}

static void rematch_datagrams(struct matcher *matcher)
{
	const struct entry_queue *waiting = &matcher->entries.waiting;
	AUTOFREE struct candidate *candidate =
	    mem_alloc(waiting->count * sizeof(*candidate) + 1);
	AUTOFREE struct coincidence *found = NULL;
	size_t count = 0, n;

	for (struct entry *entry = waiting->oldest; entry; entry = entry->newer)
		if (is_datagram(&entry->packet) && has_one_side(matcher, entry))
			candidate[count++] =
			    (struct candidate){entry, datagram_hash(&entry->packet)};
	SORT(candidate, count, by_hash);
	found = mem_alloc(count * sizeof(*found) + 1);
	count = find_coincidences(matcher, candidate, count, found);
	SORT(found, count, by_conversation);
	for (size_t i = 0; i < count; i += n) {
		n = 1;
		while (i + n < count &&
		       found[i + n].conversation == found[i].conversation)
			n++;
		for (size_t k = i;
		     k < i + n && found[i].is_forward != found[i + n - 1].is_forward; k++)
			if (collect_group_sides(matcher, found[k].side, 2))
				path_emit(matcher);
	}
}

void rematch_waiting(struct matcher *matcher)
{
	size_t translated = matcher->translated.count;

	rematch_ranges(matcher);
	rematch_transport(matcher);
	if (matcher->translated.count > translated)
		rematch_ranges(matcher);
	rematch_datagrams(matcher);
}
