/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_HEAD_H
#define CT_SYNC_PLOT_HEAD_H

#include <stddef.h>
#include <stdio.h>

/*
 * What stands above every picture: a title, a caption in as many lines as it
 * takes, and a legend.
 */
enum plot_swatch {
	PLOT_SWATCH_DOT,
	PLOT_SWATCH_LINE,
	PLOT_SWATCH_BAND,
	PLOT_SWATCH_CROSS,
	PLOT_SWATCH_NONE, /* words only */
};

#define PLOT_KEYS 12

struct plot_key {
	enum plot_swatch swatch;
	const char *style; /* attributes of the swatch; not copied */
	char *text;
};

struct plot_head {
	const char *title, *caption; /* borrowed until the picture is done */
	double width;                /* of the picture, margins included */
	struct plot_key key[PLOT_KEYS];
	size_t keys;
};

#define PLOT_TITLE_SIZE 23.0 /* font, with the width of bold letters in it */
#define PLOT_MARGIN     28.0 /* left and right of the head */

/* Colours: text, text that matters less, thin lines. */
#define PLOT_INK   "#1e293b"
#define PLOT_MUTED "#64748b"
#define PLOT_GRID  "#e2e8f0"

/* Append an entry to the legend; the format makes its text. */
void plot_head_key(struct plot_head *head, enum plot_swatch swatch, const char *style,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Draw it, or with file NULL only measure it; returns the height. */
double plot_head_draw(const struct plot_head *head, FILE *file);

void plot_head_clear(struct plot_head *head);

#endif
