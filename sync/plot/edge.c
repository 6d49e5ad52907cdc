/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/edge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plot_axis.h"
#include "sync/plot/head.h"

#define TOOLTIP_EDGES 1000 /* with more of them the file would swell */
#define LABEL_SIZE    11.0
#define LABEL_HEIGHT  18.0
#define CLEARANCE     3.0  /* pixels between labels */
#define ASIDE         10.0 /* pixels from a label to any other edge */

/* Dashes are for who does not see the colours. */
const struct plot_quality plot_quality[PLOT_QUALITIES] = {
    {"exact", "stroke=\"#0072b2\" stroke-width=\"3\""},
    {"accurate", "stroke=\"#009e73\" stroke-width=\"3\""},
    {"approximate", "stroke=\"#e08a00\" stroke-width=\"3\" stroke-dasharray=\"9 4\""},
    {"incomplete", "stroke=\"#d00024\" stroke-width=\"3\" stroke-dasharray=\"3 3\""},
    {"contradictory",
     "stroke=\"#7a0177\" stroke-width=\"3\" stroke-dasharray=\"9 3 2 3\""},
    {"absent", "stroke=\"#64748b\" stroke-width=\"3\" stroke-dasharray=\".1 7\" "
	       "stroke-linecap=\"round\""},
    {"other", "stroke=\"#94a3b8\" stroke-width=\"3\""},
};

size_t plot_edge_quality(const struct plot_graph_edge *edge)
{
	size_t i = 0;

	while (i + 1 < PLOT_QUALITIES &&
	       !(edge->quality && strcmp(plot_quality[i].name, edge->quality) == 0))
		i++;
	return i;
}

bool plot_edge_is_valid(const struct plot_graph *graph,
			const struct plot_graph_edge *edge)
{
	return edge->a < graph->nodes && edge->b < graph->nodes && edge->a != edge->b;
}

/* "12,345 messages, ±1.5 ms", or shorter; the caller frees it. */
static char *edge_text(const struct plot_graph_edge *edge, bool is_long)
{
	char messages[PLOT_LABEL], span[PLOT_LABEL];

	plot_label_count(messages, edge->messages);
	plot_label_bound(span, edge->bound_us);
	if (is_long)
		return mem_printf("%s message%s, %s", messages,
				  edge->messages == 1 ? "" : "s", span);
	return mem_printf("%s \xc2\xb7 %s", messages, span);
}

static void draw_tooltip(const struct plot_graph *graph,
			 const struct plot_graph_edge *edge, FILE *file)
{
	char *measures = edge_text(edge, true);
	char *text = mem_printf("%s - %s: %s, %s", graph->node[edge->a].name,
				graph->node[edge->b].name, measures,
				edge->quality ? edge->quality : "unknown quality");

	svg_tooltip(file, text);
	free(measures);
	free(text);
}

static void draw_edge(const struct plot_graph *graph, const struct plot_layout *layout,
		      const struct plot_graph_edge *edge, FILE *file)
{
	const bool has_tooltip = graph->edges <= TOOLTIP_EDGES;
	const double crowd = graph->edges <= 40 ? 1 : graph->edges <= 200 ? 0.6 : 0.35;
	const double width = crowd * (1.2 + log10(1 + (double)edge->messages));
	char style[64];

	snprintf(style, sizeof(style), "stroke-width=\"%.1f\"", width);
	if (has_tooltip) {
		fputs("<g>", file);
		draw_tooltip(graph, edge, file);
	}
	svg_line(file, layout->place[edge->a].at, layout->place[edge->b].at, style);
	if (has_tooltip)
		fputs("</g>\n", file);
}

static const char *opacity(size_t edges)
{
	return edges <= 40 ? ".85" : edges <= 200 ? ".6" : edges <= 2000 ? ".4" : ".15";
}

void plot_edges_draw(const struct plot_graph *graph, const struct plot_layout *layout,
		     FILE *file)
{
	/* The worse lies above the better. */
	for (size_t quality = 0; quality < PLOT_QUALITIES; quality++) {
		fprintf(file, "<g %s opacity=\"%s\">\n", plot_quality[quality].style,
			opacity(graph->edges));
		for (size_t i = 0; i < graph->edges; i++)
			if (plot_edge_is_valid(graph, &graph->edge[i]) &&
			    plot_edge_quality(&graph->edge[i]) == quality)
				draw_edge(graph, layout, &graph->edge[i], file);
		fputs("</g>\n", file);
	}
}

static bool overlaps(const struct svg_box *a, const struct svg_box *b)
{
	return a->x < b->x + b->width + CLEARANCE && b->x < a->x + a->width + CLEARANCE &&
	       a->y < b->y + b->height + CLEARANCE && b->y < a->y + a->height + CLEARANCE;
}

/* The boxes that labels have to keep clear of, and what belongs to them. */
struct labels {
	const struct plot_graph *graph;
	const struct plot_place *place;
	struct svg_box *taken;
	size_t count;
};

static double distance(struct svg_point from, struct svg_point a, struct svg_point b)
{
	const double dx = b.x - a.x, dy = b.y - a.y, square = dx * dx + dy * dy;
	double part = 0;

	if (square > 0)
		part = ((from.x - a.x) * dx + (from.y - a.y) * dy) / square;
	part = fmin(fmax(part, 0), 1);
	return hypot(a.x + part * dx - from.x, a.y + part * dy - from.y);
}

/*
 * A label on a crossing would belong to either edge. `squeeze` is how much
 * less a pixel to the side counts than one up or down.
 */
static bool is_alone(const struct labels *labels, const struct plot_graph_edge *own,
		     struct svg_point middle, double squeeze)
{
	middle.x *= squeeze;
	for (size_t i = 0; i < labels->graph->edges; i++) {
		const struct plot_graph_edge *edge = &labels->graph->edge[i];
		struct svg_point a, b;

		if (edge == own || !plot_edge_is_valid(labels->graph, edge))
			continue;
		a = labels->place[edge->a].at;
		b = labels->place[edge->b].at;
		a.x *= squeeze;
		b.x *= squeeze;
		if (distance(middle, a, b) < ASIDE)
			return false;
	}
	return true;
}

static bool is_free(const struct labels *labels, const struct svg_box *box)
{
	for (size_t i = 0; i < labels->count; i++)
		if (overlaps(box, &labels->taken[i]))
			return false;
	return true;
}

/* Look for room along the edge, from its middle outwards. */
static bool find_room(const struct labels *labels, const struct plot_graph_edge *edge,
		      struct svg_box *box, double squeeze)
{
	static const double parts[] = {0.5,  0.44, 0.56, 0.38, 0.62, 0.32,
				       0.68, 0.26, 0.74, 0.2,  0.8};
	const struct svg_point a = labels->place[edge->a].at;
	const struct svg_point b = labels->place[edge->b].at;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const struct svg_point middle = {a.x + parts[i] * (b.x - a.x),
						 a.y + parts[i] * (b.y - a.y)};

		box->x = middle.x - box->width / 2;
		box->y = middle.y - box->height / 2;
		if (is_free(labels, box) && is_alone(labels, edge, middle, squeeze))
			return true;
	}
	return false;
}

static void draw_label(const struct svg_box *box, const struct plot_graph_edge *edge,
		       const char *text, FILE *file)
{
	fprintf(file, "<g %s>", plot_quality[plot_edge_quality(edge)].style);
	svg_rect(file, box,
		 "rx=\"9\" fill=\"#fff\" stroke-width=\"1\" stroke-dasharray=\"none\"");
	fputs("</g>\n", file);
	svg_text(file,
		 (struct svg_point){box->x + box->width / 2, box->y + box->height - 5},
		 text, "font-size=\"11\" text-anchor=\"middle\" fill=\"" PLOT_INK "\"");
}

static void label_edge(struct labels *labels, const struct plot_graph_edge *edge,
		       FILE *file)
{
	char *text = edge_text(edge, false);
	struct svg_box box = {0, 0, svg_text_width(text, LABEL_SIZE) + 14, LABEL_HEIGHT};

	/* Best where no other edge runs under it at all. */
	if (find_room(labels, edge, &box, box.height / box.width) ||
	    find_room(labels, edge, &box, 1)) {
		draw_label(&box, edge, text, file);
		labels->taken[labels->count++] = box;
	}
	free(text);
}

void plot_edges_label(const struct plot_graph *graph, const struct plot_layout *layout,
		      const struct svg_box *taken, size_t count, FILE *file)
{
	struct labels labels = {graph, layout->place, NULL, count};

	if (graph->edges > PLOT_LABEL_EDGES)
		return;
	labels.taken = mem_alloc((count + graph->edges) * sizeof(*taken));
	memcpy(labels.taken, taken, count * sizeof(*taken));
	for (size_t i = 0; i < graph->edges; i++)
		if (plot_edge_is_valid(graph, &graph->edge[i]))
			label_edge(&labels, &graph->edge[i], file);
	free(labels.taken);
}
