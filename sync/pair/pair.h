/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_PAIR_H
#define CT_SYNC_PAIR_PAIR_H

#include "clock/clock.h"
#include "sync/pair/line.h"
#include "sync/pair/message_log.h"

/*
 * Two clocks that exchange messages, reduced to what bounds them.
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
	/* Set by the end of the fit: */
	uint64_t violations_after;
	nsec_t min_latency_ab_ns, min_latency_ba_ns; /* corrected; NSEC_MAX: none */
	enum clock_quality quality;
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

/* The indexes of the pairs by their clocks, whatever order they were found in. */
uint32_t *pair_table_order(const struct pair_table *pairs);

/* How many messages were left out as false, of all pairs. */
uint64_t pairs_rejected(const struct pair_table *pairs);

void pair_table_clear(struct pair_table *table);

#endif
