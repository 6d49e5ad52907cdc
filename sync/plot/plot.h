/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_PLOT_H
#define CT_SYNC_PLOT_PLOT_H

#include "base/chart.h"
#include "base/output.h"
#include "sync/judge/judge.h"

/* One pair of traces, a and b. y is the corrected latency of a message from a to b, or
 * minus that of a message from b to a, in microseconds. So the fit is the line y = 0,
 * with the messages of each direction on one side. A message on the wrong side by 0.5 ns
 * or more breaks the fit and is marked; a sample should contain all of those. x is
 * seconds since begin_ns. */
struct plot_pair {
	const char *a, *b;
	const char *caption; /* offset, drift, bound, quality; may be NULL */
	nsec_t begin_ns;     /* x = 0, by the reference clock */
	struct plot_side {
		struct chart_series drawn; /* messages, or a sample of them */
		size_t messages;           /* how many there are in all */
		struct chart_series hull;  /* the hull's corners */
		struct chart_series bound; /* bound of the fit over time; or empty */
	} side[2];                         /* above the fit, from a to b, and below */
};

/* Write the picture to `path`, completely or not at all. Return 0, or -1 with error. */
int plot_pair_write(const struct plot_pair *pair, const char *path, struct error *error);

/*
 * Return the bound on one clock against another at the same time of the reference; open
 * sides are NSEC_MIN and NSEC_MAX.
 */
struct clock_bound plot_bound(double limit_ppm, const struct clock *one,
			      const struct clock *other, nsec_t ref);

/* A synchronization to draw. */
struct plot_run {
	const struct network *net;
	const struct verdict *verdict;
	uint64_t matched; /* messages */
};

/* Draw a run into a directory: a picture of each pair, A--B.svg, and graph.svg, all or
 * none. Replace the pictures of an earlier run, which a list in the directory names.
 * Return 0, or -1 with error. */
int plot_run_write(const struct plot_run *run, const char *directory,
		   struct error *error);

#endif
