/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_LAYOUT_H
#define CT_SYNC_PLOT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/svg.h"
#include "sync/plot/plot.h"

/*
 * Places for the nodes of a graph: a circle an island, or a star where all
 * edges meet in one node; islands side by side in rows.
 */
enum plot_label_place {
	PLOT_LABEL_BELOW,  /* two lines, centred under the node */
	PLOT_LABEL_BESIDE, /* two lines, outside of the circle */
	PLOT_LABEL_RADIAL, /* one line that runs away from the circle's middle */
};

struct plot_place {
	struct svg_point at;
	double angle;  /* radians, outwards from the middle, clockwise from the right */
	double radius; /* of the node */
	double size;   /* of the label's font */
	enum plot_label_place label;
	bool is_hub; /* edges run below its label */
};

struct plot_island {
	struct svg_box box;
	size_t *member; /* indices of nodes, the reference first */
	size_t count;
	size_t hub;    /* index in member of the node in the middle, else count */
	double radius; /* of the circle */
	double room;   /* for the labels outside of the circle */
};

struct plot_layout {
	struct plot_place *place; /* one a node */
	struct plot_island *island;
	size_t *member; /* the islands' members */
	size_t nodes, islands;
	double height;
};

#define PLOT_LABEL_ROOM 150.0 /* pixels; longer names are cut */
#define PLOT_SIDEWAYS   0.3   /* cosine from which a label stands beside its node */

/* The room that a node's label takes at a font size of 12, in one line or in two. */
typedef double plot_label_width(const struct plot_graph_node *node, bool one_line);

/* Lay graph out in `width` pixels, from the origin. */
void plot_layout_init(struct plot_layout *layout, const struct plot_graph *graph,
		      double width, plot_label_width *label_width);
void plot_layout_clear(struct plot_layout *layout);

/* A step of plot_layout_init: the islands, their members and hubs; no places yet. */
void plot_layout_group(struct plot_layout *layout, const struct plot_graph *graph);

#endif
