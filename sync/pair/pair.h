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
	/* Of the messages that are not rejected: */
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

/*
 * Count the messages of each pair, make its hulls and fit its line; both of its clocks
 * may be off by `limit`. Does so anew if it was done before. 0, or -1 with error.
 */
int pairs_collect(struct pair_table *pairs, const struct message_log *log, double limit,
		  struct error *error);

/*
 * An allowance for chance in the width that a pair's lines leave open, in nanoseconds:
 * two messages and one back may agree to the nanosecond. Of n messages, the fastest
 * exceeds the least delay by about one n-th of the range of delays, for which some times
 * the margin stands.
 */
double pair_chance_allowance(const struct pair *pair);

/* The indexes of the pairs by their clocks, whatever order they were found in. */
uint32_t *pair_table_order(const struct pair_table *pairs);

/* How many messages were left out as false, of all pairs. */
uint64_t pairs_rejected(const struct pair_table *pairs);

/* Return true if no possible clocks satisfy the messages of some pair. */
bool pairs_have_contradictory(const struct pair_table *pairs);

void pair_table_clear(struct pair_table *table);

#endif
