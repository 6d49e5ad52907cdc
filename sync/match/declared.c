/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/matcher_private.h"

#include <string.h>

#include "base/mem.h"

/*
 * Declared messages.
 *
 * The key of a message names one send, and any number of receives: each receive on
 * another host is a message. A key that was sent several times names nothing.
 */

struct declared_counts *declared_counts_of(struct matcher *matcher,
					   const struct packet *packet)
{
	struct declared *declared = &matcher->declared;
	struct declared_counts *counts;

	for (size_t i = 0; i < declared->count; i++)
		if (strncmp(declared->item[i].name, (const char *)packet->dst,
			    sizeof(packet->dst)) == 0)
			return &declared->item[i];
	counts = MEM_NEXT(declared->item, declared->count, declared->capacity);
	*counts = (struct declared_counts){.sent = 0};
	memcpy(counts->name, packet->dst, sizeof(packet->dst));
	return counts;
}

uint16_t declared_index(struct matcher *matcher, const struct packet *packet)
{
	return (uint16_t)(declared_counts_of(matcher, packet) - matcher->declared.item);
}

struct packet_event declared_number(struct matcher *matcher, uint32_t clock_index,
				    const struct packet_event *event)
{
	struct packet_event numbered = *event;
	struct declared_counts *counts = declared_counts_of(matcher, &event->packet);
	uint64_t hash[2], key;
	int64_t number = 0;

	++*(event->received ? &counts->received : &counts->sent);
	numbered.hash = packet_hash(&event->packet);
	if (event->packet.flags & PACKET_COUNTED) {
		key = hash_mix(numbered.hash ^ (uint64_t)clock_index << 1 ^
			       event->received);
		intmap_get(&matcher->declared.numbers, key, &number);
		intmap_put(&matcher->declared.numbers, key, ++number);
		packet_get_key(&event->packet, hash);
		hash[0] = hash_mix(hash[0] + (uint64_t)number);
		hash[1] = hash_mix(hash[1] ^ hash[0]);
		packet_set_key(&numbered.packet, hash);
		numbered.hash = packet_hash(&numbered.packet);
	}
	return numbered;
}

/* Return true if two traces of one clock recorded the same event. */
static bool is_one_event(const struct seen *a, const struct seen *b)
{
	return a->clock_index == b->clock_index && a->received == b->received &&
	       a->count == 1 && b->count == 1 && a->ns == b->ns;
}

/* Return true if the event is recorded by an earlier side, too. */
static bool is_repeated(const struct matcher *matcher, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_one_event(matcher->side[i].seen, matcher->side[index].seen))
			return true;
	return false;
}

void declared_emit(struct matcher *matcher)
{
	struct match_side *side = matcher->side;
	struct declared_counts *counts =
	    declared_counts_of(matcher, &side->entry->packet);
	const struct match_side *send = NULL;

	for (size_t i = 0; i < matcher->sides; i++) {
		if (side[i].seen->received || is_repeated(matcher, i))
			continue;
		if (send || side[i].seen->count > 1)
			return;
		send = &side[i];
	}
	if (!send)
		return;
	matcher->path.number = entry_number(&matcher->entries, side->entry);
	matcher->path.offset = 0;
	for (size_t i = 0; i < matcher->sides; i++) {
		if (!side[i].seen->received || is_repeated(matcher, i) ||
		    match_is_one_host(matcher, send->seen->clock_index,
				      side[i].seen->clock_index))
			continue;
		match_emit(matcher, send, &side[i]);
		matcher->path.offset++;
		counts->messages++;
	}
}
