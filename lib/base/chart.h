/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CHART_H
#define CT_BASE_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/nsec.h"
#include "base/svg.h"

/*
 * Charts, as SVG: any browser shows them, and no program needs to be there to draw
 * them. A chart is a head (title, caption, legend) above a frame with two axes, in which
 * lines, bands, marks and steps are drawn. Names may hold any bytes; values are finite.
 */

#define CHART_TICKS 32 /* the most that an axis has */
#define CHART_LABEL 48 /* bytes that every text made here fits in */

struct chart_axis {
	double low, high; /* finite, low < high: see chart_axis_open */
};

/* Make an axis from a range that may be empty: it is widened until it is not. */
void chart_axis_open(struct chart_axis *axis, double low, double high);

/* Around `wanted` round values. */
size_t chart_axis_ticks(const struct chart_axis *axis, size_t wanted,
			double tick[CHART_TICKS]);

/* A value with as many decimals as a distance of `step` to the next one needs. */
char *chart_label_number(char text[CHART_LABEL], double value, double step);

/* Microseconds in a unit that suits `scale`, decimals from step: "1.5 ms". */
char *chart_label_tick(char text[CHART_LABEL], double us, double scale, double step);

/*
 * Microseconds as a bound with three digits that count, rounded up, so that what is shown
 * bounds as well: "±1.53 ms"; "no bound" for less than 0, NaN and infinity.
 */
char *chart_label_bound(char text[CHART_LABEL], double us);

/* "1,234,567" */
char *chart_label_count(char text[CHART_LABEL], size_t count);

/* Colours: text, text that matters less, thin lines. */
#define CHART_INK    "#1e293b"
#define CHART_MUTED  "#64748b"
#define CHART_GRID   "#e2e8f0"
#define CHART_WIDTH  960.0
#define CHART_MARGIN 28.0 /* left and right of the head */

enum chart_swatch {
	CHART_DOT,
	CHART_LINE,
	CHART_BAND,
	CHART_CROSS,
	CHART_WORDS, /* no swatch */
};

struct chart_key {
	enum chart_swatch swatch;
	char *style, *text;
};

struct chart {
	const char *title, *caption; /* borrowed; the caption may be NULL */
	struct chart_key *key;
	size_t keys, key_capacity;
	struct chart_axis x, y; /* x in seconds */
	bool is_time;           /* y is microseconds */
	/* Of chart_begin: */
	FILE *file;
	struct svg_box frame; /* in the picture */
};

/* Append an entry to the legend; the format makes its text. */
void chart_key(struct chart *chart, enum chart_swatch swatch, const char *style,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Draw the head, or with file NULL only measure it; returns its height. */
double chart_head(const struct chart *chart, FILE *file);

void chart_clear(struct chart *chart);

struct chart_point {
	double x, y;
};

struct chart_series {
	const struct chart_point *point; /* by ascending x where it is a line */
	size_t count;
};

/* A value from one time to another. */
struct chart_step {
	double from, to, value;
};

/*
 * Begin a picture: its head, below it a frame of that height with thin lines at round
 * values and their labels, and from when the seconds count. What is drawn up to svg_end
 * is cut off at the frame, and its pixels count from the frame's corner; one more svg_end
 * ends the picture.
 */
void chart_begin(struct chart *chart, double height, nsec_t begin_ns, FILE *file);

/* Where a point is, from the frame's corner. */
struct svg_point chart_at(const struct chart *chart, struct chart_point point);

/* A line through points. */
void chart_line(const struct chart *chart, const struct chart_series *line,
		const char *style);

/* The area between two lines; a side with no points reaches to the frame. */
void chart_band(const struct chart *chart, const struct chart_series *low,
		const struct chart_series *high, const char *style);

/* Points as dots, darker where there are many; those beyond the frame at its edge. */
void chart_dots(const struct chart *chart, const struct chart_series *series,
		const char *color);

/* Few points that matter, as crosses; those beyond the frame at its edge. */
void chart_crosses(const struct chart *chart, const struct chart_series *series,
		   const char *color);

/*
 * Values of intervals, by time. A gap of more than half an interval, and what is no
 * number, breaks the line; of many steps each column of pixels shows its least and
 * greatest.
 */
void chart_steps(const struct chart *chart, const struct chart_step *step, size_t count,
		 const char *style);

#endif
