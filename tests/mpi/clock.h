/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MPI_CLOCK_H
#define CT_MPI_CLOCK_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

/*
 * A made-up clock, as a function of CLOCK_MONOTONIC: it is ahead by some time at `begin`,
 * and fast by some ppb before and after its bend.
 */
struct made_up_clock {
	long long ahead_ns, begin_ns, ppb, bend_ns, bent_ppb;
};

/* Parse "AHEAD_NS BEGIN_NS PPB BEND_NS BENT_PPB". Return 0, or -1. */
static inline int clock_parse(const char *text, struct made_up_clock *clock)
{
	return text && sscanf(text, "%lld %lld %lld %lld %lld", &clock->ahead_ns,
			      &clock->begin_ns, &clock->ppb, &clock->bend_ns,
			      &clock->bent_ppb) == 5
		   ? 0
		   : -1;
}

static inline int64_t clock_at(const struct made_up_clock *clock, int64_t monotonic_ns)
{
	int64_t before = monotonic_ns, after = 0;

	if (monotonic_ns > clock->bend_ns) {
		before = clock->bend_ns;
		after = monotonic_ns - before;
	}
	return monotonic_ns + clock->ahead_ns +
	       ((before - clock->begin_ns) * clock->ppb + after * clock->bent_ppb) /
		   1000000000;
}

#endif
