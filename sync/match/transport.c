/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/private.h"

#include <netinet/in.h>
#include <stdlib.h>

#include "base/mem.h"

/*
 * TCP packets by sequence and acknowledgement numbers, flags and window alone:
 * where addresses were translated on the way, or one side recorded no more.
 * Only what came by once at each place is taken.
 */
enum { FLAG_RST = 4 }; /* resets carry too little of a number to go by */

struct candidate {
	struct entry *entry;
	uint64_t hash;
};

static int by_hash(const void *a, const void *b)
{
	const struct candidate *p = a, *q = b;

	return (p->hash > q->hash) - (p->hash < q->hash);
}

static size_t gather(struct matcher *matcher, struct candidate **candidates)
{
	const struct entry_queue *waiting = &matcher->entries.waiting;
	size_t count = 0;

	*candidates = mem_alloc(waiting->count * sizeof(**candidates));
	for (struct entry *entry = waiting->oldest; entry; entry = entry->newer) {
		const struct packet *packet = &entry->packet;

		if (packet->protocol == IPPROTO_TCP &&
		    (packet->known & PACKET_TRANSPORT) && !(packet->flags & FLAG_RST))
			(*candidates)[count++] =
			    (struct candidate){entry, packet_hash_transport(packet)};
	}
	qsort(*candidates, count, sizeof(**candidates), by_hash);
	return count;
}

static bool may_be_one(const struct packet *a, const struct packet *b)
{
	return a->seq == b->seq && a->ack == b->ack && a->flags == b->flags &&
	       a->window == b->window &&
	       (!(a->known & b->known & PACKET_NETWORK) || a->payload == b->payload);
}

/* Whether the packet was seen at one place by both: then it came by twice. */
static bool is_same_place(const struct seen *a, const struct seen *b)
{
	return a->source == b->source && a->received == b->received &&
	       a->device == b->device && a->hops == b->hops;
}

/*
 * Whether all that a host saw of an identity lies between a send of it and a receive:
 * on its way within the host, before it was translated or after.
 */
static bool stays_inside(struct entry *entry)
{
	const struct seen *seen = entry_seen(entry), *first = seen, *last = seen;

	for (uint32_t i = 1; i < entry->seens; i++) {
		if (seen[i].source != seen->source)
			return false;
		if (seen[i].first_ns < first->first_ns)
			first = &seen[i];
		if (seen[i].last_ns > last->last_ns)
			last = &seen[i];
	}
	return !first->received && last->received;
}

/*
 * The packet events of a group, if all can be of one packet; 0 if not. They are added to
 * `side`, for which there must be room.
 */
static size_t join(const struct candidate *group, size_t n, struct match_side *side)
{
	size_t sides = 0;
	bool leaves = false;

	for (size_t i = 0; i < n; i++) {
		struct entry *entry = group[i].entry;

		if (!may_be_one(&group->entry->packet, &entry->packet))
			return 0;
		leaves |= !stays_inside(entry);
		for (uint32_t k = 0; k < entry->seens; k++) {
			struct seen *seen = &entry_seen(entry)[k];

			if (seen->count > 1 || seen->used)
				return 0;
			for (size_t m = 0; m < sides; m++)
				if (is_same_place(side[m].seen, seen))
					return 0;
			side[sides++] = (struct match_side){entry, seen, seen->ns, 0};
		}
	}
	return leaves ? sides : 0;
}

/* What many identities share is no packet, but a habit. */
enum { MOST_SIDES = 64 };

static void match_group(struct matcher *matcher, const struct candidate *group, size_t n)
{
	struct match_side side[MOST_SIDES];
	size_t all = 0, sides;

	for (size_t i = 0; i < n; i++)
		all += group[i].entry->seens;
	sides = n > 1 && all <= MOST_SIDES ? join(group, n, side) : 0;
	if (sides)
		path_emit(matcher, side, sides);
}

void match_transport(struct matcher *matcher)
{
	AUTOFREE struct candidate *candidate = NULL;
	size_t count = gather(matcher, &candidate), n;

	for (size_t i = 0; i < count; i += n) {
		n = 1;
		while (i + n < count && candidate[i + n].hash == candidate[i].hash)
			n++;
		match_group(matcher, candidate + i, n);
	}
}
