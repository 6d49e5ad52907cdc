/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_PLOT_RUN_H
#define CT_SYNC_PLOT_RUN_H

#include "base/guard.h"
#include "sync/sync.h"

/*
 * Draw a run into a directory, which is made when it is not there: a picture
 * a pair, A--B.svg, and graph.svg. Each is there whole or not at all, also where a
 * signal ends the program (`guard`, or NULL). 0, or -1 with error.
 */
int plot_run(struct sync *sync, const char *directory, struct guard *guard,
	     struct error *error);

/* A name as part of a file name: what is not safe there becomes '_'. Freed by the caller.
 */
char *plot_file_name(const char *name);

#endif
