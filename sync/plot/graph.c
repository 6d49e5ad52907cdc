/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sync/plot/plot.h"

/* Each island is a circle of clocks, its reference first, one below the other. */
#define BODY_MARGIN   24.0 /* left and right of the islands, and below */
#define GAP           16.0 /* between islands */
#define PADDING       36.0 /* from a circle's labels to its box */
#define NAME_SIZE     12.0
#define BOLD          1.1   /* bold letters are wider */
#define LABEL_ROOM    230.0 /* pixels; longer names are cut */
#define UPRIGHT       14    /* clocks on a circle whose labels are not turned */
#define LABELED_EDGES 12    /* with more of them no edge has a label */
#define TITLED_EDGES  1000  /* with more of them the file would swell */
#define HALO          " stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\""
#define INKED         " fill=\"" CHART_INK "\"" HALO

struct place {
	struct svg_point at;
	double angle;   /* radians, outwards from the middle, clockwise from the right */
	double radius;  /* of the node */
	double size;    /* of the label's font */
	bool is_radial; /* the label is one line that runs away from the middle */
};

struct picture {
	const struct sync *sync;
	const uint32_t *order; /* of the pairs */
	struct chart head;
	char **name;         /* by clock */
	struct place *place; /* by clock */
	struct svg_box *island;
	double height; /* of the islands */
};

/* How edges look, by their quality. Dashes are for who does not see the colours. */
static const char *const styles[] = {
    [CLOCK_EXACT] = "stroke=\"#0072b2\" stroke-width=\"3\"",
    [CLOCK_ACCURATE] = "stroke=\"#009e73\" stroke-width=\"3\"",
    [CLOCK_APPROXIMATE] =
	"stroke=\"#e08a00\" stroke-width=\"3\" stroke-dasharray=\"9 4\"",
    [CLOCK_INCOMPLETE] = "stroke=\"#d00024\" stroke-width=\"3\" stroke-dasharray=\"3 3\"",
    [CLOCK_CONTRADICTORY] =
	"stroke=\"#7a0177\" stroke-width=\"3\" stroke-dasharray=\"9 3 2 3\"",
    [CLOCK_ABSENT] = "stroke=\"#64748b\" stroke-width=\"3\" stroke-dasharray=\".1 7\" "
		     "stroke-linecap=\"round\"",
};

enum { QUALITIES = sizeof(styles) / sizeof(*styles) };

static size_t messages_of(const struct pair *pair)
{
	return pair->messages_ab + pair->messages_ba;
}

/* The middle of what a clock's first trace recorded: there the table tells its bound. */
static nsec_t middle_of(const struct sync *sync, uint32_t index)
{
	const struct ctf_facts *facts = &sync->trace[sync->clock_trace[index]].facts;

	return facts->begin_ns + (facts->end_ns - facts->begin_ns) / 2;
}

/* The wider side at the middle of the first one, in microseconds; -1: one is open. */
static double bound_us(const struct sync *sync, uint32_t index, uint32_t other)
{
	const struct clock *one = &sync->fitted[index], *two = &sync->fitted[other];
	struct clock_bound bound;

	if (!one->bounds || !two->bounds)
		return -1;
	bound = plot_bound(sync, one, two, clock_correct(one, middle_of(sync, index)));
	if (bound.low_ns == NSEC_MIN || bound.high_ns == NSEC_MAX)
		return -1;
	return (double)(bound.high_ns > -bound.low_ns ? bound.high_ns : -bound.low_ns) /
	       1e3;
}

static uint32_t reference_of(const struct sync *sync, uint32_t clock)
{
	return sync->graph.island[sync->graph.node[clock].island].reference;
}

/* Of one clock against the other: of the reference's pair that is the other's own. */
static double pair_bound_us(const struct sync *sync, const struct pair *pair)
{
	bool b_leads = reference_of(sync, pair->b) == pair->b;

	return b_leads ? bound_us(sync, pair->a, pair->b)
		       : bound_us(sync, pair->b, pair->a);
}

/* "node2 + node2.pcap": what is tied to a clock stands beside it. For free(). */
static char *name_clock(const struct sync *sync, uint32_t index)
{
	const char *own = sync_clock_name(sync, index);
	size_t length = strlen(own);
	char *name = mem_strdup(own);

	for (size_t i = 0; i < sync->traces; i++) {
		const struct sync_trace *trace = &sync->trace[i];
		bool of_own =
		    !strncmp(trace->name, own, length) && trace->name[length] == ':';
		char *longer;

		if (!trace->tie || trace->clock != index)
			continue;
		longer = mem_printf("%s + %s", name,
				    of_own ? trace->name + length + 1 : trace->name);
		free(name);
		name = longer;
	}
	return name;
}

static char *bound_text(char text[CHART_LABEL], const struct sync *sync, uint32_t clock)
{
	uint32_t reference = reference_of(sync, clock);

	if (clock == reference)
		return strcpy(text, "reference");
	return chart_label_bound(text, bound_us(sync, clock, reference));
}

static double label_width(const struct picture *picture, uint32_t clock)
{
	char bound[CHART_LABEL];
	const double width = svg_text_width(picture->name[clock], NAME_SIZE * BOLD);

	return fmin(
	    LABEL_ROOM,
	    width + NAME_SIZE +
		svg_text_width(bound_text(bound, picture->sync, clock), NAME_SIZE));
}

/* ---- places */

/* Place an island's clocks round the origin; returns the size of its box. */
static struct svg_box place_circle(const struct picture *picture, const uint32_t *member,
				   size_t count)
{
	const bool is_radial = count > UPRIGHT;
	const double turn = 2 * M_PI / (double)count,
		     first = count == 2 ? M_PI : -M_PI / 2;
	double radius = count == 1   ? 0
			: count == 2 ? 110
				     : fmin(110 + 14 * (double)count, 360);
	double room = 0, side, spacing;

	for (size_t i = 0; i < count; i++)
		room = fmax(room, label_width(picture, member[i]));
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
	side = radius + (is_radial ? room : NAME_SIZE) + PADDING;
	if (count <= 2)
		side = NAME_SIZE + PADDING;
	return (struct svg_box){0, 0, 2 * (radius + PADDING) + (count > 1 ? 2 : 1) * room,
				2 * side};
}

static void place_islands(struct picture *picture)
{
	const struct graph *graph = &picture->sync->graph;

	for (size_t i = 0; i < graph->islands; i++) {
		const struct island *island = &graph->island[i];
		struct svg_box *box = &picture->island[i];

		*box = place_circle(picture, island->member, island->members);
		box->x = (CHART_WIDTH - 2 * BODY_MARGIN - box->width) / 2;
		box->y = picture->height + (i ? GAP : 0);
		picture->height = box->y + box->height;
		for (size_t k = 0; k < island->members; k++) {
			struct svg_point *at = &picture->place[island->member[k]].at;

			at->x += box->x + box->width / 2;
			at->y += box->y + box->height / 2;
		}
	}
}

/* ---- edges */

static void draw_edge(const struct picture *picture, const struct pair *pair, FILE *file)
{
	const size_t pairs = picture->sync->pairs.count, messages = messages_of(pair);
	const double crowd = pairs <= 40 ? 1 : pairs <= 200 ? 0.6 : 0.35;
	const double width = crowd * (1.2 + log10(1 + (double)messages));
	char style[64], count[CHART_LABEL], bound[CHART_LABEL];
	char *text =
	    mem_printf("%s - %s: %s message%s, %s, %s", picture->name[pair->a],
		       picture->name[pair->b], chart_label_count(count, messages),
		       messages == 1 ? "" : "s",
		       chart_label_bound(bound, pair_bound_us(picture->sync, pair)),
		       clock_quality_name(pair->quality));

	snprintf(style, sizeof(style), "stroke-width=\"%.1f\"", width);
	fputs("<g>", file);
	if (pairs <= TITLED_EDGES)
		svg_tooltip(file, text);
	svg_line(file, picture->place[pair->a].at, picture->place[pair->b].at, style);
	fputs("</g>\n", file);
	free(text);
}

static void draw_edges(const struct picture *picture, FILE *file)
{
	const struct pair_table *pairs = &picture->sync->pairs;

	/* The worse lies above the better. */
	for (size_t quality = 0; quality < QUALITIES; quality++) {
		fprintf(file, "<g %s opacity=\"%s\">\n", styles[quality],
			pairs->count <= 40     ? ".85"
			: pairs->count <= 200  ? ".6"
			: pairs->count <= 2000 ? ".4"
					       : ".15");
		for (size_t i = 0; i < pairs->count; i++)
			if (pairs->pair[picture->order[i]].quality == quality)
				draw_edge(picture, &pairs->pair[picture->order[i]], file);
		fputs("</g>\n", file);
	}
}

/*
 * Messages and bound of each edge, nearer to its first clock: lines that cross mostly do
 * so in their middles.
 */
static void label_edges(const struct picture *picture, FILE *file)
{
	const struct pair_table *pairs = &picture->sync->pairs;

	for (size_t i = 0; i < pairs->count && pairs->count <= LABELED_EDGES; i++) {
		const struct pair *pair = &pairs->pair[picture->order[i]];
		const struct svg_point a = picture->place[pair->a].at;
		const struct svg_point b = picture->place[pair->b].at;
		char messages[CHART_LABEL], bound[CHART_LABEL];
		char *text = mem_printf(
		    "%s \xc2\xb7 %s", chart_label_count(messages, messages_of(pair)),
		    chart_label_bound(bound, pair_bound_us(picture->sync, pair)));

		svg_text(
		    file,
		    (struct svg_point){a.x + 0.4 * (b.x - a.x), a.y + 0.4 * (b.y - a.y)},
		    text, "font-size=\"11\" text-anchor=\"middle\"" INKED);
		free(text);
	}
}

/* ---- clocks */

static void draw_clock(const struct picture *picture, uint32_t clock, FILE *file)
{
	const struct place *place = &picture->place[clock];
	const bool is_reference = reference_of(picture->sync, clock) == clock;
	char bound[CHART_LABEL];
	char *text = mem_printf("%s: %s", picture->name[clock],
				bound_text(bound, picture->sync, clock));

	fputs("<g>", file);
	svg_tooltip(file, text);
	if (is_reference)
		svg_circle(file, place->at, place->radius * 1.15 + 4,
			   "fill=\"#fff\" stroke=\"" CHART_INK "\" stroke-width=\"1.6\"");
	svg_circle(file, place->at, place->radius,
		   is_reference ? "fill=\"" CHART_INK "\""
		   : place->radius < 6
		       ? "fill=\"#475569\""
		       : "fill=\"#dbe4ee\" stroke=\"#475569\" stroke-width=\"1.6\"");
	fputs("</g>\n", file);
	free(text);
}

/* Name and bound in a line beside the node, away from the middle; of many it runs there.
 */
static void draw_label(const struct picture *picture, uint32_t clock, FILE *file)
{
	const struct place *place = &picture->place[clock];
	const double side = cos(place->angle), down = sin(place->angle);
	const double turn = !place->is_radial ? 0 : place->angle + (side < 0 ? M_PI : 0);
	const bool is_upright = !place->is_radial && fabs(side) < 0.3;
	const double away = place->radius * 1.15 + (is_upright ? 16 : 11);
	const double lower = 0.35 * place->size; /* the middle of small letters */
	const struct svg_point at = {place->at.x + (is_upright ? 0 : away * side) -
					 lower * sin(turn),
				     place->at.y + away * down + lower * cos(turn)};
	char bound[CHART_LABEL], style[256];
	char *name, *text;

	bound_text(bound, picture->sync, clock);
	name = svg_text_fit(picture->name[clock], NAME_SIZE * BOLD,
			    LABEL_ROOM - NAME_SIZE - svg_text_width(bound, NAME_SIZE));
	text = mem_printf("%s  %s", name, bound);
	snprintf(style, sizeof(style), "font-size=\"%.1f\" text-anchor=\"%s\"%s" INKED,
		 place->size,
		 is_upright ? "middle"
		 : side < 0 ? "end"
			    : "start",
		 reference_of(picture->sync, clock) == clock ? " font-weight=\"600\""
							     : "");
	svg_text_turned(file, at, turn * 180 / M_PI, text, style);
	free(name);
	free(text);
}

/* ---- the picture */

static void make_keys(struct picture *picture)
{
	const struct pair_table *pairs = &picture->sync->pairs;
	size_t count[QUALITIES] = {0}, least = SIZE_MAX, most = 0;
	char from[CHART_LABEL], to[CHART_LABEL];

	chart_key(&picture->head, CHART_DOT, "fill=\"" CHART_INK "\"", "reference");
	for (size_t i = 0; i < pairs->count; i++) {
		const size_t messages = messages_of(&pairs->pair[i]);

		count[pairs->pair[i].quality]++;
		least = messages < least ? messages : least;
		most = messages > most ? messages : most;
	}
	for (size_t i = 0; i < QUALITIES; i++)
		if (count[i] > 0)
			chart_key(&picture->head, CHART_LINE, styles[i], "%s: %zu pair%s",
				  clock_quality_name((enum clock_quality)i), count[i],
				  count[i] == 1 ? "" : "s");
	if (least < most)
		chart_key(&picture->head, CHART_WORDS, "",
			  "width: %s to %s messages, logarithmic",
			  chart_label_count(from, least), chart_label_count(to, most));
	chart_key(&picture->head, CHART_WORDS, "", "%s\xc2\xb1 wider side of the bound",
		  pairs->count && pairs->count <= LABELED_EDGES
		      ? "on a line: messages \xc2\xb7 "
		      : "");
}

static void draw_picture(const struct picture *picture, FILE *file)
{
	const struct sync *sync = picture->sync;
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
	for (size_t i = 0; sync->graph.islands > 1 && i < sync->graph.islands; i++)
		svg_rect(file, &picture->island[i],
			 "rx=\"12\" fill=\"#f8fafc\" stroke=\"" CHART_GRID "\"");
	draw_edges(picture, file);
	for (uint32_t i = 0; i < sync->clocks; i++)
		draw_clock(picture, i, file);
	for (uint32_t i = 0; i < sync->clocks; i++)
		draw_label(picture, i, file);
	label_edges(picture, file);
	fputs("</g>\n", file);
	svg_end(file);
}

int plot_graph(const struct sync *sync, const uint32_t *order, const char *path,
	       struct error *error)
{
	char *caption =
	    mem_printf("%zu clocks, %zu pairs, %" PRIu64 " messages", sync->clocks,
		       sync->pairs.count, sync->matching.matched);
	struct picture picture = {.sync = sync,
				  .order = order,
				  .head = {.title = "Synchronization graph",
					   .caption = caption,
					   .width = CHART_WIDTH}};
	struct output output;
	int status = output_open(&output, path, error);

	if (!status) {
		picture.name = mem_zalloc(sync->clocks * sizeof(*picture.name));
		picture.place = mem_zalloc(sync->clocks * sizeof(*picture.place));
		picture.island = mem_zalloc(sync->graph.islands * sizeof(struct svg_box));
		for (uint32_t i = 0; i < sync->clocks; i++)
			picture.name[i] = name_clock(sync, i);
		make_keys(&picture);
		place_islands(&picture);
		draw_picture(&picture, output.file);
		chart_clear(&picture.head);
		for (uint32_t i = 0; i < sync->clocks; i++)
			free(picture.name[i]);
		free(picture.name);
		free(picture.place);
		free(picture.island);
		status = output_commit(&output, error);
	}
	free(caption);
	return status;
}
