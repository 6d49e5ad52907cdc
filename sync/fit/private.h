/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_FIT_PRIVATE_H
#define CT_SYNC_FIT_PRIVATE_H

#include "sync/fit/fit.h"

/* For those who implement a method. */

extern const struct fit_method fit_hull, fit_margin, fit_joint, fit_regression;

/*
 * The bisector of the hulls' extreme tangents of a |rate| up to `limit`
 * (fit/hull.c), and half the width that they leave at x, in nanoseconds;
 * infinite, with the largest-margin line, where messages go one way only or
 * contradict each other.
 */
double fit_bisector(const struct pair *pair, double limit, nsec_t x, struct line *line);

/* The largest |rate| between the clocks of a pair: each may have the limit's. */
double fit_pair_limit(const struct fit_island *island, const struct pair *pair);

/* Put a line of given rate in the middle between the hulls; its slack to them. */
double fit_middle(const struct pair *pair, struct line *line);

/*
 * Compose lines of pairs along the island's tree: `pair_line` gives each
 * tree pair's line from its a to its b.
 */
int fit_along_tree(struct fit_island *island,
		   int (*pair_line)(struct fit_island *island, uint32_t pair,
				    struct line *line, struct error *error),
		   struct error *error);

/*
 * By how much the message at a corner of a pair's hull was received after it
 * was sent, on the fitted clocks, in nanoseconds.
 */
double fit_corner_slack(const struct fit_island *island, const struct pair *pair,
			struct hull_point corner, bool forward);

/* Call `look` for each corner of each pair inside the island. */
void fit_each_corner(struct fit_island *island,
		     void (*look)(void *context, const struct pair *pair,
				  struct hull_point corner, bool forward),
		     void *context);

#endif
