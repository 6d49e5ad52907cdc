/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_PAIR_H
#define CT_SYNC_PAIR_PAIR_H

#include "sync/pair/line.h"
#include "sync/pair/message_log.h"

/*
 * Two clocks that exchange messages, reduced to the messages that bound them.
 */
struct pair {
	uint32_t a, b; /* clock indexes, a < b */
	/* Without rejected messages: */
	uint64_t messages_ab, messages_ba;
	uint64_t violations_before; /* received before they were sent */
	struct hulls hulls;
	struct pair_line fit;
	/* Set by reject_false_matches: */
	uint64_t rejected;
	bool is_doubtful;   /* many messages contradict others, but none was rejected */
	bool contradictory; /* no possible clocks satisfy them, so they tie nothing */
};

struct pair_table {
	struct pair *pair; /* by the numbers of the log */
	size_t count;
};

/* Count the messages of each pair, make its hulls and fit its line; each clock can be off
 * by `limit`. Replaces earlier results. Return 0, or -1 with error. */
int pairs_collect(struct pair_table *pairs, const struct message_log *log, double limit,
		  struct error *error);

/* Return an allowance (ns) for a width that is small by chance, as two messages and one
 * back can agree to the nanosecond. The fastest of n messages exceeds the least delay by
 * about 1/n of the range of delays, which some times the margin estimates. */
double pair_chance_allowance(const struct pair *pair);

/* The indexes of the pairs by their clocks, whatever order they were found in. */
uint32_t *pair_table_order(const struct pair_table *pairs);

/* Return the number of messages of all pairs that were rejected as false. */
uint64_t pairs_rejected(const struct pair_table *pairs);

/* Return true if no possible clocks satisfy the messages of some pair. */
bool pairs_have_contradictory(const struct pair_table *pairs);

void pair_table_clear(struct pair_table *table);

#endif
