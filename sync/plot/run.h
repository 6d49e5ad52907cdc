/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_RUN_H
#define CT_SYNC_PLOT_RUN_H

#include "sync/sync.h"

/*
 * Draw a run into a directory: a picture a pair, A--B.svg, and graph.svg. All are there
 * or none. Pictures of an earlier run in it, known by a list of their names, are
 * replaced. 0, or -1 with error.
 */
int plot_run(struct sync *sync, const char *directory, struct error *error);

#endif
