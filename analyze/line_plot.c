/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/line_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plot_axis.h"
#include "base/svg.h"

#define WIDTH    960.0
#define LEFT     76.0
#define RIGHT    24.0
#define TOP      58.0
#define HEIGHT   300.0
#define BELOW    52.0
#define KEY_SIZE 12.5
#define KEY_ROW  20.0
#define SWATCH   22.0

#define INK   "#1e293b"
#define MUTED "#64748b"
#define GRID  "#e2e8f0"

struct frame {
	struct plot_axis x, y; /* x in seconds since the begin */
	double keys_height;
};

static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
				      "#e69f00", "#56b4e9", "#000000", "#8a8a00"};

enum { COLOURS = sizeof(colours) / sizeof(*colours) };

const char *line_plot_colour(size_t n)
{
	return colours[n % COLOURS];
}

const char *line_plot_dash(size_t n)
{
	static const char *const dashes[] = {"", "7 3", "2 2", "9 3 2 3"};

	return dashes[n / COLOURS % 4];
}

struct line_series *line_plot_series(struct line_plot *plot, const char *name)
{
	for (size_t i = 0; i < plot->count; i++)
		if (!strcmp(plot->series[i].name, name))
			return &plot->series[i];
	plot->series =
	    mem_grow(plot->series, plot->count, &plot->room, sizeof(*plot->series));
	plot->series[plot->count] = (struct line_series){.name = mem_strdup(name)};
	return &plot->series[plot->count++];
}

void line_series_add(struct line_series *series, nsec_t at_ns, double value)
{
	series->point = mem_grow(series->point, series->points, &series->room,
				 sizeof(*series->point));
	series->point[series->points++] = (struct line_point){at_ns, value};
}

void line_plot_clear(struct line_plot *plot)
{
	for (size_t i = 0; i < plot->count; i++) {
		free(plot->series[i].name);
		free(plot->series[i].point);
	}
	free(plot->series);
	plot->series = NULL;
	plot->count = plot->room = 0;
}

static double seconds(const struct line_plot *plot, nsec_t at_ns)
{
	return (double)nsec_sub(at_ns, plot->begin_ns) / 1e9;
}

static double greatest(const struct line_plot *plot)
{
	double most = plot->most;

	for (size_t i = 0; i < plot->count; i++)
		for (size_t k = 0; k < plot->series[i].points; k++)
			if (plot->series[i].point[k].value > most)
				most = plot->series[i].point[k].value;
	return most > 0 ? most : 1;
}

static char *style_of(size_t n)
{
	const char *dash = line_plot_dash(n);

	return mem_printf("stroke=\"%s\" stroke-width=\"1.5\"%s%s%s", line_plot_colour(n),
			  *dash ? " stroke-dasharray=\"" : "", dash, *dash ? "\"" : "");
}

/* Names of the series, run on like words; returns their height. With no file only that.
 */
static double draw_keys(const struct line_plot *plot, FILE *file, double y)
{
	double x = LEFT, begin = y;

	for (size_t i = 0; i < plot->count; i++) {
		char *name = svg_text_fit(plot->series[i].name, KEY_SIZE, 220);
		double width = SWATCH + 6 + svg_text_width(name, KEY_SIZE) + 18;
		char *style = style_of(i);

		if (x > LEFT && x + width > WIDTH - RIGHT) {
			x = LEFT;
			y += KEY_ROW;
		}
		if (file) {
			svg_line(file, (struct svg_point){x, y - 4},
				 (struct svg_point){x + SWATCH, y - 4}, style);
			svg_text(file, (struct svg_point){x + SWATCH + 6, y}, name,
				 "font-size=\"12.5\" fill=\"" INK "\"");
		}
		x += width;
		free(name);
		free(style);
	}
	return y + KEY_ROW - begin;
}

static void draw_grid(const struct line_plot *plot, const struct frame *frame, FILE *file)
{
	double tick[PLOT_TICKS];
	char label[PLOT_LABEL];
	size_t count = plot_axis_ticks(&frame->y, 5, tick);

	for (size_t i = 0; i < count; i++) {
		double y = plot_axis_at(&frame->y, tick[i]);

		svg_line(file, (struct svg_point){LEFT, y},
			 (struct svg_point){WIDTH - RIGHT, y}, "stroke=\"" GRID "\"");
		plot_label_number(label, tick[i], count > 1 ? tick[1] - tick[0] : 1);
		svg_text(file, (struct svg_point){LEFT - 8, y + 4}, label,
			 "font-size=\"12\" text-anchor=\"end\" fill=\"" MUTED "\"");
	}
	count = plot_axis_ticks(&frame->x, 8, tick);
	for (size_t i = 0; i < count; i++) {
		double x = plot_axis_at(&frame->x, tick[i]), y = frame->y.from;

		svg_line(file, (struct svg_point){x, y}, (struct svg_point){x, y + 5},
			 "stroke=\"" MUTED "\"");
		plot_label_number(label, tick[i], count > 1 ? tick[1] - tick[0] : 1);
		svg_text(file, (struct svg_point){x, y + 19}, label,
			 "font-size=\"12\" text-anchor=\"middle\" fill=\"" MUTED "\"");
	}
	(void)plot;
}

static void draw_words(const struct line_plot *plot, const struct frame *frame,
		       FILE *file)
{
	char begin[NSEC_TEXT];
	char *below;

	nsec_format_utc(begin, plot->begin_ns);
	below = mem_printf("seconds since %.23s UTC", begin);
	svg_text(file, (struct svg_point){LEFT, 26}, plot->title,
		 "font-size=\"17\" font-weight=\"600\" fill=\"" INK "\"");
	svg_text(file, (struct svg_point){LEFT, 44}, plot->unit,
		 "font-size=\"12\" fill=\"" MUTED "\"");
	svg_text(file, (struct svg_point){(LEFT + WIDTH - RIGHT) / 2, frame->y.from + 40},
		 below, "font-size=\"12\" text-anchor=\"middle\" fill=\"" MUTED "\"");
	free(below);
}

static int compare(const void *a, const void *b)
{
	nsec_t x = *(const nsec_t *)a, y = *(const nsec_t *)b;

	return (x > y) - (x < y);
}

/* The median distance of points; 0 of few. */
static nsec_t step_of(const struct line_series *series)
{
	nsec_t *distance, step;

	if (series->points < 2)
		return 0;
	distance = mem_alloc((series->points - 1) * sizeof(*distance));
	for (size_t i = 1; i < series->points; i++)
		distance[i - 1] =
		    nsec_sub(series->point[i].at_ns, series->point[i - 1].at_ns);
	qsort(distance, series->points - 1, sizeof(*distance), compare);
	step = distance[(series->points - 1) / 2];
	free(distance);
	return step > NSEC_MAX / 4 ? NSEC_MAX / 4 : step;
}

/* A line, or a dot where a point stands alone. */
static void draw_run(FILE *file, const struct svg_point *point, size_t count, size_t n)
{
	char *style;

	if (count == 1) {
		style = mem_printf("fill=\"%s\"", line_plot_colour(n));
		svg_circle(file, point[0], 2, style);
	} else {
		style = style_of(n);
		svg_polyline(file, point, count, style);
	}
	free(style);
}

/* The points of one column of pixels become its least and its greatest, as they came. */
static size_t reduce(struct svg_point *point, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count;) {
		size_t end = i, least = i, most = i;

		for (; end < count && floor(point[end].x) == floor(point[i].x); end++) {
			if (point[end].y < point[least].y)
				least = end;
			if (point[end].y > point[most].y)
				most = end;
		}
		if (end - i <= 2) {
			while (i < end)
				point[kept++] = point[i++];
			continue;
		}
		point[kept++] = point[least < most ? least : most];
		if (least != most)
			point[kept++] = point[least < most ? most : least];
		i = end;
	}
	return kept;
}

/*
 * A sample is the mean since the one before, or where that is far away of a usual
 * interval: a step that ends with it.
 */
static void draw_series(const struct line_plot *plot, const struct frame *frame, size_t n,
			FILE *file)
{
	const struct line_series *series = &plot->series[n];
	struct svg_point *point = mem_alloc((2 * series->points + 1) * sizeof(*point));
	nsec_t step = step_of(series);
	size_t count = 0;

	fputs("<g>", file);
	svg_tooltip(file, series->name);
	for (size_t i = 0; i < series->points; i++) {
		const struct line_point *at = &series->point[i];
		nsec_t before = i ? series->point[i - 1].at_ns : NSEC_MIN;
		bool is_apart = !i || nsec_sub(at->at_ns, before) > 3 * step;
		double y = plot_axis_at(&frame->y, at->value);

		if (count && (is_apart || !isfinite(at->value))) {
			draw_run(file, point, reduce(point, count), n);
			count = 0;
		}
		if (!isfinite(at->value))
			continue;
		if (is_apart)
			before = nsec_sub(at->at_ns, step);
		if (before < plot->begin_ns)
			before = plot->begin_ns;
		point[count++] =
		    (struct svg_point){plot_axis_at(&frame->x, seconds(plot, before)), y};
		point[count++] = (struct svg_point){
		    plot_axis_at(&frame->x, seconds(plot, at->at_ns)), y};
	}
	if (count)
		draw_run(file, point, reduce(point, count), n);
	fputs("</g>\n", file);
	free(point);
}

void line_plot_draw(const struct line_plot *plot, FILE *file)
{
	struct frame frame = {.keys_height = draw_keys(plot, NULL, 0)};
	double bottom = TOP + HEIGHT;

	plot_axis_open(&frame.x, 0, seconds(plot, plot->end_ns));
	frame.x.from = LEFT;
	frame.x.to = WIDTH - RIGHT;
	plot_axis_open(&frame.y, 0, greatest(plot));
	frame.y.from = bottom;
	frame.y.to = TOP;
	svg_begin(file, WIDTH, bottom + BELOW + frame.keys_height + 8, plot->title);
	draw_grid(plot, &frame, file);
	draw_words(plot, &frame, file);
	for (size_t i = 0; i < plot->count; i++)
		draw_series(plot, &frame, i, file);
	draw_keys(plot, file, bottom + BELOW + 12);
	svg_end(file);
}
