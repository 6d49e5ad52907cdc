/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CAPTION_SIZE 13.0
#define TITLE_SIZE   23.0 /* font size, enlarged for the width of bold letters */
#define KEY_SIZE     12.5

#define HEAD_WIDTH  (CHART_WIDTH - 2 * CHART_MARGIN)
#define KEY_HEIGHT  23.0
#define SWATCH      20.0
#define LEFT        78.0 /* space beside the frame, for labels */
#define RIGHT       30.0
#define ABOVE       32.0 /* space above and below the frame */
#define BELOW       52.0
#define X_TICKS     8
#define Y_TICKS     8
#define LABEL_STYLE "font-size=\"12\" fill=\"" CHART_MUTED "\" text-anchor="

void chart_axis_open(struct chart_axis *axis, double low, double high)
{
	const double least = fmax(fmax(fabs(low), fabs(high)) * 1e-9, 1e-9);

	if (!(high - low >= least)) {
		const double pad = fmax(least, 0.5);

		low -= pad;
		high += pad;
	}
	*axis = (struct chart_axis){low, high};
}

/* Return the least number not below `least` that is 1, 2 or 5 times a power of ten. */
static double round_step(double least)
{
	const double power = pow(10, floor(log10(least)));
	const double digit = least / power;

	return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

size_t chart_axis_ticks(const struct chart_axis *axis, size_t wanted,
			double tick[CHART_TICKS])
{
	const double step = round_step((axis->high - axis->low) / (double)wanted);
	const double slack = 1e-6 * step;
	size_t count = 0;

	for (double k = ceil((axis->low - slack) / step); count < CHART_TICKS; k++) {
		if (k * step > axis->high + slack)
			break;
		tick[count++] = k * step + 0.0; /* turns -0 into 0 */
	}
	return count;
}

char *chart_label_number(char text[CHART_LABEL], double value, double step)
{
	const double places = step > 0 ? -floor(log10(step) + 1e-6) : 0;
	const int decimals = (int)fmin(fmax(places, 0), 9);
	const double unit = pow(10, -decimals);

	if (fabs(value) < unit / 2)
		value = 0; /* avoid "-0" */
	snprintf(text, CHART_LABEL, "%.*f", decimals, value);
	return text;
}

static const struct unit {
	const char *name;
	double us;
} units[] = {{"ns", 1e-3}, {"\xc2\xb5s", 1}, {"ms", 1e3}, {"s", 1e6}};

static const struct unit *unit_for(double us)
{
	const struct unit *unit = units;

	for (size_t i = 1; i < sizeof(units) / sizeof(*units); i++)
		if (us >= units[i].us * (1 - 1e-6))
			unit = &units[i];
	return unit;
}

char *chart_label_tick(char text[CHART_LABEL], double us, double scale, double step)
{
	const struct unit *unit = unit_for(scale);
	char number[CHART_LABEL];

	chart_label_number(number, us / unit->us, step / unit->us);
	if (strspn(number, "0.") == strlen(number))
		snprintf(text, CHART_LABEL, "0");
	else
		snprintf(text, CHART_LABEL, "%.32s %s", number, unit->name);
	return text;
}

char *chart_label_bound(char text[CHART_LABEL], double us)
{
	const double step = us > 0 ? pow(10, floor(log10(us)) - 2) : 1;
	char tick[CHART_LABEL];

	if (!(us >= 0 && us < 1e18))
		return strcpy(text, "no bound");
	/* The factor allows for rounding errors. */
	us = ceil(us / step * (1 - 1e-12)) * step;
	snprintf(text, CHART_LABEL, "\xc2\xb1%.40s",
		 us > 0 ? chart_label_tick(tick, us, us, step) : "0 ns");
	return text;
}

char *chart_label_count(char text[CHART_LABEL], size_t count)
{
	char digits[24];
	const int length = snprintf(digits, sizeof(digits), "%zu", count);
	char *end = text;

	for (int i = 0; i < length; i++) {
		*end++ = digits[i];
		if (i + 1 < length && (length - i - 1) % 3 == 0)
			*end++ = ',';
	}
	*end = '\0';
	return text;
}

void chart_key(struct chart *chart, enum chart_swatch swatch, const char *style,
	       const char *format, ...)
{
	AUTOFREE char *text = MEM_VPRINTF(format);
	struct chart_key *key = MEM_NEXT(chart->key, chart->keys, chart->key_capacity);

	key->text = svg_text_fit(text, KEY_SIZE, HEAD_WIDTH - 2 * SWATCH);
	key->style = mem_strdup(style);
	key->swatch = swatch;
}

/* Paths of the swatches; the origin is left of the entry, at half of its height. */
static const char *const swatches[] = {
    [CHART_DOT] = "M4 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0",
    [CHART_LINE] = "M0 0h17",
    [CHART_BAND] = "M0-5.5h16v11h-16z",
    [CHART_CROSS] = "M5-3.5l7 7m0-7l-7 7",
};

/* Draw the entries of the legend, wrapped like words. Return the baseline of the last
 * row.
 */
static double draw_keys(const struct chart *chart, FILE *file, double y)
{
	double x = 0;

	for (size_t i = 0; i < chart->keys; i++) {
		const struct chart_key *key = &chart->key[i];
		const double swatch = key->swatch == CHART_WORDS ? 0 : SWATCH + 2;
		const double width = swatch + svg_text_width(key->text, KEY_SIZE);

		if (i == 0 || x + width > HEAD_WIDTH) {
			x = 0;
			y += KEY_HEIGHT;
		}
		if (file) {
			if (swatch > 0)
				fprintf(file,
					"<path transform=\"translate(%.1f %.1f)\" "
					"d=\"%s\" %s/>\n",
					CHART_MARGIN + x, y - 4.5, swatches[key->swatch],
					key->style);
			svg_text(file, (struct svg_point){CHART_MARGIN + x + swatch, y},
				 key->text, "font-size=\"12.5\" fill=\"" CHART_INK "\"");
		}
		x += width + 22;
	}
	return y;
}

static void draw_title(const char *text, double size, double y, const char *style,
		       FILE *file)
{
	AUTOFREE char *fitting = svg_text_fit(text, size, HEAD_WIDTH);

	svg_text(file, (struct svg_point){CHART_MARGIN, y}, fitting, style);
}

double chart_head(const struct chart *chart, FILE *file)
{
	const double y = chart->caption ? 63 : 44;

	if (file)
		draw_title(chart->title, TITLE_SIZE, 38,
			   "font-size=\"21\" font-weight=\"600\" fill=\"" CHART_INK "\"",
			   file);
	if (file && chart->caption)
		draw_title(chart->caption, CAPTION_SIZE, 59,
			   "font-size=\"13\" fill=\"" CHART_MUTED "\"", file);
	return draw_keys(chart, file, y) + 10;
}

void chart_clear(struct chart *chart)
{
	for (size_t i = 0; i < chart->keys; i++) {
		free(chart->key[i].text);
		free(chart->key[i].style);
	}
	free(chart->key);
	*chart = (struct chart){0};
}

static double share_of(const struct chart_axis *axis, double value)
{
	return (value - axis->low) / (axis->high - axis->low);
}

struct svg_point chart_at(const struct chart *chart, struct chart_point point)
{
	return (struct svg_point){share_of(&chart->x, point.x) * chart->frame.width,
				  (1 - share_of(&chart->y, point.y)) *
				      chart->frame.height};
}

/* Draw a thin line and a label at each tick of both axes. */
static void draw_grid(const struct chart *chart)
{
	static const char line[] = "stroke=\"" CHART_GRID "\"";
	const struct svg_box *box = &chart->frame;
	const double bottom = box->y + box->height, right = box->x + box->width;
	const double reach = fmax(fabs(chart->y.low), fabs(chart->y.high));
	double tick[CHART_TICKS], step;
	char text[CHART_LABEL];
	size_t count = chart_axis_ticks(&chart->x, X_TICKS, tick);

	for (size_t i = 0; i < count; i++) {
		const double x = box->x + share_of(&chart->x, tick[i]) * box->width;

		svg_line(chart->file, (struct svg_point){x, box->y},
			 (struct svg_point){x, bottom}, line);
		chart_label_number(text, tick[i], count > 1 ? tick[1] - tick[0] : 0);
		svg_text(chart->file, (struct svg_point){x, bottom + 17}, text,
			 LABEL_STYLE "\"middle\"");
	}
	count = chart_axis_ticks(&chart->y, Y_TICKS, tick);
	step = count > 1 ? tick[1] - tick[0] : 1;
	for (size_t i = 0; i < count; i++) {
		const double y = bottom - share_of(&chart->y, tick[i]) * box->height;

		svg_line(chart->file, (struct svg_point){box->x, y},
			 (struct svg_point){right, y}, line);
		if (chart->is_time)
			chart_label_tick(text, tick[i], reach, step);
		else
			chart_label_number(text, tick[i], step);
		svg_text(chart->file, (struct svg_point){box->x - 8, y + 4}, text,
			 LABEL_STYLE "\"end\"");
	}
}

void chart_begin(struct chart *chart, double height, nsec_t begin_ns, FILE *file)
{
	const double top = chart_head(chart, NULL) + ABOVE;
	const struct svg_point below = {LEFT + (CHART_WIDTH - LEFT - RIGHT) / 2,
					top + height + 38};
	char begin[NSEC_TEXT], label[NSEC_TEXT + 64];

	chart->file = file;
	chart->frame = (struct svg_box){LEFT, top, CHART_WIDTH - LEFT - RIGHT, height};
	nsec_format_utc(begin, begin_ns);
	snprintf(label, sizeof(label), "seconds since %.23s UTC, by the reference clock",
		 begin);
	svg_begin(file, CHART_WIDTH, top + height + BELOW, chart->title);
	chart_head(chart, file);
	draw_grid(chart);
	svg_text(file, below, label, LABEL_STYLE "\"middle\"");
	svg_begin_clip(file, &chart->frame);
}

void chart_line(const struct chart *chart, const struct chart_series *line,
		const char *style)
{
	AUTOFREE struct svg_point *point = mem_alloc(line->count * sizeof(*point) + 1);

	for (size_t i = 0; i < line->count; i++)
		point[i] = chart_at(chart, line->point[i]);
	svg_polyline(chart->file, point, line->count, style);
}

void chart_band(const struct chart *chart, const struct chart_series *low,
		const struct chart_series *high, const char *style)
{
	const struct chart_series *side[] = {high, low};
	const double edge[] = {-12, chart->frame.height + 12};
	struct svg_point *point =
	    mem_alloc((low->count + high->count + 2) * sizeof(*point));
	size_t count = 0;

	/* Along the upper side and back along the lower one. */
	for (int i = 0; i < 2; i++) {
		const bool is_open = side[i]->count == 0;
		const struct chart_series *of = side[is_open ? !i : i];
		const size_t step = is_open && of->count > 1 ? of->count - 1 : 1;
		const size_t last = of->count - 1;

		for (size_t k = 0; k < of->count; k += step) {
			point[count] = chart_at(chart, of->point[i ? last - k : k]);
			if (is_open)
				point[count].y = edge[i];
			count++;
		}
	}
	svg_polygon(chart->file, point, count, style);
	free(point);
}

#define INSET 3.0 /* pixels between the frame's edge and points drawn at it */

/*
 * Draw many points as few marks: one at each pixel that has points, a second one if it
 * has at least 2, a third one if it has at least 5. `levels` limits the marks of a pixel.
 */
static void draw_marks(const struct chart *chart, const struct chart_series *series,
		       const char *shape, size_t levels, const char *style)
{
	static const unsigned int least[] = {1, 2, 5};
	const size_t columns = (size_t)chart->frame.width + 1;
	const size_t rows = (size_t)chart->frame.height + 1;
	AUTOFREE unsigned int *messages = mem_zalloc(columns * rows * sizeof(*messages));

	for (size_t i = 0; i < series->count; i++) {
		const struct svg_point at = chart_at(chart, series->point[i]);
		const double x = fmin(fmax(at.x, 0), chart->frame.width);
		const double y = fmin(fmax(at.y, INSET), chart->frame.height - INSET);

		messages[(size_t)x * rows + (size_t)y]++;
	}
	for (size_t level = 0; level < levels; level++) {
		fprintf(chart->file, "<path fill=\"none\" %s d=\"", style);
		for (size_t i = 0; i < columns * rows; i++)
			if (messages[i] >= least[level])
				fprintf(chart->file, "M%zu %zu%s", i / rows, i % rows,
					shape);
		fputs("\"/>\n", chart->file);
	}
}

void chart_dots(const struct chart *chart, const struct chart_series *series,
		const char *color)
{
	/* A few dots are drawn larger and equally dark, as they have no density to show.
	 */
	const bool is_dense = series->count > 1000;
	const double width = fmax(6 - log10((double)series->count + 1), 2.2);
	AUTOFREE char *style =
	    mem_printf("stroke=\"%s\" stroke-width=\"%.1f\" stroke-linecap=\"round\" "
		       "stroke-opacity=\"%s\"",
		       color, width, is_dense ? ".4" : ".75");

	draw_marks(chart, series, "h0", is_dense ? 3 : 1, style);
}

void chart_crosses(const struct chart *chart, const struct chart_series *series,
		   const char *color)
{
	AUTOFREE char *style = mem_printf("stroke=\"%s\" stroke-width=\"2\"", color);

	draw_marks(chart, series, "m-4-4l8 8m0-8l-8 8", 1, style);
}

/* Reduce the points in each column of pixels to the lowest and the highest, in their
 * order. Return the number of points left. */
static size_t reduce_points(struct svg_point *point, size_t count)
{
	size_t left = 0;

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
				point[left++] = point[i++];
			continue;
		}
		point[left++] = point[least < most ? least : most];
		if (least != most)
			point[left++] = point[least < most ? most : least];
		i = end;
	}
	return left;
}

void chart_steps(const struct chart *chart, const struct chart_step *step, size_t count,
		 const char *style)
{
	struct svg_point *point = mem_alloc((2 * count + 1) * sizeof(*point));
	size_t points = 0;

	for (size_t i = 0; i < count; i++) {
		const bool is_apart =
		    i && step[i].from - step[i - 1].to > (step[i].to - step[i].from) / 2;
		const double from = is_apart || !points ? step[i].from : step[i - 1].to;

		if (points && (is_apart || !isfinite(step[i].value))) {
			svg_polyline(chart->file, point, reduce_points(point, points),
				     style);
			points = 0;
		}
		if (!isfinite(step[i].value))
			continue;
		point[points++] = chart_at(
		    chart, (struct chart_point){fmax(from, chart->x.low), step[i].value});
		point[points++] =
		    chart_at(chart, (struct chart_point){step[i].to, step[i].value});
	}
	svg_polyline(chart->file, point, reduce_points(point, points), style);
	free(point);
}
