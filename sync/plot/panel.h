/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_PANEL_H
#define CT_SYNC_PLOT_PANEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/plot_axis.h"
#include "base/svg.h"
#include "sync/plot/plot.h"

/*
 * One frame with its two axes. The pixels of the axes count from the frame's
 * corner, and so does all that is drawn between svg_begin_clip(frame) and
 * svg_end.
 */
struct plot_panel {
	struct svg_box frame;
	struct plot_axis x, y; /* seconds, microseconds; y->from is the bottom */
	double y_step;         /* between two labels of a linear y axis, else 0 */
};

/* Set the pixels of the axes from the frame. */
void plot_panel_fit(struct plot_panel *panel);

/* Thin lines at round values, and their labels outside; x labels if wanted. */
void plot_panel_grid(const struct plot_panel *panel, FILE *file, bool label_x);

/* A line through the points of a series, straight in seconds and microseconds. */
void plot_panel_line(const struct plot_panel *panel, FILE *file,
		     const struct plot_series *line, const char *style);

/* The ground between two lines; a side with no points reaches to the frame. */
void plot_panel_band(const struct plot_panel *panel, FILE *file,
		     const struct plot_series *low, const struct plot_series *high,
		     const char *style);

/* What became of a series of messages. */
struct plot_cloud_count {
	size_t above, below; /* beyond the frame, and marked at its edge */
};

/* Messages as dots, darker where there are many; `color` as in CSS. */
struct plot_cloud_count plot_panel_cloud(const struct plot_panel *panel, FILE *file,
					 const struct plot_series *series,
					 const char *color);

/* Few messages that matter, as crosses; those beyond the frame at its edge. */
void plot_panel_crosses(const struct plot_panel *panel, FILE *file,
			const struct plot_series *series, const char *color);

#endif
