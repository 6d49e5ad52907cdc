/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TURN         (2 * M_PI)
#define BESIDE_MOST  14   /* nodes on a circle with labels in two lines */
#define GAP          16.0 /* between islands */
#define PADDING      22.0 /* within an island's box */
#define NODE_MOST    14.0 /* radius of a node */
#define NODE_LEAST   1.2
#define RADIUS_LEAST 60.0 /* of a circle that its labels leave little room */
#define LABEL_SIZE   12.0
#define LABEL_LEAST  1.5
#define LABEL_TALL   34.0  /* two lines */
#define LABEL_AWAY   10.0  /* from the node */
#define TALL         760.0 /* beyond it smaller circles are tried */

static size_t on_circle(const struct plot_island *island)
{
	return island->count - (island->hub < island->count);
}

static enum plot_label_place label_place(const struct plot_island *island)
{
	if (island->count <= 2)
		return PLOT_LABEL_BELOW;
	return on_circle(island) <= BESIDE_MOST ? PLOT_LABEL_BESIDE : PLOT_LABEL_RADIAL;
}

/* Between two neighbours on the circle. */
static double spacing(const struct plot_island *island)
{
	return TURN * island->radius /
	       (double)(on_circle(island) ? on_circle(island) : 1);
}

static double label_size(const struct plot_island *island)
{
	if (label_place(island) != PLOT_LABEL_RADIAL)
		return LABEL_SIZE;
	return fmin(fmax(0.9 * spacing(island), LABEL_LEAST), LABEL_SIZE);
}

static double node_radius(const struct plot_island *island)
{
	if (island->count <= 2)
		return NODE_MOST;
	return fmin(fmax(0.3 * spacing(island), NODE_LEAST), NODE_MOST);
}

/* The widest label, at the full size. */
static double label_room(const struct plot_island *island, const struct plot_graph *graph,
			 plot_label_width *label_width)
{
	const bool one_line = label_place(island) == PLOT_LABEL_RADIAL;
	double room = 0;

	for (size_t i = 0; i < island->count; i++)
		room = fmax(room, label_width(&graph->node[island->member[i]], one_line));
	return fmin(room, PLOT_LABEL_ROOM);
}

/* Room between the circle and the box, to the side and up. */
static struct svg_point margins(const struct plot_island *island)
{
	const double node = NODE_MOST + LABEL_AWAY + PADDING;
	const double room = island->room * label_size(island) / LABEL_SIZE;

	switch (label_place(island)) {
	case PLOT_LABEL_BELOW:
		return (struct svg_point){fmax(room / 2 + PADDING, node),
					  node + LABEL_TALL / 2};
	case PLOT_LABEL_BESIDE:
		return (struct svg_point){node + room, node};
	default:
		return (struct svg_point){node + room, node + room};
	}
}

static double circle_radius(const struct plot_island *island, double scale)
{
	const double nodes = (double)on_circle(island);

	if (island->count <= 2)
		return island->count == 2 ? 130 * scale : 0;
	if (label_place(island) == PLOT_LABEL_BESIDE)
		return scale * fmin(115 + 16 * nodes, 280);
	return scale * fmin(220 + 1.7 * nodes, 420);
}

/* Where the first node of the circle is: at the top, or so that none is at the bottom. */
static double first_angle(const struct plot_island *island)
{
	const size_t nodes = on_circle(island);

	if (island->count == 2)
		return -TURN / 2;
	if (island->hub < island->count && nodes % 2 == 0)
		return -TURN / 4 + TURN / 2 / (double)nodes;
	return -TURN / 4;
}

/* How far the nodes reach from the middle of the circle, and labels above or below. */
struct reach {
	double up, down;
};

static struct reach reach_of(const struct plot_island *island)
{
	const bool is_beside = label_place(island) == PLOT_LABEL_BESIDE;
	const size_t nodes = on_circle(island);
	struct reach reach = {0, 0};

	for (size_t i = 0; i < nodes; i++) {
		const double angle =
		    first_angle(island) + TURN * (double)i / (double)nodes;
		const bool is_upright = is_beside && fabs(cos(angle)) < PLOT_SIDEWAYS;
		const double label = is_upright ? LABEL_TALL : 0;
		const double y = island->radius * sin(angle);

		reach.up = fmax(reach.up, label - y);
		reach.down = fmax(reach.down, label + y);
	}
	return reach;
}

static void measure(struct plot_island *island, double scale, double width)
{
	struct svg_point margin;
	struct reach reach;

	island->radius = circle_radius(island, scale);
	margin = margins(island);
	island->radius = fmin(island->radius, fmax(width / 2 - margin.x, RADIUS_LEAST));
	reach = reach_of(island);
	island->box.width = 2 * (island->radius + margin.x);
	island->box.height = reach.up + reach.down + 2 * margin.y;
}

/* Shift a finished row to the middle, and make its boxes equally tall. */
static void finish_row(struct plot_island *island, size_t count, double width,
		       double height)
{
	const struct svg_box *last = &island[count - 1].box;
	const double shift = (width - (last->x + last->width)) / 2;

	for (size_t i = 0; i < count; i++) {
		island[i].box.x += shift;
		island[i].box.height = height;
	}
}

/* Put the boxes in rows; returns the height of all. */
static double fill_rows(struct plot_layout *layout, double width)
{
	double x = 0, y = 0, height = 0;
	size_t first = 0;

	for (size_t i = 0; i < layout->islands; i++) {
		struct svg_box *box = &layout->island[i].box;

		/* A small island in a tall row would look lost. */
		if (i > first && (x + box->width > width || box->height < height / 2)) {
			finish_row(&layout->island[first], i - first, width, height);
			y += height + GAP;
			x = height = 0;
			first = i;
		}
		box->x = x;
		box->y = y;
		x += box->width + GAP;
		height = fmax(height, box->height);
	}
	if (layout->islands > first)
		finish_row(&layout->island[first], layout->islands - first, width,
			   height);
	return y + height;
}

static void arrange(struct plot_layout *layout, double width)
{
	static const double scales[] = {1, 0.85, 0.7, 0.6, 0.5};

	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
		for (size_t k = 0; k < layout->islands; k++)
			measure(&layout->island[k], scales[i], width);
		layout->height = fill_rows(layout, width);
		if (layout->height <= TALL || layout->islands == 1)
			return;
	}
}

static void place_members(const struct plot_island *island, struct plot_place *place)
{
	const double step = TURN / (double)(on_circle(island) ? on_circle(island) : 1);
	const struct svg_box *box = &island->box;
	const struct reach reach = reach_of(island);
	const struct svg_point middle = {
	    box->x + box->width / 2, box->y + (box->height + reach.up - reach.down) / 2};
	struct plot_place common = {.at = middle,
				    .radius = node_radius(island),
				    .size = label_size(island),
				    .label = label_place(island)};
	double angle = first_angle(island);

	if (island->count <= 2)
		common.at.y -= LABEL_TALL / 2;
	for (size_t i = 0; i < island->count; i++) {
		struct plot_place *at = &place[island->member[i]];

		*at = common;
		at->angle = angle;
		if (i == island->hub) {
			at->is_hub = true;
			at->label = PLOT_LABEL_BELOW;
			at->size = LABEL_SIZE;
			at->radius = fmax(at->radius, NODE_MOST / 2);
			continue;
		}
		at->at.x += island->radius * cos(angle);
		at->at.y += island->radius * sin(angle);
		angle += step;
	}
}

void plot_layout_init(struct plot_layout *layout, const struct plot_graph *graph,
		      double width, plot_label_width *label_width)
{
	memset(layout, 0, sizeof(*layout));
	plot_layout_group(layout, graph);
	for (size_t i = 0; i < layout->islands; i++)
		layout->island[i].room =
		    label_room(&layout->island[i], graph, label_width);
	arrange(layout, width);
	layout->nodes = graph->nodes;
	layout->place = mem_zalloc(graph->nodes * sizeof(*layout->place));
	for (size_t i = 0; i < layout->islands; i++)
		place_members(&layout->island[i], layout->place);
}

void plot_layout_clear(struct plot_layout *layout)
{
	free(layout->place);
	free(layout->island);
	free(layout->member);
	memset(layout, 0, sizeof(*layout));
}
