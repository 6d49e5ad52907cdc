/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_EDGE_H
#define CT_SYNC_PLOT_EDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sync/plot/layout.h"
#include "sync/plot/plot.h"

/* How edges look: one entry a quality, the last for those unknown here. */
struct plot_quality {
	const char *name, *style;
};

#define PLOT_QUALITIES 7

extern const struct plot_quality plot_quality[PLOT_QUALITIES];

size_t plot_edge_quality(const struct plot_graph_edge *edge);

/* Whether it is between two different nodes of graph; others are not drawn. */
bool plot_edge_is_valid(const struct plot_graph *graph,
			const struct plot_graph_edge *edge);

#define PLOT_LABEL_EDGES 30 /* with more of them no edge has a label */

/* All edges, coloured by quality and with a width by messages. */
void plot_edges_draw(const struct plot_graph *graph, const struct plot_layout *layout,
		     FILE *file);

/*
 * Labels of edges, where there is room between the nodes and the boxes that
 * are taken already.
 */
void plot_edges_label(const struct plot_graph *graph, const struct plot_layout *layout,
		      const struct svg_box *taken, size_t count, FILE *file);

#endif
