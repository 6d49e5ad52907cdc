/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_DISTRIBUTION_H
#define CT_ANALYZE_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How values (durations in ns, sizes) are distributed, in bounded memory: up to
 * DISTRIBUTION_EXACT values are kept as they are, and percentiles are exact. Of more,
 * values are counted in bins of an octave's 128th part, as HdrHistogram does (Tene), and
 * a percentile is the middle of its bin: off by 1/256 = 0.4 % at most. Count, least,
 * greatest, sum, mean are exact always. Zeroed is empty.
 */
enum { DISTRIBUTION_EXACT = 4096 };

struct distribution {
	uint64_t count;
	int64_t least, most;
	double mean, square; /* of Welford's method: sum of squared differences */
	__int128 sum;
	int64_t *value; /* while there are few */
	size_t room;
	bool sorted;
	struct distribution_bins *bins; /* then */
};

void distribution_add(struct distribution *distribution, int64_t value);

/* Everything of another one, which stays as it is. */
void distribution_merge(struct distribution *to, const struct distribution *from);

/* Whether percentiles are exact. */
bool distribution_is_exact(const struct distribution *distribution);

/*
 * The least value that at least this share (0 to 1) of all do not exceed (nearest rank);
 * 0 of none. Not const, as values are sorted when first asked.
 */
int64_t distribution_percentile(struct distribution *distribution, double share);

/* Of the sample (n - 1); 0 of fewer than two. */
double distribution_deviation(const struct distribution *distribution);

/*
 * Bins for people: the n-th is from `from` to before `to`, where these are 1, 2, 5, 10,
 * ...; the first is below 1. Returns false behind the last. Exact.
 */
bool distribution_bin(const struct distribution *distribution, size_t n, int64_t *from,
		      int64_t *to, uint64_t *count);

void distribution_clear(struct distribution *distribution);

#endif
