/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/private.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * TCP data by sequence ranges, for packets that segmentation offload cut up
 * after they were recorded, or receive offload merged before. The first send
 * that holds a byte came before every receive of that byte.
 */
struct range {
	struct entry *entry;
	uint32_t seen; /* index in the entry */
	uint64_t flow; /* hash of addresses and ports */
	uint32_t source;
	bool received;
	nsec_t ns;
	int64_t begin, end; /* of the bytes, since the flow's first send */
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

	if (p->flow != q->flow)
		return p->flow < q->flow ? -1 : 1;
	if (p->received != q->received)
		return p->received ? 1 : -1;
	if (p->source != q->source)
		return p->source < q->source ? -1 : 1;
	return (p->ns > q->ns) - (p->ns < q->ns);
}

static int by_begin(const void *a, const void *b)
{
	const struct range *p = a, *q = b;

	if (p->begin != q->begin)
		return p->begin < q->begin ? -1 : 1;
	return (p->ns > q->ns) - (p->ns < q->ns);
}

/* Ranges of everything that waits and could be part of a bigger packet. */
static size_t gather(struct matcher *matcher, struct range **ranges)
{
	struct entry **waiting;
	size_t n = match_waiting(matcher, &waiting), count = 0, room = 0;

	*ranges = NULL;
	for (size_t i = 0; i < n; i++) {
		struct packet *packet = &waiting[i]->packet;

		if (packet->protocol != IPPROTO_TCP || !packet->payload ||
		    packet->known != (PACKET_NETWORK | PACKET_TRANSPORT))
			continue;
		for (uint32_t k = 0; k < waiting[i]->seens; k++) {
			struct seen *seen = &entry_seen(waiting[i])[k];

			/* It was looked at before, and has its messages. */
			if (seen->received && seen->used)
				continue;
			*ranges = mem_grow(*ranges, count, &room, sizeof(**ranges));
			(*ranges)[count++] = (struct range){
			    .entry = waiting[i],
			    .seen = k,
			    .flow = flow_of(packet),
			    .source = seen->source,
			    .received = seen->received,
			    .ns = seen->ns,
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

/* The first of the sends, sorted by begin, that begins at or after a byte. */
static size_t begin_after(const struct range *send, size_t n, int64_t byte)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (send[middle].begin < byte)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The earliest send that holds the byte; sends are sorted by begin. */
static struct range *first_send(struct range *send, size_t n, int64_t byte)
{
	struct range *best = NULL;
	size_t low = begin_after(send, n, byte + 1);

	for (size_t back = 0; low > 0 && back < LOOK_BACK; back++) {
		struct range *at = &send[--low];

		if (at->end > byte && (!best || at->ns < best->ns))
			best = at;
	}
	return best;
}

static struct match_side side_of(const struct range *range, nsec_t ns)
{
	return (struct match_side){range->entry, &entry_seen(range->entry)[range->seen],
				   ns};
}

static void emit(struct matcher *matcher, const struct range *send,
		 const struct range *receive, nsec_t recv_ns)
{
	struct match_side from = side_of(send, send->ns), to = side_of(receive, recv_ns);

	match_emit(matcher, &from, &to);
}

/*
 * A receive of merged data: its first byte was sent before it began to come,
 * and every other send that was first with its bytes before it was whole.
 */
static void match_receive(struct matcher *matcher, struct range *send, size_t sends,
			  struct range *receive)
{
	const struct seen *seen = side_of(receive, receive->ns).seen;
	struct range *head = first_send(send, sends, receive->begin);

	if (head)
		emit(matcher, head, receive, seen->ns);
	for (size_t i = begin_after(send, sends, receive->begin + 1);
	     i < sends && send[i].begin < receive->end; i++)
		if (&send[i] != head &&
		    first_send(send, sends, send[i].begin) == &send[i])
			emit(matcher, &send[i], receive, seen->whole_ns);
}

static void match_sources(struct matcher *matcher, struct range *send, size_t sends,
			  struct range *receive, size_t receives)
{
	for (size_t i = 0; i < receives; i++)
		match_receive(matcher, send, sends, &receive[i]);
}

/* How many ranges from the first on are of its source and side. */
static size_t run_length(const struct range *range, size_t n)
{
	size_t k = 1;

	while (k < n && range[k].source == range->source &&
	       range[k].received == range->received)
		k++;
	return k;
}

static void match_flow(struct matcher *matcher, struct range *range, size_t n)
{
	uint32_t base = range->entry->packet.seq;
	size_t i, k, sends, receives;

	if (range->received || !range[n - 1].received)
		return;
	for (i = 0; i < n; i += sends) {
		sends = run_length(range + i, n - i);
		unwrap(range + i, sends, base);
		qsort(range + i, sends, sizeof(*range), by_begin);
	}
	for (i = 0; i < n && !range[i].received; i += sends) {
		sends = run_length(range + i, n - i);
		for (k = i + sends; k < n; k += receives) {
			receives = run_length(range + k, n - k);
			if (range[k].received && range[k].source != range[i].source)
				match_sources(matcher, range + i, sends, range + k,
					      receives);
		}
	}
}

void match_ranges(struct matcher *matcher)
{
	struct range *range;
	size_t count = gather(matcher, &range), n;

	for (size_t i = 0; i < count; i += n) {
		n = 1;
		while (i + n < count && range[i + n].flow == range[i].flow)
			n++;
		match_flow(matcher, range + i, n);
	}
	free(range);
}
