/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/panel.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/plot/head.h"

#define BEYOND  12.0 /* pixels past the frame where a line ends */
#define STEP    3.0  /* pixels between the points of a line that is bent */
#define FLAT    0.05 /* pixels that a point may stray from what is drawn */
#define X_TICKS 8
#define Y_TICKS 8

void plot_panel_fit(struct plot_panel *panel)
{
	double tick[PLOT_TICKS];

	panel->x.from = 0;
	panel->x.to = panel->frame.width;
	panel->y.from = panel->frame.height;
	panel->y.to = 0;
	panel->y_step = 0;
	if (panel->y.threshold <= 0 && plot_axis_ticks(&panel->y, Y_TICKS, tick) > 1)
		panel->y_step = tick[1] - tick[0];
}

static void x_label(const struct plot_panel *panel, FILE *file, double value, double step)
{
	const struct svg_box *frame = &panel->frame;
	const struct svg_point at = {frame->x + plot_axis_at(&panel->x, value),
				     frame->y + frame->height + 17};
	char text[PLOT_LABEL];

	svg_text(file, at, plot_label_number(text, value, step),
		 "font-size=\"12\" text-anchor=\"middle\" fill=\"" PLOT_MUTED "\"");
}

static void x_grid(const struct plot_panel *panel, FILE *file, bool labels)
{
	const struct svg_box *frame = &panel->frame;
	double tick[PLOT_TICKS];
	const size_t count = plot_axis_ticks(&panel->x, X_TICKS, tick);

	for (size_t i = 0; i < count; i++) {
		const double x = frame->x + plot_axis_at(&panel->x, tick[i]);

		svg_line(file, (struct svg_point){x, frame->y},
			 (struct svg_point){x, frame->y + frame->height},
			 "stroke=\"" PLOT_GRID "\"");
		if (labels)
			x_label(panel, file, tick[i], count > 1 ? tick[1] - tick[0] : 0);
	}
}

static void y_label(const struct plot_panel *panel, FILE *file, double value, double y)
{
	const struct plot_axis *axis = &panel->y;
	const double reach = fmax(fabs(axis->low), fabs(axis->high));
	const struct svg_point at = {panel->frame.x - 8, y + 4};
	char text[PLOT_LABEL];

	if (panel->y_step > 0)
		plot_label_tick(text, value, reach, panel->y_step);
	else
		plot_label_tick(text, value, fabs(value), fabs(value));
	svg_text(file, at, text,
		 "font-size=\"12\" text-anchor=\"end\" fill=\"" PLOT_MUTED "\"");
}

static void y_grid(const struct plot_panel *panel, FILE *file)
{
	const struct svg_box *frame = &panel->frame;
	double tick[PLOT_TICKS];
	const size_t count = plot_axis_ticks(&panel->y, Y_TICKS, tick);

	for (size_t i = 0; i < count; i++) {
		const double y = frame->y + plot_axis_at(&panel->y, tick[i]);

		svg_line(file, (struct svg_point){frame->x, y},
			 (struct svg_point){frame->x + frame->width, y},
			 "stroke=\"" PLOT_GRID "\"");
		y_label(panel, file, tick[i], y);
	}
}

void plot_panel_grid(const struct plot_panel *panel, FILE *file, bool label_x)
{
	x_grid(panel, file, label_x);
	y_grid(panel, file);
}

/* A line in pixels, as it is made. */
struct curve {
	struct svg_point *point;
	size_t count, room;
};

/* Whether b can be left out between a and c. */
static bool is_between(struct svg_point a, struct svg_point b, struct svg_point c)
{
	const double dx = c.x - a.x, dy = c.y - a.y;
	const double cross = dx * (b.y - a.y) - dy * (b.x - a.x);

	return b.x >= a.x && b.x <= c.x && fabs(cross) <= FLAT * hypot(dx, dy);
}

static void curve_add(struct curve *curve, struct svg_point point)
{
	struct svg_point *last = curve->point + curve->count;

	if (curve->count >= 2 && is_between(last[-2], last[-1], point)) {
		last[-1] = point;
		return;
	}
	curve->point =
	    mem_grow(curve->point, curve->count, &curve->room, sizeof(*curve->point));
	curve->point[curve->count++] = point;
}

static struct svg_point pixel(const struct plot_panel *panel, double x, double y)
{
	const double top = -BEYOND, bottom = panel->frame.height + BEYOND;
	const double at = plot_axis_at(&panel->y, y);

	return (struct svg_point){plot_axis_at(&panel->x, x),
				  fmin(fmax(at, top), bottom)};
}

/* What of the segment lies over the frame: it may be bent, and very steep. */
static void curve_segment(struct curve *curve, const struct plot_panel *panel,
			  const struct plot_point *a, const struct plot_point *b)
{
	const double left = plot_axis_at(&panel->x, a->x);
	const double right = plot_axis_at(&panel->x, b->x);
	const double first = fmax(left, -BEYOND);
	const double last = fmin(right, panel->frame.width + BEYOND);

	if (first > last)
		return;
	for (double x = first;; x = fmin(x + STEP, last)) {
		const double t = right > left ? (x - left) / (right - left) : 0;

		curve_add(curve, pixel(panel, a->x + t * (b->x - a->x),
				       a->y + t * (b->y - a->y)));
		if (x >= last)
			break;
	}
	if (last >= right)
		curve_add(curve, pixel(panel, b->x, b->y));
}

static void curve_make(struct curve *curve, const struct plot_panel *panel,
		       const struct plot_series *line)
{
	*curve = (struct curve){0};
	if (line->count == 1)
		curve_add(curve, pixel(panel, line->point->x, line->point->y));
	for (size_t i = 1; i < line->count; i++)
		curve_segment(curve, panel, &line->point[i - 1], &line->point[i]);
}

void plot_panel_line(const struct plot_panel *panel, FILE *file,
		     const struct plot_series *line, const char *style)
{
	struct curve curve;

	curve_make(&curve, panel, line);
	svg_polyline(file, curve.point, curve.count, style);
	free(curve.point);
}

/* The frame's own edge as far as the other side reaches, where nothing bounds this one.
 */
static void curve_edge(struct curve *curve, const struct curve *other, double y)
{
	if (other->count == 0)
		return;
	curve_add(curve, (struct svg_point){other->point[0].x, y});
	curve_add(curve, (struct svg_point){other->point[other->count - 1].x, y});
}

void plot_panel_band(const struct plot_panel *panel, FILE *file,
		     const struct plot_series *low, const struct plot_series *high,
		     const char *style)
{
	struct curve top, bottom;

	if (low->count == 0 && high->count == 0)
		return;
	curve_make(&top, panel, high);
	curve_make(&bottom, panel, low);
	if (high->count == 0)
		curve_edge(&top, &bottom, -BEYOND);
	if (low->count == 0)
		curve_edge(&bottom, &top, panel->frame.height + BEYOND);
	while (bottom.count > 0)
		curve_add(&top, bottom.point[--bottom.count]);
	svg_polygon(file, top.point, top.count, style);
	free(top.point);
	free(bottom.point);
}
