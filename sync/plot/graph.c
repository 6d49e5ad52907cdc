/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/plot/plot.h"

/* Each island is a circle of nodes, its reference first; islands stand in rows. */
#define BODY_MARGIN   24.0 /* left and right of the islands, and below */
#define GAP           16.0 /* between islands */
#define PADDING       36.0 /* from a circle's labels to its box */
#define NAME_SIZE     12.0
#define BOLD          1.1   /* bold letters are wider */
#define LINE          15.0  /* between a node's name and its bound */
#define LABEL_ROOM    150.0 /* pixels; longer names are cut */
#define TWO_LINES     14    /* nodes on a circle whose labels have two lines */
#define LABELED_EDGES 12    /* with more of them no edge has a label */
#define TITLED_EDGES  1000  /* with more of them the file would swell */
#define HALO          " stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\""
#define NAME_STYLE    " font-weight=\"600\" fill=\"" CHART_INK "\"" HALO
#define BOUND_STYLE   " fill=\"" CHART_MUTED "\"" HALO

struct place {
	struct svg_point at;
	double angle;   /* radians, outwards from the middle, clockwise from the right */
	double radius;  /* of the node */
	double size;    /* of the label's font */
	bool is_radial; /* the label is one line that runs away from the middle */
};

struct picture {
	const struct plot_graph *graph;
	struct chart head;
	size_t *order; /* nodes by island */
	struct place *place;
	struct svg_box *island;
	size_t islands;
	double height; /* of the islands */
};

/* How edges look: one entry a quality, the last for those unknown here. Dashes are for
 * who does not see the colours. */
enum { QUALITIES = 7 };

static const struct {
	const char *name, *style;
} qualities[QUALITIES] = {
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

static size_t quality_of(const struct plot_graph_edge *edge)
{
	size_t i = 0;

	while (i + 1 < QUALITIES &&
	       !(edge->quality && strcmp(qualities[i].name, edge->quality) == 0))
		i++;
	return i;
}

static char *bound_text(char text[CHART_LABEL], const struct plot_graph_node *node)
{
	if (node->is_reference)
		return strcpy(text, "reference");
	return chart_label_bound(text, node->bound_us);
}

static double label_width(const struct plot_graph_node *node, bool one_line)
{
	char bound[CHART_LABEL];
	const double below = svg_text_width(bound_text(bound, node), NAME_SIZE);
	const double name = svg_text_width(node->name, NAME_SIZE * BOLD);

	return fmin(one_line ? name + NAME_SIZE + below : fmax(name, below), LABEL_ROOM);
}

/* ---- places */

static int by_island(const void *left, const void *right, void *context)
{
	const struct plot_graph_node *node = context;
	const size_t x = *(const size_t *)left, y = *(const size_t *)right;

	if (node[x].island != node[y].island)
		return node[x].island < node[y].island ? -1 : 1;
	if (!node[x].is_reference != !node[y].is_reference)
		return node[x].is_reference ? -1 : 1;
	return (x > y) - (x < y);
}

/* Place an island's nodes round the origin; returns the size of its box. */
static struct svg_box place_circle(const struct picture *picture, const size_t *member,
				   size_t count)
{
	const bool is_radial = count > TWO_LINES;
	const double turn = 2 * M_PI / (double)count,
		     first = count == 2 ? M_PI : -M_PI / 2;
	double radius = count == 1   ? 0
			: count == 2 ? 110
				     : fmin(110 + 14 * (double)count, 360);
	double room = 0, side, spacing;

	for (size_t i = 0; i < count; i++)
		room =
		    fmax(room, label_width(&picture->graph->node[member[i]], is_radial));
	side = (CHART_WIDTH - 2 * BODY_MARGIN) / 2 - room - PADDING;
	radius = fmin(radius, fmax(side, 60));
	spacing = count > 2 ? turn * radius : 100;
	for (size_t i = 0; i < count; i++) {
		struct place *place = &picture->place[member[i]];

		place->angle = count == 1 ? M_PI / 2 : first + turn * (double)i;
		place->at.x = radius * cos(place->angle);
		place->at.y = count == 1 ? 0 : radius * sin(place->angle);
		place->radius = fmin(fmax(0.3 * spacing, 1.2), 14);
		place->size =
		    is_radial ? fmin(fmax(0.9 * spacing, 1.5), NAME_SIZE) : NAME_SIZE;
		place->is_radial = is_radial;
	}
	room = is_radial ? room * fmin(0.9 * spacing / NAME_SIZE, 1) : room;
	side = radius + (is_radial ? room : 2 * LINE) + PADDING;
	if (count <= 2)
		side = 2 * LINE + PADDING;
	return (struct svg_box){0, 0, 2 * (radius + PADDING) + (count > 1 ? 2 : 1) * room,
				2 * side};
}

/* Shift a row of finished islands to the middle; returns the next row's top. */
static double finish_row(struct picture *picture, size_t first, size_t end, double y)
{
	struct svg_box *island = picture->island;
	double width = -GAP, height = 0, x;

	for (size_t i = first; i < end; i++) {
		width += island[i].width + GAP;
		height = fmax(height, island[i].height);
	}
	x = (CHART_WIDTH - 2 * BODY_MARGIN - width) / 2;
	for (size_t i = first; i < end; i++) {
		island[i] = (struct svg_box){x, y, island[i].width, height};
		x += island[i].width + GAP;
	}
	return y + height + GAP;
}

static void fill_rows(struct picture *picture)
{
	double x = 0;
	size_t first = 0;

	for (size_t i = 0; i < picture->islands; i++) {
		const double width = picture->island[i].width;

		if (i > first && x + width > CHART_WIDTH - 2 * BODY_MARGIN) {
			picture->height = finish_row(picture, first, i, picture->height);
			first = i;
			x = 0;
		}
		x += width + GAP;
	}
	if (picture->islands)
		picture->height =
		    finish_row(picture, first, picture->islands, picture->height) - GAP;
}

static void place_nodes(struct picture *picture)
{
	const struct plot_graph *graph = picture->graph;
	size_t *order = picture->order;
	size_t *begin = mem_alloc((graph->nodes + 1) * sizeof(*begin));

	for (size_t i = 0; i < graph->nodes; i++)
		order[i] = i;
	qsort_r(order, graph->nodes, sizeof(*order), by_island, (void *)graph->node);
	for (size_t i = 0; i < graph->nodes; i++)
		if (!i ||
		    graph->node[order[i]].island != graph->node[order[i - 1]].island)
			begin[picture->islands++] = i;
	begin[picture->islands] = graph->nodes;
	for (size_t i = 0; i < picture->islands; i++)
		picture->island[i] =
		    place_circle(picture, order + begin[i], begin[i + 1] - begin[i]);
	fill_rows(picture);
	for (size_t i = 0; i < picture->islands; i++) {
		const struct svg_box *box = &picture->island[i];

		for (size_t k = begin[i]; k < begin[i + 1]; k++) {
			picture->place[order[k]].at.x += box->x + box->width / 2;
			picture->place[order[k]].at.y += box->y + box->height / 2;
		}
	}
	free(begin);
}

/* ---- edges */

/* Whether it is between two different nodes; others are not drawn. */
static bool is_valid(const struct plot_graph *graph, const struct plot_graph_edge *edge)
{
	return edge->a < graph->nodes && edge->b < graph->nodes && edge->a != edge->b;
}

static void draw_edge(const struct picture *picture, const struct plot_graph_edge *edge,
		      FILE *file)
{
	const struct plot_graph *graph = picture->graph;
	const double crowd = graph->edges <= 40 ? 1 : graph->edges <= 200 ? 0.6 : 0.35;
	const double width = crowd * (1.2 + log10(1 + (double)edge->messages));
	char style[64], messages[CHART_LABEL], bound[CHART_LABEL];
	char *text = mem_printf(
	    "%s - %s: %s message%s, %s, %s", graph->node[edge->a].name,
	    graph->node[edge->b].name, chart_label_count(messages, edge->messages),
	    edge->messages == 1 ? "" : "s", chart_label_bound(bound, edge->bound_us),
	    edge->quality ? edge->quality : "unknown quality");

	snprintf(style, sizeof(style), "stroke-width=\"%.1f\"", width);
	fputs("<g>", file);
	if (graph->edges <= TITLED_EDGES)
		svg_tooltip(file, text);
	svg_line(file, picture->place[edge->a].at, picture->place[edge->b].at, style);
	fputs("</g>\n", file);
	free(text);
}

static void draw_edges(const struct picture *picture, FILE *file)
{
	const struct plot_graph *graph = picture->graph;
	const size_t edges = graph->edges;

	/* The worse lies above the better. */
	for (size_t quality = 0; quality < QUALITIES; quality++) {
		fprintf(file, "<g %s opacity=\"%s\">\n", qualities[quality].style,
			edges <= 40     ? ".85"
			: edges <= 200  ? ".6"
			: edges <= 2000 ? ".4"
					: ".15");
		for (size_t i = 0; i < edges; i++)
			if (is_valid(graph, &graph->edge[i]) &&
			    quality_of(&graph->edge[i]) == quality)
				draw_edge(picture, &graph->edge[i], file);
		fputs("</g>\n", file);
	}
}

/*
 * Messages and bound of each edge, nearer to its first node: lines that cross mostly do
 * so in their middles.
 */
static void label_edges(const struct picture *picture, FILE *file)
{
	const struct plot_graph *graph = picture->graph;

	for (size_t i = 0; i < graph->edges && graph->edges <= LABELED_EDGES; i++) {
		const struct plot_graph_edge *edge = &graph->edge[i];
		char messages[CHART_LABEL], bound[CHART_LABEL], *text;
		struct svg_point a, b;

		if (!is_valid(graph, edge))
			continue;
		a = picture->place[edge->a].at;
		b = picture->place[edge->b].at;
		text = mem_printf("%s \xc2\xb7 %s",
				  chart_label_count(messages, edge->messages),
				  chart_label_bound(bound, edge->bound_us));
		svg_text(
		    file,
		    (struct svg_point){a.x + 0.4 * (b.x - a.x), a.y + 0.4 * (b.y - a.y)},
		    text,
		    "font-size=\"11\" text-anchor=\"middle\" fill=\"" CHART_INK
		    "\"" HALO);
		free(text);
	}
}

/* ---- nodes */

static void draw_node(const struct plot_graph_node *node, const struct place *place,
		      FILE *file)
{
	char bound[CHART_LABEL];
	char *text = mem_printf("%s: %s", node->name, bound_text(bound, node));

	fputs("<g>", file);
	svg_tooltip(file, text);
	if (node->is_reference)
		svg_circle(file, place->at, place->radius * 1.15 + 4,
			   "fill=\"#fff\" stroke=\"" CHART_INK "\" stroke-width=\"1.6\"");
	svg_circle(file, place->at, place->radius,
		   node->is_reference ? "fill=\"" CHART_INK "\""
		   : place->radius < 6
		       ? "fill=\"#475569\""
		       : "fill=\"#dbe4ee\" stroke=\"#475569\" stroke-width=\"1.6\"");
	fputs("</g>\n", file);
	free(text);
}

/* Name and bound below each other: above, below or beside the node, away from the middle.
 */
static void draw_two_lines(const struct plot_graph_node *node, const struct place *place,
			   FILE *file)
{
	const double away = place->radius * 1.15 + 12, side = cos(place->angle);
	const bool is_upright = fabs(side) < 0.3;
	const char *anchor = is_upright ? "middle" : side > 0 ? "start" : "end";
	struct svg_point at = place->at;
	char *name = svg_text_fit(node->name, NAME_SIZE * BOLD, LABEL_ROOM);
	char bound[CHART_LABEL], style[256];

	if (is_upright) {
		at.y += sin(place->angle) > 0 ? away + 10 : -away - LINE;
	} else {
		at.x += side > 0 ? away : -away;
		at.y -= 2;
	}
	snprintf(style, sizeof(style), "font-size=\"12\" text-anchor=\"%s\"" NAME_STYLE,
		 anchor);
	svg_text(file, at, name, style);
	snprintf(style, sizeof(style), "font-size=\"12\" text-anchor=\"%s\"" BOUND_STYLE,
		 anchor);
	at.y += LINE;
	svg_text(file, at, bound_text(bound, node), style);
	free(name);
}

static void draw_radial(const struct plot_graph_node *node, const struct place *place,
			FILE *file)
{
	const bool is_left = cos(place->angle) < 0;
	const double away = place->radius * 1.15 + 11;
	const double degrees = place->angle * 180 / M_PI + (is_left ? 180 : 0);
	const double lower = 0.35 * place->size; /* the middle of small letters */
	const double turn = degrees * M_PI / 180;
	const struct svg_point at = {
	    place->at.x + away * cos(place->angle) - lower * sin(turn),
	    place->at.y + away * sin(place->angle) + lower * cos(turn)};
	char bound[CHART_LABEL], style[128];
	double room = LABEL_ROOM - NAME_SIZE;
	char *name, *text;

	bound_text(bound, node);
	room -= svg_text_width(bound, NAME_SIZE);
	name = svg_text_fit(node->name, NAME_SIZE * BOLD, room);
	text = mem_printf("%s  %s", name, bound);
	snprintf(style, sizeof(style),
		 "font-size=\"%.1f\" text-anchor=\"%s\" fill=\"" CHART_INK "\"%s",
		 place->size, is_left ? "end" : "start",
		 node->is_reference ? " font-weight=\"600\"" : "");
	svg_text_turned(file, at, degrees, text, style);
	free(name);
	free(text);
}

/* ---- the picture */

static void make_keys(struct picture *picture)
{
	const struct plot_graph *graph = picture->graph;
	size_t count[QUALITIES] = {0}, least = SIZE_MAX, most = 0;
	char from[CHART_LABEL], to[CHART_LABEL];

	chart_key(&picture->head, CHART_DOT, "fill=\"" CHART_INK "\"", "reference");
	for (size_t i = 0; i < graph->edges; i++) {
		const struct plot_graph_edge *edge = &graph->edge[i];

		if (!is_valid(graph, edge))
			continue;
		count[quality_of(edge)]++;
		least = edge->messages < least ? edge->messages : least;
		most = edge->messages > most ? edge->messages : most;
	}
	for (size_t i = 0; i < QUALITIES; i++)
		if (count[i] > 0)
			chart_key(&picture->head, CHART_LINE, qualities[i].style,
				  "%s: %zu pair%s", qualities[i].name, count[i],
				  count[i] == 1 ? "" : "s");
	if (least < most)
		chart_key(&picture->head, CHART_WORDS, "",
			  "width: %s to %s messages, logarithmic",
			  chart_label_count(from, least), chart_label_count(to, most));
	chart_key(&picture->head, CHART_WORDS, "", "%s\xc2\xb1 wider side of the bound",
		  graph->edges && graph->edges <= LABELED_EDGES
		      ? "on a line: messages \xc2\xb7 "
		      : "");
}

static void draw_picture(const struct picture *picture, FILE *file)
{
	const struct plot_graph *graph = picture->graph;
	const double top = chart_head(&picture->head, NULL) + 14;

	svg_begin(file, CHART_WIDTH, top + fmax(picture->height, 60) + BODY_MARGIN,
		  picture->head.title);
	chart_head(&picture->head, file);
	fputs("<g transform=\"translate(", file);
	svg_number(file, BODY_MARGIN);
	putc(' ', file);
	svg_number(file, top);
	fputs(")\">\n", file);
	/* Of one island alone the frame says nothing. */
	for (size_t i = 0; picture->islands > 1 && i < picture->islands; i++)
		svg_rect(file, &picture->island[i],
			 "rx=\"12\" fill=\"#f8fafc\" stroke=\"" CHART_GRID "\"");
	draw_edges(picture, file);
	for (size_t i = 0; i < graph->nodes; i++)
		draw_node(&graph->node[i], &picture->place[i], file);
	for (size_t i = 0; i < graph->nodes; i++)
		(picture->place[i].is_radial ? draw_radial : draw_two_lines)(
		    &graph->node[i], &picture->place[i], file);
	label_edges(picture, file);
	fputs("</g>\n", file);
	svg_end(file);
}

int plot_graph_write(const struct plot_graph *graph, const char *path,
		     struct error *error)
{
	const size_t room = graph->nodes + 1;
	struct picture picture = {.graph = graph,
				  .head = {.title = "Synchronization graph",
					   .caption = graph->caption,
					   .width = CHART_WIDTH}};
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	picture.order = mem_alloc(room * sizeof(*picture.order));
	picture.place = mem_zalloc(room * sizeof(*picture.place));
	picture.island = mem_zalloc(room * sizeof(*picture.island));
	make_keys(&picture);
	place_nodes(&picture);
	draw_picture(&picture, output.file);
	chart_clear(&picture.head);
	free(picture.order);
	free(picture.place);
	free(picture.island);
	return output_commit(&output, error);
}
