/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SVG_H
#define CT_BASE_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A writer of SVG. Lengths are pixels of the viewBox with y pointing down, written with
 * at most one decimal and never as "nan" or "inf". A `style` is a string of attributes
 * that is written unchanged, so it must not contain user input. All other strings are
 * escaped, and bytes that XML or UTF-8 do not allow become U+FFFD.
 */
struct svg_point {
	double x, y;
};

struct svg_box {
	double x, y, width, height;
};

/* Write the start of the document, with a white background, so that it is readable on
 * dark pages. */
void svg_begin(FILE *file, double width, double height, const char *title);
void svg_end(FILE *file);

/* Begin a group whose origin is the corner of the box and which is clipped to the box.
 * End it with svg_end(). */
void svg_begin_clip(FILE *file, const struct svg_box *box);

void svg_rect(FILE *file, const struct svg_box *box, const char *style);
void svg_circle(FILE *file, struct svg_point centre, double radius, const char *style);
void svg_line(FILE *file, struct svg_point from, struct svg_point to, const char *style);
void svg_polyline(FILE *file, const struct svg_point *point, size_t count,
		  const char *style);
void svg_polygon(FILE *file, const struct svg_point *point, size_t count,
		 const char *style);

/* Draw a string; `at` is on its baseline. */
void svg_text(FILE *file, struct svg_point at, const char *text, const char *style);

/* Write a <title>, which browsers show as a tooltip of the enclosing <g>. */
void svg_tooltip(FILE *file, const char *text);

/* Write a number or an escaped string, for elements without a function here. */
void svg_number(FILE *file, double value);
void svg_escape(FILE *file, const char *text);

/* Return an upper estimate of a string's width, as the viewer chooses the font. */
double svg_text_width(const char *text, double size);

/* Copy a string, replacing its middle by "…" if it is wider than `width`. The caller
 * frees the result. */
char *svg_text_fit(const char *text, double size, double width);

#endif
