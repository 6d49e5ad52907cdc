/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * An arc diagram: a row a clock, the reference of each island first, and an arc for each
 * pair. So labels never collide, and any number of clocks has its place.
 */
#define BODY_MARGIN   24.0 /* left and right of the islands, and below */
#define GAP           16.0 /* between islands */
#define PADDING       16.0 /* from an island's rows to its box */
#define ROW           30.0
#define ROW_OF_FEW    60.0 /* height of a row with labelled edges */
#define NODE          7.0
#define NAME_SIZE     12.0
#define BOLD          1.1   /* bold letters are wider */
#define LABEL_WIDTH   300.0 /* pixels; longer names are cut */
#define EDGE_WIDTH    150.0 /* for the label of an edge */
#define WIDEST_STEP   130.0 /* by which an arc is wider than one of a row less */
#define LABELED_EDGES 12    /* with more of them no edge has a label */
#define TITLED_EDGES  1000  /* with more of them the file would swell */
#define HALO          " stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\""
#define INKED         " fill=\"" CHART_INK "\"" HALO

struct picture {
	const struct plot_run *run;
	const uint32_t *order; /* order of the pairs */
	struct chart head;
	struct row {
		char *name, *label;      /* the label is cut, and has the bound */
		char bound[CHART_LABEL]; /* against the reference */
		double y;                /* its middle */
	} * clock;                       /* by clock */
	double x, row, step, height;     /* x of the clocks; height of all islands */
};

/* The style of an edge by its quality; dashed too, for the colour-blind. */
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

/* Return the wider side (us) of a clock's bound against another at the middle of its
 * first trace, where the table shows it, or -1 if a side is unbounded. */
static double bound_us(const struct plot_run *run, uint32_t index, uint32_t other)
{
	const struct clock *one = &run->verdict->clock[index];
	const struct clock *two = &run->verdict->clock[other];
	const struct trace_facts *facts = &run->net->clocks.clock[index].trace->facts;
	nsec_t middle = facts->begin_ns + (facts->end_ns - facts->begin_ns) / 2;
	struct clock_bound bound;

	if (!one->bounds || !two->bounds)
		return -1;
	bound = plot_bound(run->net->limit_ppm, one, two, clock_correct(one, middle));
	if (bound.low_ns == NSEC_MIN || bound.high_ns == NSEC_MAX)
		return -1;
	return (double)(bound.high_ns > -bound.low_ns ? bound.high_ns : -bound.low_ns) /
	       1e3;
}

static uint32_t reference_of(const struct plot_run *run, uint32_t clock)
{
	const struct graph *graph = &run->net->graph;

	return graph->island[graph->node[clock].island].reference;
}

/* Return "node2 + node2.pcap": a clock's name with the captures tied to it. The caller
 * frees it. */
static char *name_clock(const struct network *net, uint32_t index)
{
	const char *own = network_clock_name(net, index);
	size_t length = strlen(own);
	char *name = mem_strdup(own);

	for (size_t i = 0; i < net->clocks.traces; i++) {
		const struct trace_clock *of = &net->clocks.of_trace[i];
		const struct trace *trace = of->trace;
		bool of_own =
		    !strncmp(trace->name, own, length) && trace->name[length] == ':';
		char *longer;

		if (!of->tie || of->clock_index != index)
			continue;
		longer = mem_printf("%s + %s", name,
				    of_own ? trace->name + length + 1 : trace->name);
		free(name);
		name = longer;
	}
	return name;
}

/* Format the bound of one clock of a pair against the other. If the other is the
 * reference, it is the clock's own. */
static char *pair_bound_text(char text[CHART_LABEL], const struct plot_run *run,
			     const struct pair *pair)
{
	bool b_leads = reference_of(run, pair->b) == pair->b;

	return chart_label_bound(text, b_leads ? bound_us(run, pair->a, pair->b)
					       : bound_us(run, pair->b, pair->a));
}

static void name_row(const struct plot_run *run, uint32_t clock, struct row *row)
{
	uint32_t reference = reference_of(run, clock);
	AUTOFREE char *fitting = NULL;

	row->name = name_clock(run->net, clock);
	if (clock == reference)
		strcpy(row->bound, "reference");
	else
		chart_label_bound(row->bound, bound_us(run, clock, reference));
	fitting =
	    svg_text_fit(row->name, NAME_SIZE * BOLD,
			 LABEL_WIDTH - NAME_SIZE - svg_text_width(row->bound, NAME_SIZE));
	row->label = mem_printf("%s  %s", fitting, row->bound);
}

/* Rows from the top of the picture's body on, and how wide arcs can be. */
static void place_clocks(struct picture *picture)
{
	const struct graph *graph = &picture->run->net->graph;
	const bool is_labeled = picture->run->net->pairs.count <= LABELED_EDGES;
	size_t longest = 1;
	double widest = 0, width;

	picture->row = is_labeled ? ROW_OF_FEW : ROW;
	for (size_t i = 0; i < graph->islands; i++) {
		const struct island *island = &graph->island[i];

		picture->height += (i ? GAP : 0) + PADDING;
		for (size_t k = 0; k < island->members; k++) {
			struct row *row = &picture->clock[island->member[k]];

			name_row(picture->run, island->member[k], row);
			widest =
			    fmax(widest, svg_text_width(row->label, NAME_SIZE * BOLD));
			row->y = picture->height + picture->row / 2;
			picture->height += picture->row;
		}
		picture->height += PADDING;
		longest = island->members > longest ? island->members : longest;
	}
	picture->x = PADDING + widest + 3 * NODE;
	width = CHART_WIDTH - 2 * BODY_MARGIN - PADDING - picture->x -
		(is_labeled ? EDGE_WIDTH : 0);
	picture->step = fmin(WIDEST_STEP, width / (double)longest);
}

/* Return the point of an arc that is farthest from the clocks. */
static struct svg_point arc_vertex(const struct picture *picture, const struct pair *pair)
{
	const double a = picture->clock[pair->a].y, b = picture->clock[pair->b].y;

	return (struct svg_point){picture->x + fabs(b - a) / picture->row * picture->step,
				  (a + b) / 2};
}

/* Return the factor of an edge's width and opacity: many edges are thinner and paler. */
static double crowd_share(size_t pairs)
{
	return fmin(fmax(sqrt(40 / (double)pairs), 0.2), 1);
}

static void draw_edge(const struct picture *picture, uint32_t index, FILE *file)
{
	const struct pair *pair = &picture->run->net->pairs.pair[index];
	const size_t pairs = picture->run->net->pairs.count, messages = messages_of(pair);
	const double a = picture->clock[pair->a].y, b = picture->clock[pair->b].y;
	char count[CHART_LABEL], bound[CHART_LABEL];
	AUTOFREE char *text = mem_printf(
	    "%s - %s: %s message%s, %s, %s", picture->clock[pair->a].name,
	    picture->clock[pair->b].name, chart_label_count(count, messages),
	    messages == 1 ? "" : "s", pair_bound_text(bound, picture->run, pair),
	    clock_quality_name(picture->run->verdict->pair[index].quality));

	fputs("<g>", file);
	if (pairs <= TITLED_EDGES)
		svg_tooltip(file, text);
	fprintf(file,
		"<path d=\"M%.1f %.1fA%.1f %.1f 0 0 1 %.1f %.1f\" "
		"stroke-width=\"%.1f\"/></g>\n",
		picture->x, fmin(a, b), arc_vertex(picture, pair).x - picture->x,
		fabs(b - a) / 2, picture->x, fmax(a, b),
		crowd_share(pairs) * (1.2 + log10(1 + (double)messages)));
}

static void draw_edges(const struct picture *picture, FILE *file)
{
	const struct verdict *verdict = picture->run->verdict;
	const struct pair_table *pairs = &picture->run->net->pairs;

	/* Worse ones are drawn on top of better ones. */
	for (size_t quality = 0; quality < QUALITIES; quality++) {
		fprintf(file, "<g fill=\"none\" %s opacity=\"%.2f\">\n", styles[quality],
			0.85 * crowd_share(pairs->count));
		for (size_t i = 0; i < pairs->count; i++)
			if (verdict->pair[picture->order[i]].quality == quality)
				draw_edge(picture, picture->order[i], file);
		fputs("</g>\n", file);
	}
	for (size_t i = 0; i < pairs->count && pairs->count <= LABELED_EDGES; i++) {
		const struct pair *pair = &pairs->pair[picture->order[i]];
		struct svg_point at = arc_vertex(picture, pair);
		char messages[CHART_LABEL], bound[CHART_LABEL];
		AUTOFREE char *text = mem_printf(
		    "%s \xc2\xb7 %s", chart_label_count(messages, messages_of(pair)),
		    pair_bound_text(bound, picture->run, pair));

		at.x += 6;
		at.y += 4;
		svg_text(file, at, text, "font-size=\"11\"" INKED);
	}
}

static void draw_clock(const struct picture *picture, uint32_t clock, FILE *file)
{
	const struct row *row = &picture->clock[clock];
	const struct svg_point at = {picture->x, row->y};
	const bool is_reference = reference_of(picture->run, clock) == clock;
	AUTOFREE char *text = mem_printf("%s: %s", row->name, row->bound);

	fputs("<g>", file);
	svg_tooltip(file, text);
	if (is_reference)
		svg_circle(file, at, NODE * 1.15 + 4,
			   "fill=\"#fff\" stroke=\"" CHART_INK "\" stroke-width=\"1.6\"");
	svg_circle(file, at, NODE,
		   is_reference ? "fill=\"" CHART_INK "\""
				: "fill=\"#dbe4ee\" stroke=\"#475569\" "
				  "stroke-width=\"1.6\"");
	fputs("</g>\n", file);
	svg_text(file, (struct svg_point){at.x - 2.5 * NODE, at.y + 4}, row->label,
		 is_reference
		     ? "font-size=\"12\" text-anchor=\"end\" font-weight=\"600\"" INKED
		     : "font-size=\"12\" text-anchor=\"end\"" INKED);
}

static void make_keys(struct picture *picture)
{
	const struct pair_table *pairs = &picture->run->net->pairs;
	size_t count[QUALITIES] = {0}, least = SIZE_MAX, most = 0;
	char from[CHART_LABEL], to[CHART_LABEL];

	chart_key(&picture->head, CHART_DOT, "fill=\"" CHART_INK "\"", "reference");
	for (size_t i = 0; i < pairs->count; i++) {
		const size_t messages = messages_of(&pairs->pair[i]);

		count[picture->run->verdict->pair[i].quality]++;
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
	const struct network *net = picture->run->net;
	const double top = chart_head(&picture->head, NULL) + 14;
	const double width = CHART_WIDTH - 2 * BODY_MARGIN;

	svg_begin(file, CHART_WIDTH, top + picture->height + BODY_MARGIN,
		  picture->head.title);
	chart_head(&picture->head, file);
	fprintf(file, "<g transform=\"translate(%.1f %.1f)\">\n", BODY_MARGIN, top);
	for (size_t i = 0; i < net->graph.islands; i++) {
		const struct island *island = &net->graph.island[i];
		const double y =
		    picture->clock[island->member[0]].y - picture->row / 2 - PADDING;

		svg_rect(file,
			 &(struct svg_box){0, y, width,
					   (double)island->members * picture->row +
					       2 * PADDING},
			 "rx=\"12\" fill=\"#f8fafc\" stroke=\"" CHART_GRID "\"");
	}
	draw_edges(picture, file);
	for (uint32_t i = 0; i < net->clocks.count; i++)
		draw_clock(picture, i, file);
	fputs("</g>\n", file);
	svg_end(file);
}

int plot_graph(const struct plot_run *run, const uint32_t *order, const char *path,
	       struct error *error)
{
	const struct network *net = run->net;
	AUTOFREE char *caption =
	    mem_printf("%zu clocks, %zu pairs, %" PRIu64 " messages", net->clocks.count,
		       net->pairs.count, run->matched);
	struct picture picture = {
	    .run = run,
	    .order = order,
	    .head = {.title = "Synchronization graph", .caption = caption}};
	struct output output;
	int status = output_open(&output, path, error);

	if (!status) {
		picture.clock = mem_zalloc(net->clocks.count * sizeof(*picture.clock));
		make_keys(&picture);
		place_clocks(&picture);
		draw_picture(&picture, output.file);
		chart_clear(&picture.head);
		for (uint32_t i = 0; i < net->clocks.count; i++) {
			free(picture.clock[i].name);
			free(picture.clock[i].label);
		}
		free(picture.clock);
		status = output_commit(&output, error);
	}
	return status;
}
