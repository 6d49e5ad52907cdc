/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_SVG_H
#define CT_BASE_SVG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A small writer of SVG. Lengths are pixels of the viewBox, y down, written
 * with one decimal at most, and never as "nan" or "inf". A `style` is
 * attributes as they stand in the file, from us and never from the user;
 * texts may come from anywhere: they are escaped, and bytes that XML or UTF-8
 * do not allow become U+FFFD.
 */
struct svg_point {
	double x, y;
};

struct svg_box {
	double x, y, width, height;
};

/* The document's begin, with a white ground, so that dark pages are no matter. */
void svg_begin(FILE *file, double width, double height, const char *title);
void svg_end(FILE *file);

/* What follows up to svg_end has box's corner as its origin, and is cut off at it. */
void svg_begin_clip(FILE *file, const struct svg_box *box);

void svg_rect(FILE *file, const struct svg_box *box, const char *style);
void svg_circle(FILE *file, struct svg_point centre, double radius, const char *style);
void svg_line(FILE *file, struct svg_point from, struct svg_point to, const char *style);
void svg_polyline(FILE *file, const struct svg_point *point, size_t count,
		  const char *style);
void svg_polygon(FILE *file, const struct svg_point *point, size_t count,
		 const char *style);

/* `at` is on the base line. */
void svg_text(FILE *file, struct svg_point at, const char *text, const char *style);

/* What a pointer over the element shows; inside <g>. */
void svg_tooltip(FILE *file, const char *text);

/* For elements that are written by hand. */
void svg_number(FILE *file, double value);
void svg_escape(FILE *file, const char *text);

/* How wide a text is. The viewer picks the font, so this assumes a wide one. */
double svg_text_width(const char *text, double size);

/* A copy of text, with "…" for its middle where it is wider than that. */
char *svg_text_fit(const char *text, double size, double width);

#endif
