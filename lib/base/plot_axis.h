/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_PLOT_AXIS_H
#define CT_BASE_PLOT_AXIS_H

#include <stddef.h>

#define PLOT_TICKS 32 /* the most that an axis has */
#define PLOT_LABEL 48 /* room that every text made here fits in */

/*
 * An axis of a picture: linear, or linear up to `threshold` on either side of
 * zero and logarithmic from there, so that one axis shows 100 us and 1 s.
 */
struct plot_axis {
	double low, high; /* finite, low < high: see plot_axis_open */
	double threshold; /* 0: linear all over */
	double from, to;  /* pixels of low and high */
};

/* Make an axis from a range that may be empty: it is widened until it is not. */
void plot_axis_open(struct plot_axis *axis, double low, double high);

/* Pixel of value. */
double plot_axis_at(const struct plot_axis *axis, double value);

/* Around `wanted` round values on a linear axis; as many as it takes on the other. */
size_t plot_axis_ticks(const struct plot_axis *axis, size_t wanted,
		       double tick[PLOT_TICKS]);

/* A value with as many decimals as a distance of `step` to the next one needs. */
char *plot_label_number(char text[PLOT_LABEL], double value, double step);

/* Microseconds in a unit that suits `scale`, decimals from step: "1.5 ms". */
char *plot_label_tick(char text[PLOT_LABEL], double us, double scale, double step);

/* Microseconds with three digits that count: "102 us" (with a micro sign), "1.53 ms". */
char *plot_label_span(char text[PLOT_LABEL], double us);

/* The same after a plus-minus sign, rounded up, so that what is shown bounds as well; "no
 * bound" for less than 0, NaN and infinity. */
char *plot_label_bound(char text[PLOT_LABEL], double us);

/* "1,234,567" */
char *plot_label_count(char text[PLOT_LABEL], size_t count);

#endif
