/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_PLOT_H
#define CT_SYNC_PLOT_PLOT_H

#include "base/chart.h"
#include "base/output.h"
#include "sync/judge/judge.h"

/*
 * One pair of traces, a and b. A point's y is how far b's clock was ahead of a's plus
 * the delay of the message (from a to b), or minus it (from b to a), less what the
 * fitted clocks say, in microseconds; so the fit is the line y = 0, messages from a to b
 * lie above it, and messages from b to a below it. One that lies on the wrong side by
 * half a nanosecond or more breaks the fit, and is drawn so: a sample should hold all of
 * those. x is seconds since begin_ns.
 */
struct plot_pair {
	const char *a, *b;
	const char *caption; /* offset, drift, bound, quality; may be NULL */
	nsec_t begin_ns;     /* x = 0, by the reference clock */
	struct plot_side {
		struct chart_series drawn; /* messages, or a sample of them */
		size_t messages;           /* how many there are in all */
		struct chart_series hull;  /* the hull's corners */
		struct chart_series bound; /* of the fit over time; empty: none */
	} side[2];                         /* above the fit, from a to b, and below */
};

/* Write the picture to path, whole or not at all. 0, or -1 with error. */
int plot_pair_write(const struct plot_pair *pair, const char *path, struct error *error);

/*
 * Return the bound on one clock against another at the same time of the reference; open
 * sides are NSEC_MIN and NSEC_MAX.
 */
struct clock_bound plot_bound(double limit_ppm, const struct clock *one,
			      const struct clock *other, nsec_t ref);

/* A synchronization, as it is drawn. */
struct plot_run {
	const struct network *net;
	const struct verdict *verdict;
	uint64_t matched; /* messages */
};

/*
 * Draw a run into a directory: a picture a pair, A--B.svg, and graph.svg. All are there
 * or none. Pictures of an earlier run in it, known by a list of their names, are
 * replaced. 0, or -1 with error.
 */
int plot_run_write(const struct plot_run *run, const char *directory,
		   struct error *error);

#endif
