/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_BOUNDS_LATENCIES_H
#define CT_SYNC_BOUNDS_LATENCIES_H

#include "sync/piecewise/segments.h"

/* The latencies of messages on the fitted clocks, without rejected messages. */

struct pair_latency {
	uint64_t violations;                         /* received before sent */
	nsec_t min_latency_ab_ns, min_latency_ba_ns; /* NSEC_MAX if there are none */
};

/* Return the sum of the shortest latencies in both directions, ns. */
double pair_latency_trip(const struct pair_latency *latency);

/* The quickest of some consecutive messages of a pair in one direction. */
struct quick {
	nsec_t at; /* on the reference clock */
	double latency_ns;
};

struct quick_list {
	struct quick *item;
	size_t count, capacity;
	uint64_t each; /* number of messages per item */
	uint64_t left; /* number of messages that the last item will still cover */
};

struct latencies {
	struct pair_latency *pair;     /* by pair */
	struct quick_list (*quick)[2]; /* by pair and direction, as in struct message */
};

/* Walk over all messages. Return 0, or -1 with error; clear in any case. */
int latencies_find(const struct network *net, const struct curves *curves,
		   struct latencies *latencies, struct error *error);

void latencies_clear(struct latencies *latencies, const struct network *net);

#endif
