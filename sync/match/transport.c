/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/private.h"

#include <netinet/in.h>
#include <stdlib.h>

#include "base/mem.h"

/*
 * TCP packets by sequence and acknowledgement numbers, flags and window alone:
 * where addresses were translated on the way, or one side recorded no more.
 * Only what one source sent once and another received once is taken.
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
	struct entry **waiting;
	size_t n = match_waiting(matcher, &waiting), count = 0;

	*candidates = mem_alloc(n * sizeof(**candidates));
	for (size_t i = 0; i < n; i++) {
		const struct packet *packet = &waiting[i]->packet;

		if (packet->protocol == IPPROTO_TCP &&
		    (packet->known & PACKET_TRANSPORT) && !(packet->flags & FLAG_RST))
			(*candidates)[count++] =
			    (struct candidate){waiting[i], packet_hash_transport(packet)};
	}
	free(waiting);
	qsort(*candidates, count, sizeof(**candidates), by_hash);
	return count;
}

static bool may_be_one(const struct packet *a, const struct packet *b)
{
	return a->seq == b->seq && a->ack == b->ack && a->flags == b->flags &&
	       a->window == b->window &&
	       (!(a->known & b->known & PACKET_NETWORK) || a->payload == b->payload);
}

/* The only unused sighting of a side in a group, or NULL if there are more. */
static struct seen *only(struct candidate *group, size_t n, bool received,
			 struct entry **of)
{
	struct seen *found = NULL;

	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < group[i].entry->seens; k++) {
			struct seen *seen = &entry_seen(group[i].entry)[k];

			if (seen->received != received)
				continue;
			if (found || seen->count > 1)
				return NULL;
			found = seen;
			*of = group[i].entry;
		}
	return found;
}

void match_transport(struct matcher *matcher)
{
	struct candidate *candidate;
	size_t count = gather(matcher, &candidate), n;

	for (size_t i = 0; i < count; i += n) {
		struct entry *from = NULL, *to = NULL;
		struct seen *send, *receive;

		n = 1;
		while (i + n < count && candidate[i + n].hash == candidate[i].hash)
			n++;
		if (n < 2)
			continue;
		send = only(candidate + i, n, false, &from);
		receive = only(candidate + i, n, true, &to);
		if (send && receive && !send->used && !receive->used &&
		    send->source != receive->source &&
		    may_be_one(&from->packet, &to->packet))
			match_emit(matcher, &(struct match_side){from, send, send->ns},
				   &(struct match_side){to, receive, receive->ns});
	}
	free(candidate);
}
