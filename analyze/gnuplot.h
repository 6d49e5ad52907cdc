/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_GNUPLOT_H
#define CT_ANALYZE_GNUPLOT_H

#include "analyze/line_plot.h"
#include "base/error.h"

/* Whether gnuplot draws that format: eps, png, pdf. */
int gnuplot_knows(const char *format);

/*
 * Draw by the program gnuplot, which is started without a shell and gets its script on
 * standard input; names in it are quoted. Into `path`, which exists. 0, or -1 with error;
 * one that is not there says so.
 */
int gnuplot_draw(const struct line_plot *plot, const char *format, const char *path,
		 struct error *error);

#endif
