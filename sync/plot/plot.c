/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/names.h"
#include "base/order.h"
#include "base/output.h"
#include "base/output_directory.h"
#include "sync/pair/sample.h"
#include "sync/plot/graph.h"

/* The quality of a fit shows in the smallest delays, while all delays span three decades
 * and more. So the frame extends a little beyond the hulls; messages outside are drawn at
 * its edge and counted. */
#define HEIGHT     440.0  /* height of the frame */
#define NAME_WIDTH 190.0  /* in the legend */
#define ROUNDING   0.0005 /* microseconds; a message on the fit does not break it */

enum { POINTS = 20000 }; /* messages drawn each way */

/* The colour-blind can distinguish blue and orange (Okabe and Ito, 2008); messages that
 * break the fit also have another shape. */
static const struct look {
	double sign; /* sign of y of a message that satisfies the fit */
	const char *color, *key, *hull;
} looks[2] = {
    {1, "#0072b2", "fill=\"#0072b2\"", "stroke=\"#004a75\" stroke-width=\"1.8\""},
    {-1, "#e08a00", "fill=\"#e08a00\"", "stroke=\"#8f4f00\" stroke-width=\"1.8\""},
};

#define BROKEN_COLOR "#d00024"
#define BROKEN       "stroke=\"" BROKEN_COLOR "\" stroke-width=\"2\""
#define FIT          "stroke=\"" CHART_INK "\" stroke-width=\"1.4\""
#define BAND                                                                             \
	"fill=\"#009e73\" fill-opacity=\".18\" stroke=\"#009e73\" stroke-opacity=\".5\""

static bool has_bound(const struct plot_pair *pair)
{
	return pair->side[0].bound.count + pair->side[1].bound.count > 0;
}

/* Collect the messages of both sides that break the fit. The caller frees the points. */
static struct chart_series find_broken(const struct plot_side side[2])
{
	struct chart_point *point =
	    mem_alloc((side[0].drawn.count + side[1].drawn.count) * sizeof(*point) + 1);
	size_t count = 0;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < side[k].drawn.count; i++)
			if (looks[k].sign * side[k].drawn.point[i].y < -ROUNDING)
				point[count++] = side[k].drawn.point[i];
	return (struct chart_series){point, count};
}

/* Return a quantile of the distances from the fit, or 0. */
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

/* Return the height of the frame on one side, which cuts off the ends of hulls and wide
 * bounds. */
static double side_reach(const struct plot_side *side)
{
	double reach = distance_quantile(&side->hull, 0.5);
	double band = distance_quantile(&side->bound, 0.75);

	if (!(reach > 0))
		reach = distance_quantile(&side->drawn, 0.1);
	return 2 * fmax(reach, reach > 0 ? fmin(band, 2 * reach) : band);
}

static void extend_time(const struct chart_series *series, double time[2])
{
	for (size_t i = 0; i < series->count; i++) {
		time[0] = fmin(time[0], series->point[i].x);
		time[1] = fmax(time[1], series->point[i].x);
	}
}

/* Set the time axis from the first message to the last; without messages, to the length
 * of the bound. */
static void set_axes(struct chart *chart, const struct plot_side side[2])
{
	double time[2] = {INFINITY, -INFINITY}, pad;
	double up = side_reach(&side[0]), down = side_reach(&side[1]);

	for (int k = 0; k < 2; k++) {
		extend_time(&side[k].drawn, time);
		extend_time(&side[k].hull, time);
	}
	for (int k = 0; k < 2 && !(time[0] <= time[1]); k++)
		extend_time(&side[k].bound, time);
	if (!(time[0] <= time[1]))
		time[0] = time[1] = 0;
	pad = 0.02 * (time[1] - time[0]);
	chart_axis_open(&chart->x, time[0] - pad, time[1] + pad);
	if (!(up > 0) && !(down > 0))
		up = down = 1;
	chart_axis_open(&chart->y, -fmax(down, up / 2), fmax(up, down / 2));
	chart->is_time = true;
}

static const char *plural_ending(size_t count)
{
	return count == 1 ? "" : "s";
}

static void make_keys(struct chart *chart, const struct plot_pair *pair, size_t broken)
{
	AUTOFREE char *a = svg_text_fit(pair->a, 12.5, NAME_WIDTH);
	AUTOFREE char *b = svg_text_fit(pair->b, 12.5, NAME_WIDTH);
	const char *name[2] = {a, b};
	char all[CHART_LABEL], part[CHART_LABEL];

	for (int k = 0; k < 2; k++) {
		const struct plot_side *side = &pair->side[k];
		const bool is_part = side->drawn.count < side->messages;

		chart_label_count(all, side->messages);
		chart_label_count(part, side->drawn.count);
		chart_key(chart, CHART_DOT, looks[k].key,
			  "%s \xe2\x86\x92 %s: %s message%s%s%s%s", name[k], name[!k],
			  all, plural_ending(side->messages), is_part ? ", " : "",
			  is_part ? part : "", is_part ? " drawn" : "");
	}
	if (broken > 0)
		chart_key(chart, CHART_CROSS, BROKEN, "%s message%s the fit",
			  chart_label_count(all, broken),
			  broken == 1 ? " breaks" : "s break");
	for (int k = 0; k < 2; k++) {
		const size_t corners = pair->side[k].hull.count;

		if (corners)
			chart_key(chart, CHART_LINE, looks[k].hull,
				  "hull %s \xe2\x86\x92 %s: %zu corner%s", name[k],
				  name[!k], corners, plural_ending(corners));
	}
	chart_key(chart, CHART_LINE, FIT, "fit");
	if (has_bound(pair))
		chart_key(chart, CHART_BAND, BAND, "bound of the fit");
}

/* Write at the right end of the frame how many messages are beyond its edge. */
static void draw_beyond(const struct chart *chart, const struct plot_side side[2],
			bool above)
{
	const struct svg_box *box = &chart->frame;
	const struct svg_point at = {box->x + box->width,
				     above ? box->y - 10 : box->y + box->height + 38};
	char number[CHART_LABEL];
	size_t count = 0;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < side[k].drawn.count; i++)
			count += above ? side[k].drawn.point[i].y > chart->y.high
				       : side[k].drawn.point[i].y < chart->y.low;
	if (count > 0) {
		AUTOFREE char *text = mem_printf(
		    "%s message%s further %s", chart_label_count(number, count),
		    plural_ending(count), above ? "up" : "down");

		svg_text(chart->file, at, text,
			 "font-size=\"12\" fill=\"" CHART_MUTED "\" text-anchor=\"end\"");
	}
}

static void draw_picture(struct chart *chart, const struct plot_pair *pair,
			 const struct chart_series *broken, FILE *file)
{
	const struct plot_side *side = pair->side;
	const struct svg_box *box = &chart->frame;
	size_t points = 0;
	double fit;

	chart_begin(chart, HEIGHT, pair->begin_ns, file);
	fit = chart_at(chart, (struct chart_point){0, 0}).y;
	if (has_bound(pair))
		chart_band(chart, &side[1].bound, &side[0].bound, BAND);
	for (int k = 0; k < 2; k++)
		chart_dots(chart, &side[k].drawn, looks[k].color);
	svg_line(file, (struct svg_point){0, fit}, (struct svg_point){box->width, fit},
		 FIT);
	for (int k = 0; k < 2; k++) {
		chart_line(chart, &side[k].hull, looks[k].hull);
		points += side[k].drawn.count + side[k].hull.count;
	}
	chart_crosses(chart, broken, BROKEN_COLOR);
	if (points == 0)
		svg_text(file, (struct svg_point){box->width / 2, box->height / 4},
			 "no messages",
			 "font-size=\"16\" text-anchor=\"middle\" fill=\"" CHART_MUTED
			 "\"");
	svg_end(file);
	svg_rect(file, box, "fill=\"none\" stroke=\"#94a3b8\"");
	draw_beyond(chart, side, true);
	draw_beyond(chart, side, false);
	svg_end(file);
}

int plot_pair_write(const struct plot_pair *pair, const char *path, struct error *error)
{
	AUTOFREE char *title = mem_printf("%s - %s", pair->a, pair->b);
	struct chart chart = {.title = title, .caption = pair->caption};
	struct chart_series broken;
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	broken = find_broken(pair->side);
	make_keys(&chart, pair, broken.count);
	set_axes(&chart, pair->side);
	draw_picture(&chart, pair, &broken, output.file);
	chart_clear(&chart);
	free((void *)broken.point);
	return output_commit(&output, error);
}

struct drawing {
	const struct plot_run *run;
	const struct pair *pair;
	enum clock_quality quality;
	const struct clock *a, *b;
	nsec_t begin; /* reference time at x = 0 */
};

/* Return the difference of b's and a's timestamp on the fitted clocks. */
static struct chart_point chart_point_of(const struct drawing *drawing,
					 struct hull_point point)
{
	nsec_t a = clock_correct(drawing->a, point.x);
	nsec_t b = clock_correct(drawing->b, point.y);

	return (struct chart_point){(double)nsec_sub(a, drawing->begin) / 1e9,
				    (double)nsec_sub(b, a) / 1e3};
}

static struct chart_series place_all(const struct drawing *drawing,
				     const struct hull_point *from, size_t count)
{
	struct chart_point *point = mem_realloc(NULL, count, sizeof(*point));

	for (size_t i = 0; i < count; i++)
		point[i] = chart_point_of(drawing, from[i]);
	return (struct chart_series){point, count};
}

static int by_time(const void *a, const void *b)
{
	const struct chart_point *p = a, *q = b;

	return COMPARE(p->x, q->x);
}

struct clock_bound plot_bound(double limit_ppm, const struct clock *one,
			      const struct clock *other, nsec_t ref)
{
	double limit = limit_ppm * 1e3;
	struct clock_bound of_one = clock_bound_at(one, clock_invert(one, ref), limit);
	struct clock_bound of_other =
	    clock_bound_at(other, clock_invert(other, ref), limit);
	bool low = of_one.low_ns != NSEC_MIN && of_other.high_ns != NSEC_MAX;
	bool high = of_one.high_ns != NSEC_MAX && of_other.low_ns != NSEC_MIN;

	return (struct clock_bound){
	    .low_ns = low ? nsec_sub(of_one.low_ns, of_other.high_ns) : NSEC_MIN,
	    .high_ns = high ? nsec_sub(of_one.high_ns, of_other.low_ns) : NSEC_MAX};
}

/* At all times that either clock states; a step back puts them out of order. */
static struct chart_series place_bound(const struct drawing *drawing, bool high)
{
	const struct clock *clock[2] = {drawing->a, drawing->b};
	struct chart_point *point =
	    mem_alloc((clock[0]->bounds + clock[1]->bounds) * sizeof(*point) + 1);
	size_t count = 0;

	for (int k = 0; k < 2; k++)
		for (size_t i = 0; i < clock[k]->bounds; i++) {
			nsec_t ref = clock_correct(clock[k], clock[k]->bound[i].local_ns);
			struct clock_bound bound = plot_bound(
			    drawing->run->net->limit_ppm, drawing->b, drawing->a, ref);
			nsec_t side = high ? bound.high_ns : bound.low_ns;

			if (side != NSEC_MAX && side != NSEC_MIN)
				point[count++] = (struct chart_point){
				    (double)nsec_sub(ref, drawing->begin) / 1e9,
				    (double)side / 1e3};
		}
	SORT(point, count, by_time);
	return (struct chart_series){point, count};
}

/* Only straight clocks have a margin; piecewise clocks have a number of segments. */
static char *make_caption(const struct drawing *drawing)
{
	const struct pair *pair = drawing->pair;
	const struct clock *a = drawing->a, *b = drawing->b;
	double ppm = (clock_mean_rate(b) - clock_mean_rate(a)) * 1e6;
	nsec_t middle = b->begin_ns + (b->end_ns - b->begin_ns) / 2;
	nsec_t offset = nsec_sub(clock_invert(a, clock_correct(b, middle)), middle);
	bool is_bent = a->segments > 1 || b->segments > 1;
	const char *quality = clock_quality_name(drawing->quality);
	char offset_text[NSEC_TEXT], margin[NSEC_TEXT];

	nsec_format_span(offset_text, (double)offset);
	nsec_format_span(margin, pair->fit.margin_ns);
	if (is_bent)
		return mem_printf(
		    "offset %s, mean drift %.4f ppm, %zu and %zu segments, %s",
		    offset_text, ppm, a->segments, b->segments, quality);
	return mem_printf("offset %s, drift %.4f ppm, margin %s, %s", offset_text, ppm,
			  margin, quality);
}

static struct plot_side make_side(const struct drawing *drawing, bool forward,
				  const struct sample_side *sample)
{
	const struct pair *pair = drawing->pair;
	const struct hull *hull = forward ? &pair->hulls.lower : &pair->hulls.upper;

	return (struct plot_side){
	    .drawn = place_all(drawing, sample->point, sample->count),
	    .messages = forward ? pair->messages_ab : pair->messages_ba,
	    .hull = place_all(drawing, hull->point, hull->count),
	    .bound = place_bound(drawing, forward),
	};
}

static int draw_pair(const struct plot_run *run, size_t index,
		     const struct pair_sample *sample, const char *path,
		     struct error *error)
{
	const struct pair *pair = &run->net->pairs.pair[index];
	const struct clock *a = &run->verdict->clock[pair->a];
	struct drawing drawing = {
	    .run = run,
	    .pair = pair,
	    .quality = run->verdict->pair[index].quality,
	    .a = a,
	    .b = &run->verdict->clock[pair->b],
	    .begin = clock_correct(a, a->begin_ns),
	};
	AUTOFREE char *text = make_caption(&drawing);
	struct plot_pair plot = {
	    .a = network_clock_name(run->net, pair->a),
	    .b = network_clock_name(run->net, pair->b),
	    .caption = text,
	    .begin_ns = drawing.begin,
	    .side = {make_side(&drawing, true, &sample->ab),
		     make_side(&drawing, false, &sample->ba)},
	};
	int status = plot_pair_write(&plot, path, error);

	for (int k = 0; k < 2; k++) {
		free((void *)plot.side[k].drawn.point);
		free((void *)plot.side[k].hull.point);
		free((void *)plot.side[k].bound.point);
	}
	return status;
}

static int draw_all(const struct plot_run *run, const struct pair_sample *samples,
		    const char *directory, struct error *error)
{
	const struct network *net = run->net;
	AUTOFREE uint32_t *order = pair_table_order(&net->pairs);
	AUTOFREE char *graph = mem_printf("%s/graph.svg", directory);
	AUTOFREE const char **clock = mem_zalloc(net->clocks.count * sizeof(*clock));
	struct text_list names = {0}; /* files written so far */
	int status = plot_graph(run, order, graph, error);
	char **file;

	for (uint32_t i = 0; i < net->clocks.count; i++)
		clock[i] = network_clock_name(net, i);
	file = file_names_of(clock, net->clocks.count);
	for (size_t i = 0; !status && i < net->pairs.count; i++) {
		const struct pair *pair = &net->pairs.pair[order[i]];
		AUTOFREE char *both = mem_printf("%s--%s", file[pair->a], file[pair->b]);
		AUTOFREE char *name = file_name_unique(&names, both);
		AUTOFREE char *path = mem_printf("%s/%s.svg", directory, name);

		status = draw_pair(run, order[i], &samples[order[i]], path, error);
	}
	file_names_free(file, net->clocks.count);
	text_list_clear(&names);
	return status;
}

int plot_run_write(const struct plot_run *run, const char *directory, struct error *error)
{
	static const struct output_kind kind = {.rule = OUTPUT_REPLACE,
						.list = ".ctsync-plot"};
	struct output_directory pictures;
	struct pair_sample *samples;
	int status = -1;

	if (output_directory_open(&pictures, directory, &kind, error))
		return -1;
	samples = pair_samples_new(&run->net->log, run->net->pairs.count, POINTS, error);
	if (samples) {
		status = draw_all(run, samples, pictures.temporary, error);
		pair_samples_free(samples, run->net->pairs.count);
	}
	if (status)
		output_directory_explain(&pictures, error);
	else
		status = output_directory_commit(&pictures, error);
	output_directory_discard(&pictures);
	return status;
}
