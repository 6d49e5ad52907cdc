/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_JUDGE_JUDGE_H
#define CT_SYNC_JUDGE_JUDGE_H

#include "sync/bounds/bounds.h"

/* The result of a synchronization, and how far it can be trusted. */

struct pair_verdict {
	enum clock_quality quality;
	struct pair_latency latency;
};

struct verdict {
	struct clock *clock;       /* by clock, with bounds and quality but no names */
	struct rate_bound *rate;   /* by clock */
	struct pair_verdict *pair; /* by pair */
	enum clock_quality *trace; /* by trace index */
};

/*
 * Set all qualities; no other code does. Takes the clocks of the curves, and the bounds.
 * Captures that contradict the oscillator of their host, and clocks that were set back by
 * an unknown time, become problems.
 */
void judge(const struct network *net, struct curves *curves,
	   const struct latencies *latencies, struct bounds *bounds,
	   struct verdict *verdict, struct problem_list *problems);

/* Return true if all messages tie every trace to one reference, from both sides. */
bool verdict_is_whole(const struct network *net, const struct verdict *verdict);

void verdict_clear(struct verdict *verdict, const struct network *net);

#endif
