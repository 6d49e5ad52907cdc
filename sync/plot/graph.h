/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_GRAPH_H
#define CT_SYNC_PLOT_GRAPH_H

#include "sync/plot/plot.h"

/*
 * Draw the clocks of a run as nodes and its pairs, in this order, as edges. Write the
 * picture to path, whole or not at all. Return 0, or -1 with error.
 */
int plot_graph(const struct plot_run *run, const uint32_t *order, const char *path,
	       struct error *error);

#endif
