/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_ENTRY_H
#define CT_SYNC_MATCH_ENTRY_H

#include "input/packet.h"

/*
 * What a source saw of a packet on one side, at one device and with one time to live:
 * the first such packet event, and how many there were.
 */
struct seen {
	uint32_t source, device;
	nsec_t ns, whole_ns;      /* of the first */
	nsec_t first_ns, last_ns; /* when the events were, by the source's clock */
	uint32_t count;           /* more than 1 is a repeat */
	uint8_t hops;             /* 0: not recorded */
	bool received;
	bool used; /* has become part of a message */
};

enum { SEEN_INLINE = 4 };

/* Where a packet event came from, for those who ask for it (match_listener). */
struct seen_origin {
	uint32_t trace, stream;
	uint64_t ordinal;
};

/* One a packet event, as in the entry's few or many. */
struct entry_origins {
	struct seen_origin few[SEEN_INLINE], *many;
};

/*
 * A packet identity and who saw it. Tens of thousands are at work at once, too many
 * for the caches next to the cores: each begins a cache line, and lies in four.
 */
struct entry {
	uint64_t hash;
	struct entry *next; /* of its bucket */
	struct packet packet;
	uint32_t seens, capacity;    /* many is used once few is too small */
	struct entry *older, *newer; /* of its queue */
	struct seen *many;
	bool matched; /* stands in the queue of matched entries */
	bool has_origins;
	struct seen few[SEEN_INLINE];
	struct entry_origins origins[]; /* one, if has_origins */
};

enum { ENTRY_LINE = 64 }; /* bytes of a cache line */

struct entry_queue {
	struct entry *oldest, *newest;
	size_t count;
};

/* Entries by identity; each stands in one of two queues, by age. */
struct entry_table {
	struct entry **bucket;
	size_t buckets; /* a power of two */
	struct entry_queue waiting, matched;
	struct entry *soon;  /* matched, to go some removals from now; may be NULL */
	struct entry *spare; /* freed ones, for reuse */
	void **block;        /* of memory, each with room for many entries */
	size_t blocks, blocks_room;
	size_t most_waiting; /* the owner's limit */
	bool keeps_origins;  /* set before the first entry is made */
};

void entry_table_init(struct entry_table *table);

/* The entry of a packet of that hash, made (waiting) when it is new. */
struct entry *entry_table_find(struct entry_table *table, const struct packet *packet,
			       uint64_t hash);

/*
 * A packet of that hash will be looked for, some ten packets from now, or some
 * five: fetch into the cache where it will be looked for.
 */
static inline void entry_table_expect(const struct entry_table *table, uint64_t hash)
{
	__builtin_prefetch(&table->bucket[hash & (table->buckets - 1)]);
}

static inline void entry_fetch(const struct entry *entry)
{
	for (size_t at = 0; entry && at < sizeof(*entry); at += ENTRY_LINE)
		__builtin_prefetch((const char *)entry + at);
}

static inline void entry_table_expect_soon(const struct entry_table *table, uint64_t hash)
{
	entry_fetch(table->bucket[hash & (table->buckets - 1)]);
}

/* Move an entry, of either queue, to the end of that of matched ones. */
void entry_table_match(struct entry_table *table, struct entry *entry);

void entry_table_remove(struct entry_table *table, struct entry *entry);
void entry_table_clear(struct entry_table *table);

static inline struct seen *entry_seen(struct entry *entry)
{
	return entry->many ? entry->many : entry->few;
}

/* Where a packet event of the entry came from; the entry has origins. */
static inline struct seen_origin *entry_origin(struct entry *entry,
					       const struct seen *seen)
{
	struct entry_origins *origins = entry->origins;

	return (entry->many ? origins->many : origins->few) + (seen - entry_seen(entry));
}

/*
 * Take in a packet event of a source, made of something of that trace. Whether it is the
 * first of its kind, by side, device and time to live.
 */
bool entry_add_seen(struct entry *entry, uint32_t source, uint32_t trace,
		    const struct packet_event *packet_event);

#endif
