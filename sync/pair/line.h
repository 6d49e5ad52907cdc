/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PAIR_LINE_H
#define CT_SYNC_PAIR_LINE_H

#include "sync/pair/hull.h"

/*
 * The hulls of the messages of two clocks, a and b. In their plane x is a's local time
 * and y is b's.
 */
struct hulls {
	struct hull lower; /* hull of messages from a to b */
	struct hull upper; /* hull of messages from b to a */
	struct hull_point
	    origin; /* origin of lines; near the messages, for small differences */
};

struct pair_line {
	struct line line; /* with the largest margin */
	double margin_ns; /* its slack to both hulls; negative: contradiction */
	bool too_fast;    /* only lines beyond the limit satisfy the messages */
};

/* Far beyond any clock: a clock beyond the limit is distinguished from contradictory
 * messages. */
#define PAIR_RATE_MOST 0.1

/* Return the line with the largest slack to both hulls and a |rate| of at most `limit`,
 * with its slack, which is negative if no line satisfies all messages. With messages in
 * one direction only: the line that is closest to them on average, with slack 0. */
struct pair_line pair_line_fit(const struct hulls *hulls, double limit);

/* Do the same, but allow rates beyond the limit if only they satisfy all messages. */
struct pair_line pair_line_or_too_fast(const struct hulls *hulls, double limit);

/*
 * The steepest line that separates the hulls with a margin, up to a limit; of a negative
 * limit the flattest.
 */
struct line pair_line_extreme(const struct hulls *hulls, const struct pair_line *fit,
			      double limit);

/* Find the bisector of both extreme tangents. Return half the width (ns) that they leave
 * at x; or infinity, with the line of largest slack, if messages go in one direction only
 * or contradict each other. */
double pair_line_bisector(const struct hulls *hulls, const struct pair_line *fit,
			  double limit, nsec_t x, struct line *line);

#endif
