/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_MATCH_PRIVATE_H
#define CT_SYNC_MATCH_PRIVATE_H

#include "base/hash.h"
#include "sync/match/entry.h"
#include "sync/match/match.h"

/* For the parts of matching: match.c, path.c, ranges.c, transport.c. */

struct matcher {
	struct entry_table entries;
	struct pair_table *pairs;
	struct message_log *log;
	struct clock_matching counts;
	uint64_t given_up;
	struct intmap heard; /* sender and receiver -> its stamp of their first message */
	struct match_listener listener;
	struct error *error; /* of the call at hand */
	bool failed;
};

/* A packet event, and which stamp of it counts. */
struct match_side {
	struct entry *entry;
	struct seen *seen;
	nsec_t ns;
	uint8_t hops; /* as far as those who compare it know it of all; else 0 */
};

/*
 * Whether a source was surely recording when a packet left that another received then:
 * that had received an earlier one of it, and packets are not on their way so long.
 */
bool match_was_recording(const struct matcher *matcher, uint32_t sender,
			 uint32_t receiver, nsec_t recv_ns);

bool match_is_one_host(const struct matcher *matcher, uint32_t a, uint32_t b);

/* A message between two sources; counts it and marks both packet events used. */
void match_emit(struct matcher *matcher, const struct match_side *send,
		const struct match_side *receive);

/* Look again at what waits. An entry that got a message stays, with it marked. */
void match_ranges(struct matcher *matcher);
void match_transport(struct matcher *matcher);

/* All that one source saw of a packet, or of a byte, on one level. */
struct stop {
	uint32_t source;
	uint8_t hops;
	struct match_side *sent, *received; /* the first of each, or NULL */
	bool begins_sent;                   /* what was seen first is a send */
	bool ends_sent;                     /* what was seen last */
	uint32_t sends, receives;           /* how often it came by, at least; at most */
};

struct path {
	struct matcher *matcher;
	const struct packet *packet;
	bool is_one_identity;
	struct stop *stop; /* down the levels */
	size_t stops;
};

/* Whether the packet surely went from what the one sent to what the other received. */
bool path_leads(const struct path *path, const struct stop *from, const struct stop *to);

/*
 * Make messages of what sources saw of one packet, of one or of several identities;
 * puts `side` in order. Returns how many.
 */
size_t path_emit(struct matcher *matcher, struct match_side *side, size_t sides);

#endif
