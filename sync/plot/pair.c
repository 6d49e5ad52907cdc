/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/plot.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/plot/data.h"
#include "sync/plot/head.h"
#include "sync/plot/panel.h"

/*
 * Delays span three decades and more, and what makes a fit good lies within
 * the smallest: so one panel shows every message, on an axis that is
 * logarithmic but for the middle, and one below it the hulls and the bound.
 */
#define WIDTH        960.0
#define LEFT         78.0 /* of the frames: room for the labels */
#define RIGHT        30.0
#define WHOLE_HEIGHT 280.0
#define ZOOM_HEIGHT  300.0
#define HEADING      32.0 /* above a frame */
#define GAP          14.0 /* between a frame and the next heading */
#define FOOT         52.0 /* below the last frame */
#define NAME_ROOM    190.0

/*
 * Blue and orange are told apart by all eyes (Okabe and Ito, 2008); what
 * breaks the fit differs by its shape as well.
 */
#define AB_COLOR     "#0072b2"
#define AB_DARK      "#004a75"
#define BA_COLOR     "#e08a00"
#define BA_DARK      "#8f4f00"
#define BROKEN_COLOR "#d00024"
#define AB_HULL      "stroke=\"" AB_DARK "\" stroke-width=\"1.8\""
#define BA_HULL      "stroke=\"" BA_DARK "\" stroke-width=\"1.8\""
#define BAND                                                                             \
	"fill=\"#009e73\" fill-opacity=\".18\" stroke=\"#009e73\" stroke-opacity=\".5\""
#define FIT          "stroke=\"" PLOT_INK "\" stroke-width=\"1.4\""
#define BROKEN       "stroke=\"" BROKEN_COLOR "\" stroke-width=\"2\""
#define NOTE         "font-size=\"12\" fill=\"" PLOT_MUTED "\""
#define MOST_CORNERS 400 /* of a hull, marked each by a ring */

struct picture {
	const struct plot_pair *pair;
	struct plot_data data;
	struct plot_head head;
	char *a, *b;           /* names, cut to a length that fits the legend */
	char *title, *heading; /* the names in full, and as they fit */
	struct plot_panel whole, zoom;
	double height;
};

static size_t count_of(const struct picture *picture, enum plot_data_series series)
{
	return picture->data.series[series].count;
}

static void message_key(struct picture *picture, const char *style, const char *from,
			const char *to, size_t messages, size_t drawn)
{
	char all[PLOT_LABEL], part[PLOT_LABEL];

	plot_label_count(all, messages);
	if (drawn < messages)
		plot_head_key(&picture->head, PLOT_SWATCH_DOT, style,
			      "%s \xe2\x86\x92 %s: %s messages, %s drawn", from, to, all,
			      plot_label_count(part, drawn));
	else
		plot_head_key(&picture->head, PLOT_SWATCH_DOT, style,
			      "%s \xe2\x86\x92 %s: %s message%s", from, to, all,
			      messages == 1 ? "" : "s");
}

static void hull_key(struct picture *picture, enum plot_data_series series,
		     const char *style, const char *from, const char *to)
{
	const size_t corners = count_of(picture, series);

	if (corners > 0)
		plot_head_key(&picture->head, PLOT_SWATCH_LINE, style,
			      "hull %s \xe2\x86\x92 %s: %zu corner%s", from, to, corners,
			      corners == 1 ? "" : "s");
}

static void broken_key(struct picture *picture)
{
	const size_t broken =
	    count_of(picture, PLOT_BROKEN_AB) + count_of(picture, PLOT_BROKEN_BA);
	char text[PLOT_LABEL];

	if (broken > 0)
		plot_head_key(&picture->head, PLOT_SWATCH_CROSS, BROKEN,
			      "%s message%s the fit", plot_label_count(text, broken),
			      broken == 1 ? " breaks" : "s break");
}

static void make_keys(struct picture *picture)
{
	const struct plot_pair *pair = picture->pair;
	const char *a = picture->a, *b = picture->b;

	message_key(picture, "fill=\"" AB_COLOR "\"", a, b, pair->messages_ab,
		    count_of(picture, PLOT_AB) + count_of(picture, PLOT_BROKEN_AB));
	message_key(picture, "fill=\"" BA_COLOR "\"", b, a, pair->messages_ba,
		    count_of(picture, PLOT_BA) + count_of(picture, PLOT_BROKEN_BA));
	broken_key(picture);
	hull_key(picture, PLOT_HULL_AB, AB_HULL, a, b);
	hull_key(picture, PLOT_HULL_BA, BA_HULL, b, a);
	plot_head_key(&picture->head, PLOT_SWATCH_LINE, FIT, "fit");
	if (count_of(picture, PLOT_LOW) + count_of(picture, PLOT_HIGH) > 0)
		plot_head_key(&picture->head, PLOT_SWATCH_BAND, BAND, "bound of the fit");
}

static void place_panels(struct picture *picture)
{
	double y = plot_head_draw(&picture->head, NULL) + HEADING;
	const double width = WIDTH - LEFT - RIGHT;

	picture->whole.frame = (struct svg_box){LEFT, y, width, WHOLE_HEIGHT};
	y += WHOLE_HEIGHT + GAP + HEADING;
	picture->zoom.frame = (struct svg_box){LEFT, y, width, ZOOM_HEIGHT};
	picture->height = y + ZOOM_HEIGHT + FOOT;
	plot_panel_fit(&picture->whole);
	plot_panel_fit(&picture->zoom);
}

/* Where both names do not fit, each loses its middle. */
static char *make_heading(const struct plot_pair *pair)
{
	const double room = WIDTH / 2 - PLOT_MARGIN - PLOT_TITLE_SIZE;
	char *a = svg_text_fit(pair->a, PLOT_TITLE_SIZE, room);
	char *b = svg_text_fit(pair->b, PLOT_TITLE_SIZE, room);
	char *heading = mem_printf("%s - %s", a, b);

	free(a);
	free(b);
	return heading;
}

static void picture_init(struct picture *picture, const struct plot_pair *pair)
{
	struct plot_data *data = &picture->data;

	*picture = (struct picture){.pair = pair};
	plot_data_init(data, pair);
	picture->a = svg_text_fit(pair->a, 12.5, NAME_ROOM);
	picture->b = svg_text_fit(pair->b, 12.5, NAME_ROOM);
	picture->title = mem_printf("%s - %s", pair->a, pair->b);
	picture->heading = make_heading(pair);
	picture->head.title = picture->heading;
	picture->head.caption = pair->caption;
	picture->head.width = WIDTH;
	make_keys(picture);
	picture->whole.x = picture->zoom.x = plot_data_time(data);
	picture->whole.y = plot_data_whole(data);
	picture->zoom.y = plot_data_zoom(data, &picture->zoom.x);
	place_panels(picture);
}

static void picture_clear(struct picture *picture)
{
	plot_data_clear(&picture->data);
	plot_head_clear(&picture->head);
	free(picture->a);
	free(picture->b);
	free(picture->title);
	free(picture->heading);
}

static void draw_heading(const struct plot_panel *panel, FILE *file, const char *heading)
{
	svg_text(file, (struct svg_point){panel->frame.x, panel->frame.y - 10}, heading,
		 "font-size=\"13\" font-weight=\"600\" fill=\"" PLOT_INK "\"");
}

/* How many messages are past the frame's edge, at its right end. */
static void draw_beyond(const struct plot_panel *panel, FILE *file, bool above,
			size_t count)
{
	const struct svg_box *frame = &panel->frame;
	const double right = frame->x + frame->width;
	const double y = above ? frame->y - 10 : frame->y + frame->height + 38;
	char number[PLOT_LABEL];
	char *text;

	if (count == 0)
		return;
	text = mem_printf("%s message%s further %s", plot_label_count(number, count),
			  count == 1 ? "" : "s", above ? "up" : "down");
	svg_text(file, (struct svg_point){right, y}, text, NOTE " text-anchor=\"end\"");
	free(text);
}

static void draw_corners(const struct plot_panel *panel, FILE *file,
			 const struct plot_series *hull, const char *color)
{
	if (hull->count > MOST_CORNERS)
		return;
	fprintf(file, "<g fill=\"#fff\" stroke=\"%s\">\n", color);
	for (size_t i = 0; i < hull->count; i++) {
		const double y = plot_axis_at(&panel->y, hull->point[i].y);
		const double x = plot_axis_at(&panel->x, hull->point[i].x);

		if (y >= 0 && y <= panel->frame.height)
			svg_circle(file, (struct svg_point){x, y}, 2.6,
				   "stroke-width=\"1.4\"");
	}
	fputs("</g>\n", file);
}

static void draw_fit(const struct plot_panel *panel, FILE *file)
{
	const double y = plot_axis_at(&panel->y, 0);

	svg_line(file, (struct svg_point){0, y},
		 (struct svg_point){panel->frame.width, y}, FIT);
}

static void draw_panel(const struct picture *picture, const struct plot_panel *panel,
		       FILE *file, bool is_zoom)
{
	const struct plot_series *series = picture->data.series;
	struct plot_cloud_count ab, ba;

	plot_panel_grid(panel, file, is_zoom);
	svg_begin_clip(file, &panel->frame);
	plot_panel_band(panel, file, &series[PLOT_LOW], &series[PLOT_HIGH], BAND);
	ab = plot_panel_cloud(panel, file, &series[PLOT_AB], AB_COLOR);
	ba = plot_panel_cloud(panel, file, &series[PLOT_BA], BA_COLOR);
	plot_panel_line(panel, file, &series[PLOT_HULL_AB], AB_HULL);
	plot_panel_line(panel, file, &series[PLOT_HULL_BA], BA_HULL);
	draw_fit(panel, file);
	if (is_zoom) {
		draw_corners(panel, file, &series[PLOT_HULL_AB], AB_DARK);
		draw_corners(panel, file, &series[PLOT_HULL_BA], BA_DARK);
	}
	plot_panel_crosses(panel, file, &series[PLOT_BROKEN_AB], BROKEN_COLOR);
	plot_panel_crosses(panel, file, &series[PLOT_BROKEN_BA], BROKEN_COLOR);
	svg_end(file);
	svg_rect(file, &panel->frame, "fill=\"none\" stroke=\"#94a3b8\"");
	draw_beyond(panel, file, true, ab.above + ba.above);
	draw_beyond(panel, file, false, ab.below + ba.below);
}

/* Bars right of the frames: what of the upper one the lower one shows. */
static void draw_range(const struct picture *picture, FILE *file)
{
	static const char style[] = "rx=\"2\" fill=\"#94a3b8\"";
	const struct svg_box *whole = &picture->whole.frame, *zoom = &picture->zoom.frame;
	const double x = whole->x + whole->width + 7;
	const double high = plot_axis_at(&picture->whole.y, picture->zoom.y.high);
	const double low = plot_axis_at(&picture->whole.y, picture->zoom.y.low);
	const double top = fmax(high, 0), bottom = fmin(low, whole->height);

	if (bottom - top > 0.9 * whole->height)
		return;
	svg_rect(file, &(struct svg_box){x, whole->y + top, 4, bottom - top}, style);
	svg_rect(file, &(struct svg_box){x, zoom->y, 4, zoom->height}, style);
}

static void draw_headings(const struct picture *picture, FILE *file)
{
	const double threshold = picture->whole.y.threshold;
	const bool has_band =
	    count_of(picture, PLOT_LOW) + count_of(picture, PLOT_HIGH) > 0;
	char text[PLOT_LABEL];
	char *whole;

	if (threshold > 0)
		whole =
		    mem_printf("All messages: distance from the fit, logarithmic "
			       "beyond \xc2\xb1%s",
			       plot_label_tick(text, threshold, threshold, threshold));
	else
		whole = mem_strdup("All messages: distance from the fit");
	draw_heading(&picture->whole, file, whole);
	draw_heading(&picture->zoom, file,
		     has_band
			 ? "Close-up: the hulls, and the band that the true clock lies in"
			 : "Close-up: the hulls");
	free(whole);
}

static void draw_emptiness(const struct picture *picture, FILE *file)
{
	const struct svg_box *frame = &picture->whole.frame;
	const struct svg_point at = {frame->x + frame->width / 2,
				     frame->y + frame->height / 4};

	for (int i = PLOT_AB; i <= PLOT_HULL_BA; i++)
		if (picture->data.series[i].count > 0)
			return;
	svg_text(file, at, "no messages",
		 "font-size=\"16\" text-anchor=\"middle\" fill=\"" PLOT_MUTED "\"");
}

static void draw_picture(const struct picture *picture, FILE *file)
{
	const struct svg_box *frame = &picture->zoom.frame;
	const struct svg_point time = {frame->x + frame->width / 2,
				       frame->y + frame->height + 38};

	char begin[NSEC_TEXT], label[NSEC_TEXT + 64];

	nsec_format_utc(begin, picture->pair->begin_ns);
	snprintf(label, sizeof(label), "seconds since %.23s UTC, by the reference clock",
		 begin);
	svg_begin(file, WIDTH, picture->height, picture->title);
	plot_head_draw(&picture->head, file);
	draw_headings(picture, file);
	draw_panel(picture, &picture->whole, file, false);
	draw_panel(picture, &picture->zoom, file, true);
	draw_emptiness(picture, file);
	draw_range(picture, file);
	svg_text(file, time, label, NOTE " text-anchor=\"middle\"");
	svg_end(file);
}

int plot_pair_write(const struct plot_pair *pair, const char *path, struct error *error)
{
	struct picture picture;
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	picture_init(&picture, pair);
	draw_picture(&picture, output.file);
	picture_clear(&picture);
	return output_commit(&output, error);
}
