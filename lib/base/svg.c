/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/svg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

/* XML allows no control characters except tab and newline, no U+FFFE and no U+FFFF.
 * Characters that reorder text would mislead the reader. */
static bool markup_allows(const char *character)
{
	return *character == '\t' || *character == '\n' ||
	       (!utf8_is_control(character) &&
		strncmp(character, "\xef\xbf\xbe", 3) != 0 &&
		strncmp(character, "\xef\xbf\xbf", 3) != 0);
}

#define FONT                                                                             \
	"system-ui,-apple-system,&#39;Segoe UI&#39;,Roboto,&#39;Helvetica Neue&#39;,"    \
	"Arial,sans-serif"
#define FARTHEST 1e6 /* pixels; renderers lose precision beyond that */

void svg_number(FILE *file, double value)
{
	long tenths;

	if (!(fabs(value) < FARTHEST))
		value = value > 0 ? FARTHEST : value < 0 ? -FARTHEST : 0;
	tenths = lround(value * 10);
	fprintf(file, "%s%ld", tenths < 0 ? "-" : "", labs(tenths) / 10);
	if (tenths % 10)
		fprintf(file, ".%ld", labs(tenths) % 10);
}

static void print_attribute(FILE *file, const char *name, double value)
{
	fprintf(file, " %s=\"", name);
	svg_number(file, value);
	putc('"', file);
}

void svg_begin(FILE *file, double width, double height, const char *title)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"",
	      file);
	print_attribute(file, "width", width);
	print_attribute(file, "height", height);
	fputs(" viewBox=\"0 0 ", file);
	svg_number(file, width);
	putc(' ', file);
	svg_number(file, height);
	fputs("\" font-family=\"" FONT "\">\n", file);
	svg_tooltip(file, title);
	fputs("\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", file);
}

void svg_end(FILE *file)
{
	fputs("</svg>\n", file);
}

static void box_attributes(FILE *file, const struct svg_box *box)
{
	print_attribute(file, "x", box->x);
	print_attribute(file, "y", box->y);
	print_attribute(file, "width", fmax(box->width, 0));
	print_attribute(file, "height", fmax(box->height, 0));
}

void svg_begin_clip(FILE *file, const struct svg_box *box)
{
	/* A nested <svg> clips without an id, which would have to be unique in a page. */
	fputs("<svg overflow=\"hidden\"", file);
	box_attributes(file, box);
	fputs(">\n", file);
}

void svg_rect(FILE *file, const struct svg_box *box, const char *style)
{
	fputs("<rect", file);
	box_attributes(file, box);
	fprintf(file, " %s/>\n", style);
}

void svg_circle(FILE *file, struct svg_point centre, double radius, const char *style)
{
	fputs("<circle", file);
	print_attribute(file, "cx", centre.x);
	print_attribute(file, "cy", centre.y);
	print_attribute(file, "r", fmax(radius, 0));
	fprintf(file, " %s/>\n", style);
}

/* Write a path through points. `tail` ends the list of points and begins the attributes.
 */
static void print_path(FILE *file, const struct svg_point *point, size_t count,
		       const char *tail, const char *style)
{
	if (count == 0)
		return;
	fputs("<path d=\"", file);
	for (size_t i = 0; i < count; i++) {
		putc(i ? 'L' : 'M', file);
		svg_number(file, point[i].x);
		putc(' ', file);
		svg_number(file, point[i].y);
	}
	fprintf(file, "%s %s/>\n", tail, style);
}

void svg_line(FILE *file, struct svg_point from, struct svg_point to, const char *style)
{
	const struct svg_point point[] = {from, to};

	svg_polyline(file, point, 2, style);
}

void svg_polyline(FILE *file, const struct svg_point *point, size_t count,
		  const char *style)
{
	print_path(file, point, count, "\" fill=\"none\"", style);
}

void svg_polygon(FILE *file, const struct svg_point *point, size_t count,
		 const char *style)
{
	print_path(file, point, count, "Z\"", style);
}

void svg_text(FILE *file, struct svg_point at, const char *text, const char *style)
{
	fputs("<text", file);
	print_attribute(file, "x", at.x);
	print_attribute(file, "y", at.y);
	fprintf(file, " %s>", style);
	svg_escape(file, text);
	fputs("</text>\n", file);
}

void svg_tooltip(FILE *file, const char *text)
{
	fputs("<title>", file);
	svg_escape(file, text);
	fputs("</title>", file);
}

void svg_escape(FILE *file, const char *text)
{
	static const char marks[] = "&<>\"'";
	static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

	while (*text) {
		const char *mark = strchr(marks, *text);
		size_t length = utf8_length(text);

		if (!length || !markup_allows(text)) {
			fputs(UTF8_REPLACEMENT, file);
			length = 1;
		} else if (mark) {
			fputs(entity[mark - marks], file);
		} else {
			fwrite(text, 1, length, file);
		}
		text += length;
	}
}

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Return an upper estimate of the width of a character at font size 1; 0 for all but the
 * first byte of a character. */
static double character_width(char c)
{
	if (is_continuation(c))
		return 0;
	if ((unsigned char)c >= 0xe3) /* Chinese, Japanese, Korean and beyond */
		return 1;
	if (strchr("iIjl.,:;|!'()[] -", c))
		return c == '-' ? 0.37 : 0.35;
	if (strchr("mwMW@%", c))
		return 0.95;
	if (c >= 'A' && c <= 'Z')
		return 0.72;
	return 0.63;
}

double svg_text_width(const char *text, double size)
{
	double width = 0;

	while (*text)
		width += character_width(*text++);
	return width * size;
}

char *svg_text_fit(const char *text, double size, double width)
{
	size_t head = 0, tail = strlen(text);
	double left = width - 0.9 * size;

	if (svg_text_width(text, size) <= width)
		return mem_strdup(text);
	/* Names of hosts tend to differ at both ends: keep those. */
	while (head < tail) {
		const int from_head = head <= strlen(text) - tail;
		const char c = from_head ? text[head] : text[tail - 1];

		left -= character_width(c) * size;
		if (left < 0)
			break;
		if (from_head)
			head++;
		else
			tail--;
	}
	while (head > 0 && is_continuation(text[head]))
		head--;
	while (is_continuation(text[tail]))
		tail++;
	return mem_printf("%.*s\xe2\x80\xa6%s", (int)head, text, text + tail);
}
