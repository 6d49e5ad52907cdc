/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/match/matcher_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_BUCKETS = 1 << 12, BLOCK_ENTRIES = 256 };

void entry_table_init(struct entry_table *table)
{
	memset(table, 0, sizeof(*table));
	table->buckets = FIRST_BUCKETS;
	table->bucket = mem_zalloc(table->buckets * sizeof(struct entry *));
}

static void queue_push(struct entry_queue *queue, struct entry *entry)
{
	entry->older = queue->newest;
	entry->newer = NULL;
	if (queue->newest)
		queue->newest->newer = entry;
	else
		queue->oldest = entry;
	queue->newest = entry;
	queue->count++;
}

static void queue_remove(struct entry_queue *queue, struct entry *entry)
{
	if (entry->older)
		entry->older->newer = entry->newer;
	else
		queue->oldest = entry->newer;
	if (entry->newer)
		entry->newer->older = entry->older;
	else
		queue->newest = entry->older;
	queue->count--;
}

static void grow_table(struct entry_table *table)
{
	struct entry **old = table->bucket;
	size_t buckets = table->buckets;

	table->buckets *= 2;
	table->bucket = mem_zalloc(table->buckets * sizeof(struct entry *));
	for (size_t i = 0; i < buckets; i++)
		while (old[i]) {
			struct entry *entry = old[i];
			size_t at = entry->hash & (table->buckets - 1);

			old[i] = entry->next;
			entry->next = table->bucket[at];
			table->bucket[at] = entry;
		}
	free(old);
}

/* Allocate one more block and add it to the spare entries. */
static void add_block(struct entry_table *table)
{
	char *block = mem_alloc(BLOCK_ENTRIES * sizeof(struct entry) + ENTRY_LINE);
	struct entry *entry = (void *)(block + -(uintptr_t)block % ENTRY_LINE);

	_Static_assert(sizeof(*entry) % ENTRY_LINE == 0, "each begins a cache line");
	*MEM_NEXT(table->block, table->blocks, table->block_capacity) = block;
	for (size_t i = BLOCK_ENTRIES; i-- > 0;) {
		entry[i].next = table->spare;
		table->spare = &entry[i];
	}
}

static struct entry *alloc_entry(struct entry_table *table, const struct packet *packet,
				 uint64_t hash)
{
	struct entry *entry;
	size_t at;

	if (table->waiting.count + table->matched.count >= table->buckets)
		grow_table(table);
	if (!table->spare)
		add_block(table);
	entry = table->spare;
	table->spare = entry->next;
	entry->seens = 0;
	entry->doublings = 0;
	entry->seen = entry->few;
	entry->origin = NULL;
	if (table->keeps_origins)
		entry->origin = mem_realloc(NULL, SEEN_INLINE, sizeof(*entry->origin));
	entry->matched = false;
	entry->number = (uint32_t)++table->entries;
	entry->packet = *packet;
	entry->hash = hash;
	at = hash & (table->buckets - 1);
	entry->next = table->bucket[at];
	table->bucket[at] = entry;
	queue_push(&table->waiting, entry);
	return entry;
}

struct entry *entry_table_find(struct entry_table *table, const struct packet *packet,
			       uint64_t hash)
{
	struct entry *entry = table->bucket[hash & (table->buckets - 1)];

	while (entry && !(entry->hash == hash && packet_equal(&entry->packet, packet)))
		entry = entry->next;
	return entry ? entry : alloc_entry(table, packet, hash);
}

void entry_table_match(struct entry_table *table, struct entry *entry)
{
	queue_remove(entry->matched ? &table->matched : &table->waiting, entry);
	entry->matched = true;
	queue_push(&table->matched, entry);
}

void entry_table_remove(struct entry_table *table, struct entry *entry)
{
	struct entry **link = &table->bucket[entry->hash & (table->buckets - 1)];

	entry_fetch(entry->newer ? entry->newer->newer
				 : NULL); /* it will be removed soon as well */
	while (*link != entry)
		link = &(*link)->next;
	*link = entry->next;
	queue_remove(entry->matched ? &table->matched : &table->waiting, entry);
	if (entry->seen != entry->few)
		free(entry->seen);
	free(entry->origin);
	entry->next = table->spare;
	table->spare = entry;
}

void entry_table_clear(struct entry_table *table)
{
	while (table->waiting.oldest)
		entry_table_remove(table, table->waiting.oldest);
	while (table->matched.oldest)
		entry_table_remove(table, table->matched.oldest);
	while (table->blocks)
		free(table->block[--table->blocks]);
	free(table->block);
	free(table->bucket);
	memset(table, 0, sizeof(*table));
}

/* Enlarge the array of packet events beyond the entry's own. */
static void grow_seen(struct entry *entry)
{
	struct seen *many = entry->seen == entry->few ? NULL : entry->seen;
	size_t capacity = (size_t)SEEN_INLINE << ++entry->doublings;

	entry->seen = mem_realloc(many, capacity, sizeof(*entry->seen));
	if (!many)
		memcpy(entry->seen, entry->few, sizeof(entry->few));
	if (entry->origin)
		entry->origin =
		    mem_realloc(entry->origin, capacity, sizeof(*entry->origin));
}

/* Find or add a clock's record for events of this kind. */
static struct seen *find_kind(struct entry *entry, uint32_t clock_index,
			      const struct packet_event *packet_event)
{
	struct seen *seen = entry->seen;

	for (; seen < entry->seen + entry->seens; seen++)
		if (seen->clock_index == clock_index &&
		    seen->received == packet_event->received &&
		    seen->device == packet_event->device &&
		    seen->hops == packet_event->hops)
			return seen;
	if (entry->seens == (uint32_t)SEEN_INLINE << entry->doublings)
		grow_seen(entry);
	seen = &entry->seen[entry->seens++];
	*seen = (struct seen){.clock_index = clock_index,
			      .device = packet_event->device,
			      .ns = NSEC_MAX,
			      .first_ns = NSEC_MAX,
			      .last_ns = NSEC_MIN,
			      .hops = packet_event->hops,
			      .received = packet_event->received};
	return seen;
}

/*
 * Return true if a captured packet is a copy of one seen before: copies are captured at
 * most milliseconds apart. Dropping an event of another transmission is safe, because the
 * first of all sends precedes every receive.
 */
static bool is_copy(const struct entry *entry, const struct seen *seen, nsec_t at)
{
	return seen->count && llabs(nsec_sub(at, seen->last_ns)) <= 10 * NSEC_PER_MSEC &&
	       packet_is_numbered(&entry->packet);
}

enum entry_news entry_add_seen(struct entry *entry, uint32_t clock_index,
			       uint32_t trace_index,
			       const struct packet_event *packet_event,
			       const struct sent_place *first)
{
	struct seen *seen = find_kind(entry, clock_index, packet_event);
	nsec_t at = packet_event->event_ns ? packet_event->event_ns : packet_event->ns;
	bool copy = packet_event->is_captured && is_copy(entry, seen, at);

	/* An event that waited for its driver can arrive after a later one. */
	if (packet_event->ns < seen->ns) {
		seen->ns = packet_event->ns;
		seen->whole_ns = packet_event->whole_ns;
		if (entry->origin)
			entry->origin[seen - entry->seen] =
			    (struct seen_origin){trace_index, packet_event->stream,
						 packet_event->ordinal, *first};
	}
	if (at < seen->first_ns)
		seen->first_ns = at;
	if (at > seen->last_ns)
		seen->last_ns = at;
	if (copy)
		return ENTRY_COPY;
	return seen->count++ ? ENTRY_REPEAT : ENTRY_FIRST;
}
