/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/plot/plot.h"

/*
 * What makes a fit good lies within the smallest of the delays, which span three decades
 * and more: so the frame reaches a little beyond the hulls, and messages further out are
 * drawn at its edge and counted.
 */
#define LEFT         78.0 /* of the frame: room for the labels */
#define RIGHT        30.0
#define HEIGHT       440.0
#define HEADING      32.0 /* above the frame */
#define NAME_ROOM    190.0
#define ROUNDING     0.0005 /* microseconds; a message on the fit does not break it */
#define MOST_CORNERS 400    /* of a hull, marked each by a ring */

/*
 * Blue and orange are told apart by all eyes (Okabe and Ito, 2008); what breaks the fit
 * differs by its shape as well.
 */
static const struct look {
	double sign; /* of y where a message keeps the fit */
	const char *color, *key, *dark, *hull;
} looks[2] = {
    {1, "#0072b2", "fill=\"#0072b2\"", "#004a75",
     "stroke=\"#004a75\" stroke-width=\"1.8\""},
    {-1, "#e08a00", "fill=\"#e08a00\"", "#8f4f00",
     "stroke=\"#8f4f00\" stroke-width=\"1.8\""},
};

#define BROKEN_COLOR "#d00024"
#define BROKEN       "stroke=\"" BROKEN_COLOR "\" stroke-width=\"2\""
#define FIT          "stroke=\"" CHART_INK "\" stroke-width=\"1.4\""
#define BAND                                                                             \
	"fill=\"#009e73\" fill-opacity=\".18\" stroke=\"#009e73\" stroke-opacity=\".5\""

struct picture {
	const struct plot_pair *pair;
	struct chart_series broken; /* messages of both sides that break the fit */
	struct chart head;
	struct chart_frame frame;
};

static bool has_bound(const struct plot_pair *pair)
{
	return pair->side[0].bound.count + pair->side[1].bound.count > 0;
}

/* For free(). */
static struct chart_point *find_broken(struct picture *picture)
{
	const struct plot_side *side = picture->pair->side;
	struct chart_point *point =
	    mem_alloc((side[0].drawn.count + side[1].drawn.count) * sizeof(*point) + 1);
	size_t count = 0;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < side[k].drawn.count; i++)
			if (looks[k].sign * side[k].drawn.point[i].y < -ROUNDING)
				point[count++] = side[k].drawn.point[i];
	picture->broken = (struct chart_series){point, count};
	return point;
}

/* Of the distances from the fit; 0 when there are none. */
static double distance_quantile(const struct chart_series *series, double q)
{
	AUTOFREE double *distance = mem_alloc(series->count * sizeof(*distance) + 1);
	double result = 0;

	for (size_t i = 0; i < series->count; i++)
		distance[i] = fabs(series->point[i].y);
	if (series->count)
		result = ranked(distance, series->count,
				(size_t)(q * (double)(series->count - 1)));
	return result;
}

/* How far the frame reaches to one side: a hull's ends fly high, a wide bound is cut off.
 */
static double side_reach(const struct plot_side *side)
{
	double reach = distance_quantile(&side->hull, 0.5);
	double band = distance_quantile(&side->bound, 0.75);

	if (!(reach > 0))
		reach = distance_quantile(&side->drawn, 0.1);
	return 2 * fmax(reach, reach > 0 ? fmin(band, 2 * reach) : band);
}

static void extend(const struct chart_series *series, double time[2])
{
	for (size_t i = 0; i < series->count; i++) {
		time[0] = fmin(time[0], series->point[i].x);
		time[1] = fmax(time[1], series->point[i].x);
	}
}

/* From the first message to the last; where there is none, as long as the bound. */
static void set_axes(struct picture *picture)
{
	const struct plot_side *side = picture->pair->side;
	double time[2] = {INFINITY, -INFINITY}, pad;
	double up = side_reach(&side[0]), down = side_reach(&side[1]);

	for (int k = 0; k < 2; k++) {
		extend(&side[k].drawn, time);
		extend(&side[k].hull, time);
	}
	for (int k = 0; k < 2 && !(time[0] <= time[1]); k++)
		extend(&side[k].bound, time);
	if (!(time[0] <= time[1]))
		time[0] = time[1] = 0;
	pad = 0.02 * (time[1] - time[0]);
	chart_axis_open(&picture->frame.x, time[0] - pad, time[1] + pad);
	if (!(up > 0) && !(down > 0))
		up = down = 1;
	chart_axis_open(&picture->frame.y, -fmax(down, up / 2), fmax(up, down / 2));
	picture->frame.is_time = true;
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void make_keys(struct picture *picture)
{
	const struct plot_pair *pair = picture->pair;
	const size_t broken = picture->broken.count;
	char *name[2] = {svg_text_fit(pair->a, 12.5, NAME_ROOM),
			 svg_text_fit(pair->b, 12.5, NAME_ROOM)};
	struct chart *head = &picture->head;
	char all[CHART_LABEL], part[CHART_LABEL];

	for (int k = 0; k < 2; k++) {
		const struct plot_side *side = &pair->side[k];
		const bool is_part = side->drawn.count < side->messages;

		chart_label_count(all, side->messages);
		chart_label_count(part, side->drawn.count);
		chart_key(head, CHART_DOT, looks[k].key,
			  "%s \xe2\x86\x92 %s: %s message%s%s%s%s", name[k], name[!k],
			  all, plural(side->messages), is_part ? ", " : "",
			  is_part ? part : "", is_part ? " drawn" : "");
	}
	if (broken > 0)
		chart_key(head, CHART_CROSS, BROKEN, "%s message%s the fit",
			  chart_label_count(all, broken),
			  broken == 1 ? " breaks" : "s break");
	for (int k = 0; k < 2; k++) {
		const size_t corners = pair->side[k].hull.count;

		if (corners)
			chart_key(head, CHART_LINE, looks[k].hull,
				  "hull %s \xe2\x86\x92 %s: %zu corner%s", name[k],
				  name[!k], corners, plural(corners));
	}
	chart_key(head, CHART_LINE, FIT, "fit");
	if (has_bound(pair))
		chart_key(head, CHART_BAND, BAND, "bound of the fit");
	free(name[0]);
	free(name[1]);
}

/* How many messages are past the frame's edge, at its right end. */
static void draw_beyond(const struct picture *picture, FILE *file, bool above)
{
	const struct chart_frame *frame = &picture->frame;
	const struct svg_point at = {frame->box.x + frame->box.width,
				     above ? frame->box.y - 10
					   : frame->box.y + frame->box.height + 38};
	char number[CHART_LABEL];
	size_t count = 0;
	char *text;

	for (int k = 0; k < 2; k++) {
		const struct chart_series *series = &picture->pair->side[k].drawn;

		for (size_t i = 0; i < series->count; i++)
			count += above ? series->point[i].y > frame->y.high
				       : series->point[i].y < frame->y.low;
	}
	if (count == 0)
		return;
	text = mem_printf("%s message%s further %s", chart_label_count(number, count),
			  plural(count), above ? "up" : "down");
	svg_text(file, at, text,
		 "font-size=\"12\" fill=\"" CHART_MUTED "\" text-anchor=\"end\"");
	free(text);
}

static void draw_hull(const struct chart_frame *frame, FILE *file,
		      const struct chart_series *hull, const struct look *look)
{
	chart_line(frame, file, hull, look->hull);
	if (hull->count > MOST_CORNERS)
		return;
	fprintf(file, "<g fill=\"#fff\" stroke=\"%s\">\n", look->dark);
	for (size_t i = 0; i < hull->count; i++) {
		const struct svg_point at = chart_at(frame, hull->point[i]);

		if (at.y >= 0 && at.y <= frame->box.height)
			svg_circle(file, at, 2.6, "stroke-width=\"1.4\"");
	}
	fputs("</g>\n", file);
}

static void draw_picture(struct picture *picture, FILE *file)
{
	const struct plot_side *side = picture->pair->side;
	struct chart_frame *frame = &picture->frame;
	double fit;
	size_t points = 0;

	frame->box = (struct svg_box){LEFT, HEADING, CHART_WIDTH - LEFT - RIGHT, HEIGHT};
	chart_begin(&picture->head, frame, picture->pair->begin_ns, file);
	fit = chart_at(frame, (struct chart_point){0, 0}).y;
	if (has_bound(picture->pair))
		chart_band(frame, file, &side[1].bound, &side[0].bound, BAND);
	for (int k = 0; k < 2; k++)
		chart_dots(frame, file, &side[k].drawn, looks[k].color);
	svg_line(file, (struct svg_point){0, fit},
		 (struct svg_point){frame->box.width, fit}, FIT);
	for (int k = 0; k < 2; k++) {
		draw_hull(frame, file, &side[k].hull, &looks[k]);
		points += side[k].drawn.count + side[k].hull.count;
	}
	chart_crosses(frame, file, &picture->broken, BROKEN_COLOR);
	if (points == 0)
		svg_text(
		    file, (struct svg_point){frame->box.width / 2, frame->box.height / 4},
		    "no messages",
		    "font-size=\"16\" text-anchor=\"middle\" fill=\"" CHART_MUTED "\"");
	svg_end(file);
	svg_rect(file, &frame->box, "fill=\"none\" stroke=\"#94a3b8\"");
	draw_beyond(picture, file, true);
	draw_beyond(picture, file, false);
	svg_end(file);
}

/* Where both names do not fit, each loses its middle. */
static char *make_heading(const struct plot_pair *pair)
{
	const double size = 23, room = CHART_WIDTH / 2 - CHART_MARGIN - size;
	AUTOFREE char *a = svg_text_fit(pair->a, size, room);
	AUTOFREE char *b = svg_text_fit(pair->b, size, room);

	return mem_printf("%s - %s", a, b);
}

int plot_pair_write(const struct plot_pair *pair, const char *path, struct error *error)
{
	struct picture picture = {.pair = pair};
	struct output output;
	AUTOFREE char *title = mem_printf("%s - %s", pair->a, pair->b);
	AUTOFREE char *heading = make_heading(pair);
	struct chart_point *broken;

	if (output_open(&output, path, error))
		return -1;
	picture.head =
	    (struct chart){.title = title, .caption = pair->caption, .heading = heading};
	broken = find_broken(&picture);
	make_keys(&picture);
	set_axes(&picture);
	draw_picture(&picture, output.file);
	chart_clear(&picture.head);
	free(broken);
	return output_commit(&output, error);
}
