/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/plot.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plot_axis.h"
#include "sync/plot/edge.h"
#include "sync/plot/head.h"
#include "sync/plot/layout.h"

#define WIDTH       960.0
#define BODY_MARGIN 24.0 /* left and right of the islands, and below */
#define NAME_SIZE   12.0
#define BOLD        1.1  /* bold letters are wider */
#define LINE        15.0 /* between a node's name and its bound */
#define RING        1.15 /* a reference is larger */
#define SMALL_NODE  6.0  /* below it a node is but a dot */
#define HALO        " stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\""
#define NAME_STYLE  " font-weight=\"600\" fill=\"" PLOT_INK "\"" HALO
#define BOUND_STYLE " fill=\"" PLOT_MUTED "\"" HALO
#define SOME_STYLE  "font-size=\"12\" text-anchor=\""

struct picture {
	const struct plot_graph *graph;
	struct plot_layout layout;
	struct plot_head head;
	double height;
};

static char *bound_text(char text[PLOT_LABEL], const struct plot_graph_node *node)
{
	if (node->is_reference)
		return strcpy(text, "reference");
	return plot_label_bound(text, node->bound_us);
}

static double label_width(const struct plot_graph_node *node, bool one_line)
{
	char bound[PLOT_LABEL];
	const double below = svg_text_width(bound_text(bound, node), NAME_SIZE);
	const double name = svg_text_width(node->name, NAME_SIZE * BOLD);

	return one_line ? name + NAME_SIZE + below : fmax(name, below);
}

static void width_key(struct plot_head *head, const struct plot_graph *graph)
{
	size_t least = SIZE_MAX, most = 0;
	char from[PLOT_LABEL], to[PLOT_LABEL];

	for (size_t i = 0; i < graph->edges; i++) {
		const struct plot_graph_edge *edge = &graph->edge[i];

		if (!plot_edge_is_valid(graph, edge))
			continue;
		least = edge->messages < least ? edge->messages : least;
		most = edge->messages > most ? edge->messages : most;
	}
	if (least >= most)
		return;
	plot_head_key(head, PLOT_SWATCH_NONE, "", "width: %s to %s messages, logarithmic",
		      plot_label_count(from, least), plot_label_count(to, most));
}

static void quality_keys(struct plot_head *head, const struct plot_graph *graph)
{
	size_t count[PLOT_QUALITIES] = {0};

	for (size_t i = 0; i < graph->edges; i++)
		if (plot_edge_is_valid(graph, &graph->edge[i]))
			count[plot_edge_quality(&graph->edge[i])]++;
	for (size_t i = 0; i < PLOT_QUALITIES; i++)
		if (count[i] > 0)
			plot_head_key(head, PLOT_SWATCH_LINE, plot_quality[i].style,
				      "%s: %zu pair%s", plot_quality[i].name, count[i],
				      count[i] == 1 ? "" : "s");
}

static void picture_init(struct picture *picture, const struct plot_graph *graph)
{
	const bool has_labels = graph->edges > 0 && graph->edges <= PLOT_LABEL_EDGES;
	struct plot_head *head = &picture->head;

	*picture = (struct picture){.graph = graph};
	head->title = "Synchronization graph";
	head->caption = graph->caption;
	head->width = WIDTH;
	plot_head_key(head, PLOT_SWATCH_DOT, "fill=\"" PLOT_INK "\"", "reference");
	quality_keys(head, graph);
	width_key(head, graph);
	plot_head_key(head, PLOT_SWATCH_NONE, "", "%s\xc2\xb1 wider side of the bound",
		      has_labels ? "on a line: messages \xc2\xb7 " : "");
	plot_layout_init(&picture->layout, graph, WIDTH - 2 * BODY_MARGIN, label_width);
	picture->height = plot_head_draw(head, NULL) + 14 +
			  fmax(picture->layout.height, 60) + BODY_MARGIN;
}

static void picture_clear(struct picture *picture)
{
	plot_layout_clear(&picture->layout);
	plot_head_clear(&picture->head);
}

/* Of one island alone the frame says nothing. */
static void draw_islands(const struct plot_layout *layout, FILE *file)
{
	if (layout->islands < 2)
		return;
	for (size_t i = 0; i < layout->islands; i++)
		svg_rect(file, &layout->island[i].box,
			 "rx=\"12\" fill=\"#f8fafc\" stroke=\"" PLOT_GRID "\"");
}

/* Of all that is drawn of the node; a reference has a ring. */
static double outer_radius(const struct plot_graph_node *node,
			   const struct plot_place *place)
{
	return node->is_reference ? place->radius * RING + 4 : place->radius;
}

static void draw_node(const struct plot_graph_node *node, const struct plot_place *place,
		      FILE *file)
{
	char bound[PLOT_LABEL];
	char *text = mem_printf("%s: %s", node->name, bound_text(bound, node));

	fputs("<g>", file);
	svg_tooltip(file, text);
	if (node->is_reference) {
		svg_circle(file, place->at, outer_radius(node, place),
			   "fill=\"#fff\" stroke=\"" PLOT_INK "\" stroke-width=\"1.6\"");
		svg_circle(file, place->at, outer_radius(node, place) - 4,
			   "fill=\"" PLOT_INK "\"");
	} else if (place->radius < SMALL_NODE) {
		svg_circle(file, place->at, place->radius, "fill=\"#475569\"");
	} else {
		svg_circle(file, place->at, place->radius,
			   "fill=\"#dbe4ee\" stroke=\"#475569\" stroke-width=\"1.6\"");
	}
	fputs("</g>\n", file);
	free(text);
}

/* Where a label of two lines begins, and to which side it runs. */
struct label {
	struct svg_point at; /* of the first base line */
	const char *name_style, *bound_style;
	double anchor; /* 0 at is its left end, 1 its right end */
};

static struct label label_of(const struct plot_graph_node *node,
			     const struct plot_place *place)
{
	const double away = outer_radius(node, place) + 8, side = cos(place->angle);
	struct label label = {place->at, SOME_STYLE "middle\"" NAME_STYLE,
			      SOME_STYLE "middle\"" BOUND_STYLE, 0.5};

	if (place->label == PLOT_LABEL_BELOW) {
		label.at.y += place->radius * RING + 22; /* in line with its neighbours */
	} else if (fabs(side) < PLOT_SIDEWAYS && sin(place->angle) > 0) {
		label.at.y += away + 10;
	} else if (fabs(side) < PLOT_SIDEWAYS) {
		label.at.y -= away + LINE;
	} else if (side > 0) {
		label = (struct label){{place->at.x + away, place->at.y - 2},
				       SOME_STYLE "start\"" NAME_STYLE,
				       SOME_STYLE "start\"" BOUND_STYLE,
				       0};
	} else {
		label = (struct label){{place->at.x - away, place->at.y - 2},
				       SOME_STYLE "end\"" NAME_STYLE,
				       SOME_STYLE "end\"" BOUND_STYLE,
				       1};
	}
	return label;
}

static struct svg_box label_box(const struct plot_graph_node *node,
				const struct plot_place *place)
{
	const struct label label = label_of(node, place);
	const double width = fmin(label_width(node, false), PLOT_LABEL_ROOM);

	if (place->label == PLOT_LABEL_RADIAL) /* outside of the circle: no edge there */
		return (struct svg_box){place->at.x, place->at.y, 0, 0};
	return (struct svg_box){label.at.x - label.anchor * width, label.at.y - NAME_SIZE,
				width, LINE + NAME_SIZE + 4};
}

static void draw_two_lines(const struct plot_graph_node *node,
			   const struct plot_place *place, FILE *file)
{
	const struct label label = label_of(node, place);
	char *name = svg_text_fit(node->name, NAME_SIZE * BOLD, PLOT_LABEL_ROOM);
	const struct svg_box box = label_box(node, place);
	char bound[PLOT_LABEL];

	if (place->is_hub)
		svg_rect(file, &box, "rx=\"4\" fill=\"#fff\" fill-opacity=\".85\"");
	svg_text(file, label.at, name, label.name_style);
	svg_text(file, (struct svg_point){label.at.x, label.at.y + LINE},
		 bound_text(bound, node), label.bound_style);
	free(name);
}

static void draw_radial(const struct plot_graph_node *node,
			const struct plot_place *place, FILE *file)
{
	const bool is_left = cos(place->angle) < 0;
	const double away = outer_radius(node, place) + 7;
	const double degrees = place->angle * 180 / M_PI + (is_left ? 180 : 0);
	const double lower = 0.35 * place->size; /* the middle of small letters */
	const double turn = degrees * M_PI / 180;
	const struct svg_point at = {
	    place->at.x + away * cos(place->angle) - lower * sin(turn),
	    place->at.y + away * sin(place->angle) + lower * cos(turn)};
	char bound[PLOT_LABEL], style[128];
	char *name, *text;

	bound_text(bound, node);
	name =
	    svg_text_fit(node->name, NAME_SIZE * BOLD,
			 PLOT_LABEL_ROOM - NAME_SIZE - svg_text_width(bound, NAME_SIZE));
	text = mem_printf("%s  %s", name, bound);
	snprintf(style, sizeof(style),
		 "font-size=\"%.1f\" text-anchor=\"%s\" fill=\"" PLOT_INK "\"%s",
		 place->size, is_left ? "end" : "start",
		 node->is_reference ? " font-weight=\"600\"" : "");
	svg_text_turned(file, at, degrees, text, style);
	free(name);
	free(text);
}

static void label_edges(const struct picture *picture, FILE *file)
{
	const struct plot_graph *graph = picture->graph;
	struct svg_box *taken = mem_alloc(2 * graph->nodes * sizeof(*taken));

	for (size_t i = 0; i < graph->nodes; i++) {
		const struct plot_place *place = &picture->layout.place[i];
		const double radius = outer_radius(&graph->node[i], place);

		taken[2 * i] = (struct svg_box){
		    place->at.x - radius, place->at.y - radius, 2 * radius, 2 * radius};
		taken[2 * i + 1] = label_box(&graph->node[i], place);
	}
	plot_edges_label(graph, &picture->layout, taken, 2 * graph->nodes, file);
	free(taken);
}

static void draw_picture(const struct picture *picture, FILE *file)
{
	const struct plot_graph *graph = picture->graph;
	const struct plot_place *place = picture->layout.place;

	svg_begin(file, WIDTH, picture->height, picture->head.title);
	plot_head_draw(&picture->head, file);
	fputs("<g transform=\"translate(", file);
	svg_number(file, BODY_MARGIN);
	putc(' ', file);
	svg_number(file, plot_head_draw(&picture->head, NULL) + 14);
	fputs(")\">\n", file);
	draw_islands(&picture->layout, file);
	plot_edges_draw(graph, &picture->layout, file);
	for (size_t i = 0; i < graph->nodes; i++)
		draw_node(&graph->node[i], &place[i], file);
	for (size_t i = 0; i < graph->nodes; i++) {
		if (place[i].label == PLOT_LABEL_RADIAL)
			draw_radial(&graph->node[i], &place[i], file);
		else
			draw_two_lines(&graph->node[i], &place[i], file);
	}
	label_edges(picture, file);
	fputs("</g>\n", file);
	svg_end(file);
}

int plot_graph_write(const struct plot_graph *graph, const char *path,
		     struct error *error)
{
	struct picture picture;
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	picture_init(&picture, graph);
	draw_picture(&picture, output.file);
	picture_clear(&picture);
	return output_commit(&output, error);
}
