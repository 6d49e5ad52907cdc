/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_LINE_PLOT_H
#define CT_ANALYZE_LINE_PLOT_H

#include <stddef.h>
#include <stdio.h>

#include "base/nsec.h"

/* Values over time, a line of steps each, on common axes. */
struct line_point {
	nsec_t at_ns;
	double value;
};

struct line_series {
	char *name;
	struct line_point *point; /* by time */
	size_t points, room;
};

struct line_plot {
	const char *title, *unit; /* "MiB/s" */
	nsec_t begin_ns, end_ns;
	double most; /* of the axis, 100 for percent; 0: as the values are */
	struct line_series *series;
	size_t count, room;
};

/* The series of that name, new if there is none. */
struct line_series *line_plot_series(struct line_plot *plot, const char *name);

void line_series_add(struct line_series *series, nsec_t at_ns, double value);

/*
 * As SVG. A value holds from the point before it, as samples are of an interval. Of more
 * points than the picture has columns, each column shows its least and its greatest
 * value. A gap of more than three times a series's usual distance breaks its line.
 */
void line_plot_draw(const struct line_plot *plot, FILE *file);

void line_plot_clear(struct line_plot *plot);

/* Colours that are told apart also by the colour-blind (Okabe and Ito 2008); they repeat
 * with another dash. */
const char *line_plot_colour(size_t n);
const char *line_plot_dash(size_t n);

#endif
