/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CAPTION_SIZE 13.0
#define TITLE_SIZE   23.0 /* of the font, with the width of bold letters in it */
#define KEY_SIZE     12.5

#define HEAD_WIDTH  (CHART_WIDTH - 2 * CHART_MARGIN)
#define LINE_HEIGHT 19.0
#define KEY_HEIGHT  23.0
#define SWATCH      20.0
#define FOOT        52.0 /* below a frame */
#define X_TICKS     8
#define Y_TICKS     8
#define LABEL_STYLE "font-size=\"12\" fill=\"" CHART_MUTED "\" text-anchor="

/* ---- axes */

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

/* The round number, 1, 2 or 5 times a power of ten, that is `least` or next above. */
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
		tick[count++] = k * step + 0.0; /* no -0 */
	}
	return count;
}

char *chart_label_number(char text[CHART_LABEL], double value, double step)
{
	const double places = step > 0 ? -floor(log10(step) + 1e-6) : 0;
	const int decimals = (int)fmin(fmax(places, 0), 9);
	const double unit = pow(10, -decimals);

	if (fabs(value) < unit / 2)
		value = 0; /* no "-0" */
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

char *chart_label_span(char text[CHART_LABEL], double us)
{
	const double size = fabs(us), unit = unit_for(size * 1.0005)->us;
	const double digits = fmin(fmax(floor(log10(size / unit * 1.0005)), 0), 2);

	if (!(size > 0))
		return strcpy(text, "0 ns");
	return chart_label_tick(text, us, size * 1.0005, unit * pow(10, digits - 2));
}

char *chart_label_bound(char text[CHART_LABEL], double us)
{
	char span[CHART_LABEL];

	if (!(us >= 0 && us < 1e18))
		return strcpy(text, "no bound");
	if (us > 0) {
		double scale = pow(10, 2 - floor(log10(us)));

		us = ceil(us * scale * (1 - 1e-12)) / scale;
	}
	snprintf(text, CHART_LABEL, "\xc2\xb1%.40s", chart_label_span(span, us));
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

/* ---- what stands above a picture */

void chart_key(struct chart *chart, enum chart_swatch swatch, const char *style,
	       const char *format, ...)
{
	struct chart_key *key;
	va_list arguments;
	AUTOFREE char *text = NULL;

	va_start(arguments, format);
	text = mem_vprintf(format, arguments);
	va_end(arguments);
	key = MEM_NEXT(chart->key, chart->keys, chart->key_capacity);
	key->text = svg_text_fit(text, KEY_SIZE, HEAD_WIDTH - 2 * SWATCH);
	key->style = mem_strdup(style);
	key->swatch = swatch;
}

/* Returns the base line of the last line; with file NULL nothing is drawn. */
static double draw_caption(const struct chart *chart, FILE *file, double y)
{
	const char *rest = chart->caption ? chart->caption : "";
	size_t length;

	for (; *rest; rest += length) {
		AUTOFREE char *line = NULL;

		length = svg_text_break(rest, CAPTION_SIZE, HEAD_WIDTH);
		line = mem_strndup(rest, length);
		y += LINE_HEIGHT;
		if (file)
			svg_text(file, (struct svg_point){CHART_MARGIN, y}, line,
				 "font-size=\"13\" fill=\"" CHART_MUTED "\"");
	}
	return y;
}

/* In a square whose left side is at x and whose middle is at y. */
static void draw_swatch(const struct chart_key *key, FILE *file, double x, double y)
{
	const struct svg_point middle = {x + SWATCH / 2 - 2, y};
	const double arm = 3.5;

	switch (key->swatch) {
	case CHART_DOT:
		svg_circle(file, middle, 4.5, key->style);
		break;
	case CHART_LINE:
		svg_line(file, (struct svg_point){x, y},
			 (struct svg_point){x + SWATCH - 3, y}, key->style);
		break;
	case CHART_BAND:
		svg_rect(file, &(struct svg_box){x, y - 5.5, SWATCH - 4, 11}, key->style);
		break;
	case CHART_CROSS:
		for (int i = -1; i <= 1; i += 2)
			svg_line(file, (struct svg_point){middle.x - arm, y - i * arm},
				 (struct svg_point){middle.x + arm, y + i * arm},
				 key->style);
		break;
	case CHART_WORDS:
		break;
	}
}

/* Entries run on like words; returns the base line of the last row. */
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
			draw_swatch(key, file, CHART_MARGIN + x, y - 4.5);
			svg_text(file, (struct svg_point){CHART_MARGIN + x + swatch, y},
				 key->text, "font-size=\"12.5\" fill=\"" CHART_INK "\"");
		}
		x += width + 22;
	}
	return y;
}

double chart_head(const struct chart *chart, FILE *file)
{
	double y = 40;

	if (file) {
		AUTOFREE char *title =
		    svg_text_fit(chart->heading ? chart->heading : chart->title,
				 TITLE_SIZE, HEAD_WIDTH);

		svg_text(file, (struct svg_point){CHART_MARGIN, 38}, title,
			 "font-size=\"21\" font-weight=\"600\" fill=\"" CHART_INK "\"");
	}
	y = draw_caption(chart, file, y) + 4;
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

/* ---- a frame with two axes */

static double share_of(const struct chart_axis *axis, double value)
{
	return (value - axis->low) / (axis->high - axis->low);
}

struct svg_point chart_at(const struct chart_frame *frame, struct chart_point point)
{
	const struct svg_box *box = &frame->box;

	return (struct svg_point){share_of(&frame->x, point.x) * box->width,
				  box->height -
				      share_of(&frame->y, point.y) * box->height};
}

static void draw_grid(const struct chart_frame *frame, FILE *file)
{
	static const char line[] = "stroke=\"" CHART_GRID "\"";
	const struct svg_box *box = &frame->box;
	const double bottom = box->y + box->height, right = box->x + box->width;
	const double reach = fmax(fabs(frame->y.low), fabs(frame->y.high));
	double tick[CHART_TICKS], step;
	char text[CHART_LABEL];
	size_t count = chart_axis_ticks(&frame->x, X_TICKS, tick);

	for (size_t i = 0; i < count; i++) {
		const double x = box->x + share_of(&frame->x, tick[i]) * box->width;

		svg_line(file, (struct svg_point){x, box->y},
			 (struct svg_point){x, bottom}, line);
		chart_label_number(text, tick[i], count > 1 ? tick[1] - tick[0] : 0);
		svg_text(file, (struct svg_point){x, bottom + 17}, text,
			 LABEL_STYLE "\"middle\"");
	}
	count = chart_axis_ticks(&frame->y, Y_TICKS, tick);
	step = count > 1 ? tick[1] - tick[0] : 1;
	for (size_t i = 0; i < count; i++) {
		const double y =
		    box->y + (box->height - share_of(&frame->y, tick[i]) * box->height);

		svg_line(file, (struct svg_point){box->x, y},
			 (struct svg_point){right, y}, line);
		if (frame->is_time)
			chart_label_tick(text, tick[i], reach, step);
		else
			chart_label_number(text, tick[i], step);
		svg_text(file, (struct svg_point){box->x - 8, y + 4}, text,
			 LABEL_STYLE "\"end\"");
	}
}

static void draw_since(const struct chart_frame *frame, FILE *file, nsec_t begin_ns)
{
	const struct svg_box *box = &frame->box;
	const struct svg_point at = {box->x + box->width / 2, box->y + box->height + 38};
	char begin[NSEC_TEXT], label[NSEC_TEXT + 64];

	nsec_format_utc(begin, begin_ns);
	snprintf(label, sizeof(label), "seconds since %.23s UTC, by the reference clock",
		 begin);
	svg_text(file, at, label, LABEL_STYLE "\"middle\"");
}

void chart_begin(const struct chart *chart, struct chart_frame *frame, nsec_t begin_ns,
		 FILE *file)
{
	frame->box.y += chart_head(chart, NULL);
	svg_begin(file, CHART_WIDTH, frame->box.y + frame->box.height + FOOT,
		  chart->title);
	chart_head(chart, file);
	draw_grid(frame, file);
	draw_since(frame, file, begin_ns);
	svg_begin_clip(file, &frame->box);
}

void chart_line(const struct chart_frame *frame, FILE *file,
		const struct chart_series *line, const char *style)
{
	AUTOFREE struct svg_point *point = mem_alloc(line->count * sizeof(*point) + 1);

	for (size_t i = 0; i < line->count; i++)
		point[i] = chart_at(frame, line->point[i]);
	svg_polyline(file, point, line->count, style);
}

void chart_band(const struct chart_frame *frame, FILE *file,
		const struct chart_series *low, const struct chart_series *high,
		const char *style)
{
	const struct chart_series *side[] = {high, low};
	const double edge[] = {-12, frame->box.height + 12};
	struct svg_point *point =
	    mem_alloc((low->count + high->count + 2) * sizeof(*point));
	size_t count = 0;

	/* Along the upper side, and back along the lower one. */
	for (int i = 0; i < 2; i++) {
		const bool is_open = side[i]->count == 0;
		const struct chart_series *of = side[is_open ? !i : i];
		const size_t step = is_open && of->count > 1 ? of->count - 1 : 1;
		const size_t last = of->count - 1;

		for (size_t k = 0; k < of->count; k += step) {
			point[count] = chart_at(frame, of->point[i ? last - k : k]);
			if (is_open)
				point[count].y = edge[i];
			count++;
		}
	}
	svg_polygon(file, point, count, style);
	free(point);
}

/* ---- many messages as few marks */

/* A mark ends where it began, so that the next relative move is right; tenths of pixels.
 */
struct mark {
	double cell;  /* pixels; of the messages in one cell only the first is drawn */
	double inset; /* from the frame's edges */
	const char *inside, *above, *below;
};

static const struct mark dot_mark = {2, 0, "h0", "v55v-55", "v-55v55"};
static const struct mark cross_mark = {4, 5, "m-40-40l80 80m0-80l-80 80m40-40",
				       "m-40-40l80 80m0-80l-80 80m40-40",
				       "m-40-40l80 80m0-80l-80 80m40-40"};

struct mark_cell {
	size_t count;
	int x, y; /* of the first message, tenths of pixels */
};

struct marks {
	const struct mark *mark;
	size_t columns, rows; /* the first row is beyond the top, the last the bottom */
	struct mark_cell *cell;
};

static void add_mark(struct marks *marks, const struct svg_box *box, struct svg_point at)
{
	const double inset = marks->mark->inset, side = marks->mark->cell;
	const double x = fmin(fmax(at.x, 0), box->width);
	const double y = fmin(fmax(at.y, inset), box->height - inset);
	const size_t row = at.y < 0             ? 0
			   : at.y > box->height ? marks->rows - 1
						: 1 + (size_t)(y / side);
	struct mark_cell *cell = &marks->cell[(size_t)(x / side) * marks->rows + row];

	if (cell->count++ > 0)
		return;
	cell->x = (int)lround(x * 10);
	cell->y = (int)lround(y * 10);
}

/* The cells with so many messages as one path, in relative moves. */
static void draw_marks(const struct marks *marks, FILE *file, size_t least, size_t limit,
		       const char *style)
{
	int x = 0, y = 0;
	bool any = false;

	for (size_t i = 0; i < marks->columns * marks->rows; i++) {
		const struct mark_cell *cell = &marks->cell[i];
		const size_t row = i % marks->rows;

		if (cell->count < least || cell->count >= limit)
			continue;
		fprintf(file, "%s%d%s%d%s", any ? "m" : "<path d=\"M", cell->x - x,
			cell->y < y ? "" : " ", cell->y - y,
			row == 0                 ? marks->mark->above
			: row == marks->rows - 1 ? marks->mark->below
						 : marks->mark->inside);
		x = cell->x;
		y = cell->y;
		any = true;
	}
	if (any)
		fprintf(file, "\" %s/>\n", style);
}

/* How dark cells with at least so many messages are, up to the next one. */
struct shade {
	size_t least;
	const char *style;
};

static void draw_series(const struct chart_frame *frame, FILE *file,
			const struct chart_series *series, const struct mark *mark,
			const char *style, const struct shade *shade)
{
	struct marks marks = {.mark = mark};

	marks.columns = (size_t)(frame->box.width / mark->cell) + 1;
	marks.rows = (size_t)(frame->box.height / mark->cell) + 3;
	marks.cell = mem_zalloc(marks.columns * marks.rows * sizeof(*marks.cell));
	for (size_t i = 0; i < series->count; i++)
		add_mark(&marks, &frame->box, chart_at(frame, series->point[i]));
	fprintf(file, "<g transform=\"scale(.1)\" fill=\"none\" %s>\n", style);
	for (; shade->style; shade++)
		draw_marks(&marks, file, shade->least, shade[1].least, shade->style);
	fputs("</g>\n", file);
	free(marks.cell);
}

void chart_dots(const struct chart_frame *frame, FILE *file,
		const struct chart_series *series, const char *color)
{
	/* Few dots are larger, and all as dark: density says nothing. */
	static const struct shade few[] = {{1, "opacity=\".75\""}, {SIZE_MAX, NULL}};
	static const struct shade dense[] = {{1, "opacity=\".38\""},
					     {2, "opacity=\".62\""},
					     {5, "opacity=\".9\""},
					     {SIZE_MAX, NULL}};
	const double width = fmax(60 - 10 * log10((double)series->count + 1), 22);
	AUTOFREE char *style = mem_printf(
	    "stroke=\"%s\" stroke-width=\"%.0f\" stroke-linecap=\"round\"", color, width);

	draw_series(frame, file, series, &dot_mark, style,
		    series->count > 1000 ? dense : few);
}

void chart_crosses(const struct chart_frame *frame, FILE *file,
		   const struct chart_series *series, const char *color)
{
	static const struct shade all[] = {{1, "opacity=\"1\""}, {SIZE_MAX, NULL}};
	AUTOFREE char *style = mem_printf("stroke=\"%s\" stroke-width=\"20\"", color);

	draw_series(frame, file, series, &cross_mark, style, all);
}

/* ---- values of intervals as steps */

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

void chart_steps(const struct chart_frame *frame, FILE *file,
		 const struct chart_step *step, size_t count, const char *style)
{
	struct svg_point *point = mem_alloc((2 * count + 1) * sizeof(*point));
	size_t points = 0;

	for (size_t i = 0; i < count; i++) {
		const bool is_apart =
		    i && step[i].from - step[i - 1].to > (step[i].to - step[i].from) / 2;
		const double from = is_apart || !points ? step[i].from : step[i - 1].to;

		if (points && (is_apart || !isfinite(step[i].value))) {
			svg_polyline(file, point, reduce(point, points), style);
			points = 0;
		}
		if (!isfinite(step[i].value))
			continue;
		point[points++] = chart_at(
		    frame, (struct chart_point){fmax(from, frame->x.low), step[i].value});
		point[points++] =
		    chart_at(frame, (struct chart_point){step[i].to, step[i].value});
	}
	svg_polyline(file, point, reduce(point, points), style);
	free(point);
}
