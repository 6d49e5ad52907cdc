/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_PLOT_H
#define CT_SYNC_PLOT_PLOT_H

#include <stddef.h>

#include "base/nsec.h"
#include "base/output.h"

/*
 * Pictures of a synchronization, as SVG of our own: no program needs to be
 * there to draw them, and any browser shows them. Names may hold any bytes,
 * and a point that is not finite is left out.
 */
struct plot_point {
	double x; /* seconds since the plot's begin, on the reference clock */
	double y; /* microseconds, see below */
};

struct plot_series {
	const struct plot_point *point; /* by ascending x where it is a line */
	size_t count;
};

/*
 * One pair of traces, a and b. y is how far b's clock was ahead of a's plus
 * the delay of the message (from a to b), or minus it (from b to a), less
 * what the fitted clocks say; so the fit is the line y = 0, messages from a
 * to b lie above it, and messages from b to a below it. One that lies on the
 * wrong side by half a nanosecond or more breaks the fit, and is drawn so: a
 * sample should hold all of those.
 */
struct plot_pair {
	const char *a, *b;
	const char *caption;             /* offset, drift, bound, quality; may be NULL */
	nsec_t begin_ns;                 /* x = 0, by the reference clock */
	struct plot_series ab, ba;       /* messages, or a sample of them */
	size_t messages_ab, messages_ba; /* how many there are in all */
	struct plot_series hull_ab, hull_ba; /* the half hulls' corners */
	struct plot_series low, high; /* the bound over time; empty: none that side */
};

/* The traces of a run as nodes, pairs with messages as edges. */
struct plot_graph_node {
	const char *name;
	double bound_us; /* the wider side of the bound at the middle; < 0: none */
	int island;
	int is_reference;
};

struct plot_graph_edge {
	size_t a, b; /* indices of nodes */
	size_t messages;
	double bound_us;     /* the same of one against the other; < 0: none */
	const char *quality; /* a word of the clock map, or NULL */
};

struct plot_graph {
	const char *caption; /* may be NULL */
	const struct plot_graph_node *node;
	size_t nodes;
	const struct plot_graph_edge *edge;
	size_t edges;
};

/*
 * Write one picture to path, whole or not at all. 0, or -1 with error.
 */
int plot_pair_write(const struct plot_pair *pair, const char *path, struct error *error);
int plot_graph_write(const struct plot_graph *graph, const char *path,
		     struct error *error);

#endif
