/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_CHART_H
#define CT_BASE_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/nsec.h"
#include "base/svg.h"

/*
 * Charts in SVG, which every browser shows and no installed program has to draw. A chart
 * has a head (title, caption, legend) above a frame with two axes, in which lines, bands,
 * marks and steps are drawn. Strings may contain any bytes; values must be finite.
 */

#define CHART_TICKS 32 /* limit of the ticks of an axis */
#define CHART_LABEL 48 /* bytes that hold every label, with its NUL */

struct chart_axis {
	double low, high; /* finite, low < high; set by chart_axis_open() */
};

/* Make an axis of a range, which is widened if it is empty. */
void chart_axis_open(struct chart_axis *axis, double low, double high);

/* Choose about `wanted` round values. Return their number. */
size_t chart_axis_ticks(const struct chart_axis *axis, size_t wanted,
			double tick[CHART_TICKS]);

/* Format a value with the decimals that ticks at a distance of `step` need. */
char *chart_label_number(char text[CHART_LABEL], double value, double step);

/* Format microseconds in a unit that suits `scale`, with the decimals that `step` needs:
 * "1.5 ms". */
char *chart_label_tick(char text[CHART_LABEL], double us, double scale, double step);

/*
 * Format a bound in microseconds with three significant digits, rounded up, so that it is
 * still a bound: "±1.53 ms". Negative numbers, NaN and infinity give "no bound".
 */
char *chart_label_bound(char text[CHART_LABEL], double us);

/* Format a count: "1,234,567". */
char *chart_label_count(char text[CHART_LABEL], size_t count);

/* Colours of text, of less important text, and of thin lines. */
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
	/* Set by chart_begin(). */
	FILE *file;
	struct svg_box frame; /* in the picture */
};

/* Append an entry to the legend, with a text like printf(3). */
void chart_key(struct chart *chart, enum chart_swatch swatch, const char *style,
	       const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Draw the head, or only measure it if `file` is NULL. Return its height. */
double chart_head(const struct chart *chart, FILE *file);

void chart_clear(struct chart *chart);

struct chart_point {
	double x, y;
};

struct chart_series {
	const struct chart_point *point; /* for lines in ascending order of x */
	size_t count;
};

/* A value that applies from one time to another. */
struct chart_step {
	double from, to, value;
};

/*
 * Begin a picture: draw the head, and below it a frame of `height` with a labelled grid.
 * `begin_ns` is the origin of the seconds on the x axis. Everything drawn up to the next
 * svg_end() is clipped to the frame and has the frame's corner as its origin. Another
 * svg_end() ends the picture.
 */
void chart_begin(struct chart *chart, double height, nsec_t begin_ns, FILE *file);

/* Return a point's position relative to the frame's corner. */
struct svg_point chart_at(const struct chart *chart, struct chart_point point);

/* Draw a line through points. */
void chart_line(const struct chart *chart, const struct chart_series *line,
		const char *style);

/* Fill the area between two lines. A side without points extends to the frame. */
void chart_band(const struct chart *chart, const struct chart_series *low,
		const struct chart_series *high, const char *style);

/* Draw points as dots, darker where there are many. Points beyond the frame are drawn at
 * its edge. */
void chart_dots(const struct chart *chart, const struct chart_series *series,
		const char *color);

/* Draw a few important points as crosses. Points beyond the frame are drawn at its edge.
 */
void chart_crosses(const struct chart *chart, const struct chart_series *series,
		   const char *color);

/*
 * Draw values of intervals, in order of time. A gap of more than half an interval, or a
 * value that is not finite, breaks the line. If several steps share a column of pixels,
 * only the least and the greatest value are drawn.
 */
void chart_steps(const struct chart *chart, const struct chart_step *step, size_t count,
		 const char *style);

#endif
