/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/plot/head.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/svg.h"

#define CAPTION_SIZE 13.0
#define KEY_SIZE     12.5
#define LINE_HEIGHT  19.0
#define KEY_HEIGHT   23.0
#define SWATCH       20.0

void plot_head_key(struct plot_head *head, enum plot_swatch swatch, const char *style,
		   const char *format, ...)
{
	struct plot_key *key = &head->key[head->keys++];
	va_list arguments;

	assert(head->keys <= PLOT_KEYS);
	va_start(arguments, format);
	key->text = mem_vprintf(format, arguments);
	va_end(arguments);
	key->swatch = swatch;
	key->style = style;
}

static void draw_title(const struct plot_head *head, FILE *file)
{
	char *title =
	    svg_text_fit(head->title, PLOT_TITLE_SIZE, head->width - 2 * PLOT_MARGIN);

	svg_text(file, (struct svg_point){PLOT_MARGIN, 38}, title,
		 "font-size=\"21\" font-weight=\"600\" fill=\"" PLOT_INK "\"");
	free(title);
}

/* Returns the base line of the last line. */
static double draw_caption(const struct plot_head *head, FILE *file, double y)
{
	const char *rest = head->caption ? head->caption : "";
	size_t length;

	for (; *rest; rest += length) {
		char *line;

		length =
		    svg_text_break(rest, CAPTION_SIZE, head->width - 2 * PLOT_MARGIN);
		y += LINE_HEIGHT;
		if (!file)
			continue;
		line = mem_strndup(rest, length);
		svg_text(file, (struct svg_point){PLOT_MARGIN, y}, line,
			 "font-size=\"13\" fill=\"" PLOT_MUTED "\"");
		free(line);
	}
	return y;
}

/* In a square whose left side is at x and whose middle is at y. */
static void draw_swatch(const struct plot_key *key, FILE *file, double x, double y)
{
	const struct svg_point middle = {x + SWATCH / 2 - 2, y};
	const struct svg_box band = {x, y - 5.5, SWATCH - 4, 11};
	const struct svg_point stroke[] = {{middle.x - 3.5, y - 3.5},
					   {middle.x + 3.5, y + 3.5},
					   {middle.x - 3.5, y + 3.5},
					   {middle.x + 3.5, y - 3.5}};

	switch (key->swatch) {
	case PLOT_SWATCH_DOT:
		svg_circle(file, middle, 4.5, key->style);
		break;
	case PLOT_SWATCH_LINE:
		svg_line(file, (struct svg_point){x, y},
			 (struct svg_point){x + SWATCH - 3, y}, key->style);
		break;
	case PLOT_SWATCH_BAND:
		svg_rect(file, &band, key->style);
		break;
	case PLOT_SWATCH_CROSS:
		svg_line(file, stroke[0], stroke[1], key->style);
		svg_line(file, stroke[2], stroke[3], key->style);
		break;
	case PLOT_SWATCH_NONE:
		break;
	}
}

/* Entries run on like words; returns the base line of the last row. */
static double draw_keys(const struct plot_head *head, FILE *file, double y)
{
	const double room = head->width - 2 * PLOT_MARGIN;
	double x = 0;

	for (size_t i = 0; i < head->keys; i++) {
		const struct plot_key *key = &head->key[i];
		const double swatch = key->swatch == PLOT_SWATCH_NONE ? 0 : SWATCH + 2;
		const double width = swatch + svg_text_width(key->text, KEY_SIZE);

		if (i == 0 || x + width > room) {
			x = 0;
			y += KEY_HEIGHT;
		}
		if (file) {
			draw_swatch(key, file, PLOT_MARGIN + x, y - 4.5);
			svg_text(file, (struct svg_point){PLOT_MARGIN + x + swatch, y},
				 key->text, "font-size=\"12.5\" fill=\"" PLOT_INK "\"");
		}
		x += width + 22;
	}
	return y;
}

double plot_head_draw(const struct plot_head *head, FILE *file)
{
	double y = 40;

	if (file)
		draw_title(head, file);
	y = draw_caption(head, file, y) + 4;
	return draw_keys(head, file, y) + 10;
}

void plot_head_clear(struct plot_head *head)
{
	for (size_t i = 0; i < head->keys; i++)
		free(head->key[i].text);
	memset(head, 0, sizeof(*head));
}
