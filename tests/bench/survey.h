/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_SURVEY_H
#define CT_TESTS_BENCH_SURVEY_H

#include <stdint.h>

#include "clock/map.h"
#include "recorded.h"

/*
 * The clocks of a map against the truth of a simulated run, at a thousand random times
 * per clock.
 */
struct survey {
	uint64_t looks;     /* references are not looked at */
	uint64_t misses;    /* of these, bounds that do not hold the truth */
	uint64_t sure;      /* of these, of clocks that are called accurate or exact */
	uint64_t unbounded; /* of these, with a side that nothing bounds */
	double *error_ns;   /* a look each: the size of the estimate's error */
	double *half_ns;    /* half of what the bounds leave; INFINITY: unbounded */
	size_t capacity[2];
	uint64_t before, after, rejected; /* messages, of all pairs */
	nsec_t miss_local_ns;             /* where the first miss is, */
	const char *miss_trace;           /* and whose; borrowed from the run; or NULL */
};

/* 0, or -1 with error where a clock saw too little to be looked at. */
int survey_make(struct survey *survey, const struct clock_map *map,
		const struct recorded *run, uint64_t seed, struct error *error);

/* The median and the greatest of what every look found; they put it in order. */
double survey_median(double *values, const struct survey *survey);
double survey_worst(double *values, const struct survey *survey);

void survey_clear(struct survey *survey);

#endif
