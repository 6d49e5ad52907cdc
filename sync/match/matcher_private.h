/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_MATCHER_PRIVATE_H
#define CT_SYNC_MATCH_MATCHER_PRIVATE_H

#include "base/hash.h"
#include "sync/match/match.h"
#include "sync/match/resends.h"

/*
 * The matcher from inside: what each packet's entry holds, and what match.c, path.c and
 * rematch.c make of it.
 *
 * The events of a packet on one side of a clock, at one device and with one time to live:
 * the first one, and how many there were.
 */
struct seen {
	uint32_t clock_index, device;
	nsec_t ns, whole_ns;      /* times of the first */
	nsec_t first_ns, last_ns; /* when the events were, by the clock */
	uint32_t count;           /* more than 1 is a repeat */
	uint8_t hops;             /* 0: not recorded */
	bool received;
	bool used; /* has become part of a message */
};

/*
 * The location of a packet event and, for data that was sent again, of the data's first
 * send. Stored only if the matcher keeps the ends of messages.
 */
struct seen_origin {
	uint32_t trace_index, stream;
	uint64_t ordinal;
	struct sent_place first;
};

enum { SEEN_INLINE = 4 };

/*
 * A packet identity and the clocks that saw it. Tens of thousands are in use at once, too
 * many for the inner caches: each starts at a cache line, and spans five.
 */
struct entry {
	uint64_t hash;
	struct entry *next; /* next in its bucket */
	struct packet packet;
	uint32_t seens;
	bool matched;                /* is in the queue of matched entries */
	uint8_t doublings;           /* `seen` has room for SEEN_INLINE << doublings */
	uint32_t number;             /* low 32 bits of entry_number */
	struct entry *older, *newer; /* neighbours in its queue */
	struct seen *seen;           /* few, or more of them elsewhere */
	struct seen_origin *origin; /* origin of each, if they are kept; otherwise NULL */
	struct seen few[SEEN_INLINE];
};

enum { ENTRY_LINE = 64 }; /* bytes of a cache line */

static inline void entry_fetch(const struct entry *entry)
{
	for (size_t at = 0; entry && at < sizeof(*entry); at += ENTRY_LINE)
		__builtin_prefetch((const char *)entry + at);
}

struct entry_queue {
	struct entry *oldest, *newest;
	size_t count;
};

/* Entries by identity; each is in one of two queues, by age. */
struct entry_table {
	struct entry **bucket;
	size_t buckets; /* a power of two */
	struct entry_queue waiting, matched;
	struct entry *spare; /* freed ones, for reuse */
	void **block;        /* memory, each block of many entries */
	size_t blocks, block_capacity;
	uint64_t entries;   /* number of entries made so far */
	bool keeps_origins; /* set before the first entry is made */
};

void entry_table_init(struct entry_table *table);

/* Return the entry's number. Numbers are unique and count from 1. */
static inline uint64_t entry_number(const struct entry_table *table,
				    const struct entry *entry)
{
	return table->entries - ((uint32_t)table->entries - entry->number);
}

/* The entry of a packet of that hash, made (waiting) when it is new. */
struct entry *entry_table_find(struct entry_table *table, const struct packet *packet,
			       uint64_t hash);

/* Move an entry, of either queue, to the end of that of matched ones. */
void entry_table_match(struct entry_table *table, struct entry *entry);

void entry_table_remove(struct entry_table *table, struct entry *entry);
void entry_table_clear(struct entry_table *table);

/*
 * The relation of a packet event to those with the same clock, side, device and time to
 * live: the first one, a repeat, or a copy. A capture has copies of a packet that it sees
 * at a bond and its slave, a bridge and its port, or both sides of a mirrored port.
 */
enum entry_news { ENTRY_REPEAT, ENTRY_FIRST, ENTRY_COPY };

/*
 * Add a packet event of a clock, recorded in a trace. `first` is the first send of its
 * data; its ns is NSEC_MAX if there is none.
 */
enum entry_news entry_add_seen(struct entry *entry, uint32_t clock_index,
			       uint32_t trace_index,
			       const struct packet_event *packet_event,
			       const struct sent_place *first);

/* A packet event, and the timestamp of it that counts. */
struct match_side {
	struct entry *entry;
	struct seen *seen;
	nsec_t ns;
	uint8_t hops; /* if it is known of all sides that are compared; otherwise 0 */
};

/* The events of a packet, or of a byte, that one clock saw on one level (path.c). */
struct stop {
	uint32_t clock_index;
	uint8_t hops;
	bool begins_sent, ends_sent;        /* what was seen first, and last, is a send */
	uint32_t sends, receives;           /* the least, the most times that it passed */
	nsec_t first_ns, last_ns;           /* by the clock */
	nsec_t received_ns;                 /* timestamp of the first receive */
	struct match_side *sent, *received; /* the first of each; NULL of a byte */
};

/* The observations of one packet, or of one byte. */
struct path {
	const struct packet *packet;
	uint64_t number; /* number of its entry, or of the first one of several */
	uint32_t offset; /* offset of the byte in the receive; 0 for a whole packet */
	bool is_one_identity;
	struct stop *stop; /* down the levels, of each by clock */
	size_t stops, capacity;
};

struct matcher {
	const uint32_t *host_of_clock; /* NULL: each clock is a host */
	struct entry_table entries;
	size_t in_flight; /* the most entries that may wait */
	struct match_output output;
	struct clock_matching counts;
	struct declared {
		struct declared_counts *item;
		size_t count, capacity;
		struct intmap numbers; /* events of a key on one side of a clock */
	} declared;
	uint64_t given_up;
	struct resends *resends; /* NULL unless origins are kept */
	struct intmap first_ns; /* sender, receiver -> its stamp of their first message */
	struct intmap translated; /* TCP flow as received -> as sent, if that differs */
	/* the current packet: */
	struct match_side *side;
	size_t sides, side_capacity;
	struct path path;
};

bool match_is_one_host(const struct matcher *matcher, uint32_t a, uint32_t b);

/* The path's stop of a clock on a level: its last one, or a new one behind it. */
struct stop *path_stop(struct path *path, uint32_t clock_index, uint8_t hops);

/* A send or receive of the stop; `ns` is its stamp, the others are of its events. */
void stop_add(struct stop *stop, bool received, nsec_t ns, nsec_t first_ns,
	      nsec_t last_ns);

/* Return true if the packet certainly went from one stop's sends to the other's
 * receives. */
bool path_leads(const struct matcher *matcher, const struct stop *from,
		const struct stop *to);

/* Make messages of matcher->side, what clocks saw of one packet; puts it in order. */
void path_emit(struct matcher *matcher);

/* A message between two clocks; counts it and marks both packet events used. */
void match_emit(struct matcher *matcher, const struct match_side *send,
		const struct match_side *receive);

/* Make messages of matcher->side, the ends of a declared message. */
void declared_emit(struct matcher *matcher);

/* Return the counts of a declared message. */
struct declared_counts *declared_counts_of(struct matcher *matcher,
					   const struct packet *packet);

/* Return the index of those counts. */
uint16_t declared_index(struct matcher *matcher, const struct packet *packet);

/* Count an event of a declared message. Return it as it is added: with the number of its
 * place, if the message is one whose key says nothing of that. */
struct packet_event declared_number(struct matcher *matcher, uint32_t clock_index,
				    const struct packet_event *event);

/* Learn from a message that a flow is received under other addresses than it is sent. */
void match_learn_translation(struct matcher *matcher, const struct packet *sent,
			     const struct packet *received);

/* Look again at what waits. An entry that got a message stays, with it marked. */
void rematch_waiting(struct matcher *matcher);

#endif
