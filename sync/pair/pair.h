/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_PAIR_H
#define CT_SYNC_PAIR_PAIR_H

#include "base/intmap.h"
#include "clock/clock.h"
#include "sync/pair/hull.h"
#include "sync/pair/message.h"

/*
 * Two traces that exchange messages, reduced to what bounds their clocks. In
 * the plane of the pair x is a's local time and y is b's.
 */
struct pair {
	uint32_t a, b; /* indices of traces, a < b */
	uint64_t messages_ab, messages_ba;
	uint64_t rejected;
	struct hull lower;        /* of messages from a to b */
	struct hull upper;        /* of messages from b to a */
	struct hull_point origin; /* the first message, for differences */
	uint64_t violations_before, violations_after;
	nsec_t min_latency_ab_ns, min_latency_ba_ns; /* corrected; NSEC_MAX: none */
	enum clock_quality quality;
	struct line line;   /* the pair's own largest-margin line */
	double margin_ns;   /* its slack to both hulls; negative: contradiction */
	bool too_fast;      /* only lines beyond the drift limit satisfy its messages */
	bool contradictory; /* no possible clocks do: its messages tie nothing */
};

struct pair_table {
	struct pair *pair;
	size_t count, room;
	struct intmap index; /* a and b -> index */
};

/* The pair of two traces, made when it is new; borrowed until the next call. */
uint32_t pair_table_find(struct pair_table *table, uint32_t a, uint32_t b);

/* The indices of the pairs by their traces, whatever order they were found in. */
uint32_t *pair_table_order(const struct pair_table *pairs);

/* Count a message in, and add it to its half hull. */
void pair_add(struct pair *pair, const struct message *message);

/* The message as a point of its pair's plane. */
static inline struct hull_point pair_point(const struct message *message)
{
	return message->forward ? (struct hull_point){message->send_ns, message->recv_ns}
				: (struct hull_point){message->recv_ns, message->send_ns};
}

void pair_table_settle(struct pair_table *table);
void pair_table_clear(struct pair_table *table);

#endif
