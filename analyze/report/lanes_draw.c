/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/print.h"
#include "analyze/report/chart.h"
#include "analyze/report/html.h"
#include "analyze/report/lanes.h"
#include "analyze/report/links.h"
#include "base/mem.h"

/* Names with a colour of their own; the others share one. */
enum { COLOURS = 8 };

struct drawing {
	struct lanes *lanes;
	struct lane_place *place; /* a lane each */
	size_t *order;            /* lanes by node and processor */
	uint32_t *colour;         /* a name each; COLOURS: of none */
	uint32_t named[COLOURS];
	size_t named_count;
	double height, lane_height;
};

static int compare_lanes(const void *a, const void *b, void *context)
{
	const struct lanes *lanes = context;
	const struct lane *x = &lanes->lane[*(const size_t *)a];
	const struct lane *y = &lanes->lane[*(const size_t *)b];

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

static void place_lanes(struct drawing *drawing)
{
	struct lanes *lanes = drawing->lanes;
	double y = 2;

	drawing->lane_height = lanes->lanes <= 32 ? 18 : lanes->lanes <= 128 ? 12 : 6;
	for (size_t i = 0; i < lanes->lanes; i++)
		drawing->order[i] = i;
	qsort_r(drawing->order, lanes->lanes, sizeof(size_t), compare_lanes, lanes);
	for (size_t i = 0; i < lanes->lanes; i++) {
		const struct lane *lane = &lanes->lane[drawing->order[i]];

		if (i && lanes->lane[drawing->order[i - 1]].node != lane->node)
			y += drawing->lane_height;
		drawing->place[drawing->order[i]] =
		    (struct lane_place){lane->node, lane->cpu, y, drawing->lane_height};
		y += drawing->lane_height + 2;
	}
	drawing->height = y;
}

/* The names that ran longest, in that order; of equals the first that came. */
static void colour_names(struct drawing *drawing)
{
	struct lanes *lanes = drawing->lanes;

	for (size_t i = 0; i < lanes->names.count; i++)
		drawing->colour[i] = COLOURS;
	while (drawing->named_count < COLOURS) {
		size_t best = SIZE_MAX;

		for (size_t i = 0; i < lanes->names.count; i++)
			if (drawing->colour[i] == COLOURS &&
			    (best == SIZE_MAX ||
			     lanes->name_ns[i] > lanes->name_ns[best]))
				best = i;
		if (best == SIZE_MAX)
			return;
		drawing->colour[best] = (uint32_t)drawing->named_count;
		drawing->named[drawing->named_count++] = (uint32_t)best;
	}
}

static void print_name(const struct lanes *lanes, uint32_t name)
{
	const struct key_entry *entry = &lanes->names.entry[name];
	size_t size = entry->size - sizeof(int64_t);

	if (size)
		html_bytes(lanes->report->page, entry->bytes + sizeof(int64_t), size);
	else
		fputs("(no name)", lanes->report->page);
}

static void print_legend(const struct drawing *drawing)
{
	FILE *page = drawing->lanes->report->page;

	fputs("<p class=\"legend\">", page);
	for (size_t i = 0; i < drawing->named_count; i++) {
		fprintf(page, "<span class=\"key k%zu\">", i);
		print_name(drawing->lanes, drawing->named[i]);
		fputs("</span> ", page);
	}
	if (drawing->lanes->names.count > drawing->named_count)
		fputs("<span class=\"key k8\">others</span> ", page);
	fputs(
	    "<span class=\"key unrec\">not recorded</span> "
	    "<span class=\"key msg\">message</span> <span class=\"key slow\">one of the "
	    "slowest</span></p>\n",
	    page);
}

static void print_labels(const struct drawing *drawing)
{
	const struct lanes *lanes = drawing->lanes;
	FILE *page = lanes->report->page;

	fprintf(page, "<div class=\"lanelabs\" style=\"height:%.0fpx\">",
		drawing->height);
	for (size_t i = 0; i < lanes->lanes; i++) {
		const struct lane_place *place = &drawing->place[drawing->order[i]];
		bool first =
		    i == 0 || drawing->place[drawing->order[i - 1]].node != place->node;

		if (!first && drawing->lane_height < 12)
			continue;
		fprintf(page, "<span style=\"top:%.0fpx\">", place->y);
		if (first)
			html_text(page,
				  question_node(lanes->report->question, place->node));
		if (place->cpu >= 0 && drawing->lane_height >= 12)
			fprintf(page, "<small>%" PRId64 "</small>", place->cpu);
		fputs("</span>", page);
	}
	fputs("</div>\n", page);
}

static int compare_segments(const void *a, const void *b)
{
	const struct lane_segment *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* A path for each name of a lane: relative moves keep it short. */
static void draw_segments(const struct drawing *drawing)
{
	const struct lanes *lanes = drawing->lanes;
	FILE *page = lanes->report->page;
	const struct lane_segment *before = NULL;
	uint32_t at = 0;

	if (!lanes->segments)
		return;
	qsort(lanes->segment, lanes->segments, sizeof(*lanes->segment), compare_segments);
	for (size_t i = 0; i < lanes->segments; i++) {
		const struct lane_segment *segment = &lanes->segment[i];
		const struct lane_place *place = &drawing->place[segment->lane];
		double height = place->height * segment->eighths / 8;
		uint32_t width =
		    segment->end > segment->begin ? segment->end - segment->begin : 1;

		if (!before || before->lane != segment->lane ||
		    before->name != segment->name) {
			fprintf(page, "%s<path class=\"k%u\" data-n=\"",
				before ? "\"/>\n" : "", drawing->colour[segment->name]);
			print_name(lanes, segment->name);
			fputs("\" data-l=\"", page);
			html_text(page,
				  question_node(lanes->report->question, place->node));
			if (place->cpu >= 0)
				fprintf(page, " cpu %" PRId64, place->cpu);
			fprintf(page, "\" d=\"M%u %.0f", segment->begin,
				place->y + place->height);
		} else {
			fprintf(page, "m%u 0", segment->begin - at);
		}
		fprintf(page, "v-%.3gh%uv%.3gz", height, width, height);
		at = segment->begin;
		before = segment;
	}
	fputs("\"/>\n", page);
}

static void draw_grounds(const struct drawing *drawing)
{
	FILE *page = drawing->lanes->report->page;

	fputs("<path class=\"ground\" d=\"", page);
	for (size_t i = 0; i < drawing->lanes->lanes; i++)
		fprintf(page, "M0 %.0fh%dv%.0fH0z", drawing->place[i].y, TIME_UNITS,
			drawing->place[i].height);
	fputs("\"/>\n<path class=\"unrecorded\" d=\"", page);
	for (size_t i = 0; i < drawing->lanes->lanes; i++)
		chart_hatch(drawing->lanes->report, drawing->place[i].node,
			    drawing->place[i].y, drawing->place[i].height);
	fputs("\"/>\n", page);
}

static void tell_reduction(const struct lanes *lanes)
{
	char text[PRINT_TEXT];
	struct cell cell = cell_of_integer(lanes->cell_ns);

	if (!lanes->cell_ns)
		html_note(lanes->report->page, "note", "Every span is drawn.");
	else
		html_note(
		    lanes->report->page, "note",
		    "Reduced for display: in each step of %s a processor has the "
		    "colour of what ran there longest, and is as high as it was busy.",
		    html_human(text, lanes->report, &cell, UNIT_SPAN));
}

static void tell_links(const struct report *report, const struct link_counts *links)
{
	char text[PRINT_TEXT];
	struct cell step = cell_of_integer(links->step_ns);

	fprintf(report->page,
		"<p class=\"note\" id=\"links\" data-messages=\"%" PRIu64
		"\" data-drawn=\"%zu\">%zu of %" PRIu64 " messages are drawn%s%s.</p>\n",
		links->messages, links->drawn, links->drawn, links->messages,
		links->step_ns
		    ? ": of each pair of nodes and direction the slowest in each "
		      "step of "
		    : "",
		links->step_ns ? html_human(text, report, &step, UNIT_SPAN) : "");
}

int lanes_draw(struct lanes *lanes, struct error *error)
{
	FILE *page = lanes->report->page;
	struct drawing drawing = {
	    .lanes = lanes,
	    .place = mem_alloc((lanes->lanes + 1) * sizeof(struct lane_place)),
	    .order = mem_alloc((lanes->lanes + 1) * sizeof(size_t)),
	    .colour = mem_alloc((lanes->names.count + 1) * sizeof(uint32_t))};
	struct link_counts links;
	int status;

	place_lanes(&drawing);
	colour_names(&drawing);
	tell_reduction(lanes);
	print_legend(&drawing);
	chart_begin(lanes->report, "lanes", "Processors of all nodes, and messages", "");
	fputs("<div class=\"rows lanes\">", page);
	print_labels(&drawing);
	fprintf(page,
		"<svg class=\"t\" viewBox=\"0 0 %d %.0f\" height=\"%.0f\" "
		"preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"who ran on each processor, over time\">\n",
		TIME_UNITS, drawing.height, drawing.height);
	draw_grounds(&drawing);
	draw_segments(&drawing);
	status = links_draw(lanes->report, drawing.place, lanes->lanes, &links, error);
	fputs("</svg><div class=\"val\"></div>\n", page);
	chart_end(lanes->report);
	tell_links(lanes->report, &links);
	free(drawing.colour);
	free(drawing.order);
	free(drawing.place);
	return status;
}
