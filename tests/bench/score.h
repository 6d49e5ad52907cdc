/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_SCORE_H
#define CT_TESTS_BENCH_SCORE_H

#include <stdint.h>

#include "clock/map.h"
#include "recorded.h"
#include "view.h"

enum { PLACES = 3 }; /* begin, middle and end of a source */

/* Errors and bounds of clock maps against the truth, summed over the maps that are added.
 */
struct score {
	size_t clocks; /* references not counted */
	size_t segments;
	uint64_t messages, before, after;
	double worst_ns[PLACES], sum_ns[PLACES]; /* of the errors' sizes */
	double *half_ns; /* half the bounds' width at the middle, a clock each */
	size_t halves, capacity;
	uint64_t looks, misses; /* bounds that were looked at, and those without truth */
};

/*
 * Add every clock of a map but the references, at its begin, middle and end
 * and at a thousand times between, chosen by chance but always the same.
 */
void score_add(struct score *score, const struct clock_map *map,
	       const struct recorded *run);

/* Agreement of two maps of the same nodes, on different clocks of theirs. */
struct agreement {
	size_t clocks;
	double worst_ns[PLACES];
	uint64_t looks, disjoint; /* instants, and those where no time fits both */
};

/* Add what two views of one node say, each on the same reference node. */
void agreement_add(struct agreement *agreement, const struct view *a,
		   const struct view *b);

/* The middle of all the clocks' half widths; puts them in order. */
double score_median_half(struct score *score);

void score_clear(struct score *score);

#endif
