/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "sync/plot/plot.h"

/*
 * Delays span three decades and more, and what makes a fit good lies within the
 * smallest: so one frame shows every message, on an axis that is logarithmic but for the
 * middle, and one below it the hulls and the bound.
 */
#define LEFT         78.0 /* of the frames: room for the labels */
#define RIGHT        30.0
#define WHOLE_HEIGHT 280.0
#define ZOOM_HEIGHT  300.0
#define HEADING      32.0 /* above a frame */
#define GAP          14.0 /* between a frame and the next heading */
#define FOOT         52.0 /* below the last frame */
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

/* Messages that keep the fit, and those that break it. */
struct messages {
	struct chart_point *point;
	struct chart_series kept, broken;
};

struct picture {
	const struct plot_pair *pair;
	struct messages of[2]; /* by side */
	struct chart head;
	struct chart_frame whole, zoom;
};

static struct messages split(const struct chart_series *series, double sign)
{
	struct chart_point *point = mem_alloc(series->count * sizeof(*point) + 1);
	size_t kept = 0, end = series->count;

	for (size_t i = 0; i < series->count; i++)
		point[sign * series->point[i].y >= -ROUNDING ? kept++ : --end] =
		    series->point[i];
	return (struct messages){
	    point, {point, kept}, {point + kept, series->count - kept}};
}

static bool has_bound(const struct plot_pair *pair)
{
	return pair->side[0].bound.count + pair->side[1].bound.count > 0;
}

/* ---- what the axes show */

static void extend(const struct chart_series *series, struct chart_point *low,
		   struct chart_point *high)
{
	for (size_t i = 0; i < series->count; i++) {
		low->x = fmin(low->x, series->point[i].x);
		low->y = fmin(low->y, series->point[i].y);
		high->x = fmax(high->x, series->point[i].x);
		high->y = fmax(high->y, series->point[i].y);
	}
}

/* Of the distances from the fit; 0 when there are none. */
static double distance_quantile(const struct chart_series *series, double q)
{
	double *distance = mem_alloc(series->count * sizeof(*distance) + 1);
	double result = 0;

	for (size_t i = 0; i < series->count; i++)
		distance[i] = fabs(series->point[i].y);
	if (series->count)
		result = ranked(distance, series->count,
				(size_t)(q * (double)(series->count - 1)));
	free(distance);
	return result;
}

/* How far a line is from the fit in three quarters of the time: a hull's ends fly high.
 */
static double line_reach(const struct chart_series *line, const struct chart_axis *time)
{
	enum { SAMPLES = 200 };
	struct chart_point sample[SAMPLES];
	struct chart_series samples = {sample, 0};
	size_t at = 1;

	for (int i = 0; i < SAMPLES; i++) {
		const double x =
		    time->low + (i + 0.5) / SAMPLES * (time->high - time->low);
		const struct chart_point *a, *b;

		while (at < line->count && line->point[at].x < x)
			at++;
		a = line->point + at - 1;
		b = line->point + at;
		if (at < line->count && a->x < x && x <= b->x)
			sample[samples.count++].y =
			    a->y + (b->y - a->y) * ((x - a->x) / (b->x - a->x));
	}
	return distance_quantile(samples.count ? &samples : line, 0.75);
}

/* How far the close-up reaches to one side; 0 when nothing is there. */
static double side_reach(const struct picture *picture, int k)
{
	const struct plot_side *side = &picture->pair->side[k];
	double reach = line_reach(&side->hull, &picture->zoom.x);
	double band = line_reach(&side->bound, &picture->zoom.x);

	if (!(reach > 0))
		reach = distance_quantile(&picture->of[k].kept, 0.1);
	if (reach > 0)
		band = fmin(band, 4 * reach); /* a wider bound is cut off */
	return 1.4 * fmax(reach, band);
}

/* From the first message to the last, and some of the bound beyond them. */
static void set_time(struct picture *picture, struct chart_point low,
		     struct chart_point high)
{
	const double span = high.x - low.x;
	struct chart_point first = low, last = high;

	for (int k = 0; k < 2; k++)
		extend(&picture->pair->side[k].bound, &first, &last);
	if (!(first.x <= last.x))
		first.x = last.x = 0;
	if (span > 0) {
		first.x = fmax(first.x, low.x - 0.15 * span);
		last.x = fmin(last.x, high.x + 0.15 * span);
	}
	chart_axis_open(&picture->whole.x, first.x - 0.01 * (last.x - first.x),
			last.x + 0.01 * (last.x - first.x));
	picture->zoom.x = picture->whole.x;
}

/* Every message: linear about the fastest ones, logarithmic beyond. */
static void set_whole(struct picture *picture, struct chart_point low,
		      struct chart_point high)
{
	const double reach = fmax(fabs(low.y), fabs(high.y));
	const double ab = distance_quantile(&picture->pair->side[0].drawn, 0.02);
	const double ba = distance_quantile(&picture->pair->side[1].drawn, 0.02);
	double fast = ab > 0 && ba > 0 ? fmin(ab, ba) : fmax(ab, ba);
	struct chart_axis *axis = &picture->whole.y;

	if (!(low.y <= high.y && reach > 0)) {
		chart_axis_open(axis, -1, 1);
		return;
	}
	fast = fmax(fast > 0 ? fast : reach, reach / 1e6);
	fast = pow(10, floor(log10(fast)));
	chart_axis_open(axis, fmin(1.4 * low.y, -fast), fmax(1.4 * high.y, fast));
	axis->threshold = fast;
}

static void set_axes(struct picture *picture)
{
	struct chart_point low = {INFINITY, INFINITY}, high = {-INFINITY, -INFINITY};
	double up, down;

	for (int k = 0; k < 2; k++) {
		extend(&picture->pair->side[k].drawn, &low, &high);
		extend(&picture->pair->side[k].hull, &low, &high);
	}
	set_time(picture, low, high);
	set_whole(picture, low, high);
	up = side_reach(picture, 0);
	down = side_reach(picture, 1);
	if (!(up > 0) && !(down > 0))
		up = down = 1;
	chart_axis_open(&picture->zoom.y, -fmax(down, up / 2), fmax(up, down / 2));
	picture->whole.is_time = picture->zoom.is_time = true;
}

/* ---- the head */

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void make_keys(struct picture *picture)
{
	const struct plot_pair *pair = picture->pair;
	const size_t broken = picture->of[0].broken.count + picture->of[1].broken.count;
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

/* ---- the frames */

static void draw_heading(const struct chart_frame *frame, FILE *file, const char *heading)
{
	svg_text(file, (struct svg_point){frame->box.x, frame->box.y - 10}, heading,
		 "font-size=\"13\" font-weight=\"600\" fill=\"" CHART_INK "\"");
}

/* How many messages are past the frame's edge, at its right end. */
static void draw_beyond(const struct picture *picture, const struct chart_frame *frame,
			FILE *file, bool above)
{
	const struct svg_box *box = &frame->box;
	const struct svg_point at = {box->x + box->width,
				     above ? box->y - 10 : box->y + box->height + 38};
	char number[CHART_LABEL];
	size_t count = 0;
	char *text;

	for (int k = 0; k < 2; k++) {
		const struct chart_series *series = &picture->of[k].kept;

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
		const double x = chart_axis_at(&frame->x, hull->point[i].x);
		const double y = chart_axis_at(&frame->y, hull->point[i].y);

		if (y >= 0 && y <= frame->box.height)
			svg_circle(file, (struct svg_point){x, y}, 2.6,
				   "stroke-width=\"1.4\"");
	}
	fputs("</g>\n", file);
}

/* The hulls and the bound are lines, and so belong to the linear axis. */
static void draw_frame(const struct picture *picture, const struct chart_frame *frame,
		       FILE *file)
{
	const struct plot_side *side = picture->pair->side;
	const bool is_zoom = frame == &picture->zoom;
	const double fit = chart_axis_at(&frame->y, 0);

	chart_grid(frame, file, is_zoom);
	svg_begin_clip(file, &frame->box);
	if (is_zoom && has_bound(picture->pair))
		chart_band(frame, file, &side[1].bound, &side[0].bound, BAND);
	for (int k = 0; k < 2; k++)
		chart_dots(frame, file, &picture->of[k].kept, looks[k].color);
	svg_line(file, (struct svg_point){0, fit},
		 (struct svg_point){frame->box.width, fit}, FIT);
	for (int k = 0; k < 2 && is_zoom; k++)
		draw_hull(frame, file, &side[k].hull, &looks[k]);
	for (int k = 0; k < 2; k++)
		chart_crosses(frame, file, &picture->of[k].broken, BROKEN_COLOR);
	svg_end(file);
	svg_rect(file, &frame->box, "fill=\"none\" stroke=\"#94a3b8\"");
	draw_beyond(picture, frame, file, true);
	draw_beyond(picture, frame, file, false);
}

static void draw_headings(const struct picture *picture, FILE *file)
{
	const struct plot_pair *pair = picture->pair;
	const double threshold = picture->whole.y.threshold;
	const struct svg_box *box = &picture->whole.box;
	char text[CHART_LABEL];
	char *whole = mem_printf(
	    "All messages: distance from the fit%s%s",
	    threshold > 0 ? ", logarithmic beyond \xc2\xb1" : "",
	    threshold > 0 ? chart_label_tick(text, threshold, threshold, threshold) : "");
	size_t points = 0;

	draw_heading(&picture->whole, file, whole);
	draw_heading(&picture->zoom, file,
		     has_bound(pair)
			 ? "Close-up: the hulls, and the band that the true clock lies in"
			 : "Close-up: the hulls");
	free(whole);
	for (int k = 0; k < 2; k++)
		points += pair->side[k].drawn.count + pair->side[k].hull.count;
	if (points == 0)
		svg_text(
		    file,
		    (struct svg_point){box->x + box->width / 2, box->y + box->height / 4},
		    "no messages",
		    "font-size=\"16\" text-anchor=\"middle\" fill=\"" CHART_MUTED "\"");
}

static void draw_picture(struct picture *picture, FILE *file)
{
	const double width = CHART_WIDTH - LEFT - RIGHT;
	double y = chart_head(&picture->head, NULL) + HEADING;
	char *title = mem_printf("%s - %s", picture->pair->a, picture->pair->b);

	picture->whole.box = (struct svg_box){LEFT, y, width, WHOLE_HEIGHT};
	y += WHOLE_HEIGHT + GAP + HEADING;
	picture->zoom.box = (struct svg_box){LEFT, y, width, ZOOM_HEIGHT};
	chart_frame_fit(&picture->whole);
	chart_frame_fit(&picture->zoom);
	svg_begin(file, CHART_WIDTH, y + ZOOM_HEIGHT + FOOT, title);
	chart_head(&picture->head, file);
	draw_headings(picture, file);
	draw_frame(picture, &picture->whole, file);
	draw_frame(picture, &picture->zoom, file);
	chart_since(&picture->zoom, file, picture->pair->begin_ns);
	svg_end(file);
	free(title);
}

/* Where both names do not fit, each loses its middle. */
static char *make_heading(const struct plot_pair *pair)
{
	const double size = 23, room = CHART_WIDTH / 2 - CHART_MARGIN - size;
	char *a = svg_text_fit(pair->a, size, room);
	char *b = svg_text_fit(pair->b, size, room);
	char *heading = mem_printf("%s - %s", a, b);

	free(a);
	free(b);
	return heading;
}

int plot_pair_write(const struct plot_pair *pair, const char *path, struct error *error)
{
	struct picture picture = {.pair = pair};
	struct output output;
	char *heading;

	if (output_open(&output, path, error))
		return -1;
	heading = make_heading(pair);
	picture.head = (struct chart){
	    .title = heading, .caption = pair->caption, .width = CHART_WIDTH};
	for (int k = 0; k < 2; k++)
		picture.of[k] = split(&pair->side[k].drawn, looks[k].sign);
	make_keys(&picture);
	set_axes(&picture);
	draw_picture(&picture, output.file);
	chart_clear(&picture.head);
	free(picture.of[0].point);
	free(picture.of[1].point);
	free(heading);
	return output_commit(&output, error);
}
