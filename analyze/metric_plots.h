/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_METRIC_PLOTS_H
#define CT_ANALYZE_METRIC_PLOTS_H

#include "analyze/analysis.h"

struct output_directory;

/* Draw the table `plots` as SVG files into the directory of --plot, which is opened, and
 * add a note. The caller commits or discards the directory. Return 0, or -1 with error.
 */
int metric_plots_draw(struct query *query, struct result *result,
		      struct output_directory *directory, struct error *error);

#endif
