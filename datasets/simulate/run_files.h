/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SIMULATE_RUN_FILES_H
#define CT_SIMULATE_RUN_FILES_H

#include "simulate/world.h"
#include "simulate/writer.h"

/* What a run directory holds of each node, besides truth.csv and run.json. */

enum run_kind { RUN_TRACES, RUN_CAPTURES };

struct run_files {
	enum sim_trace_format format; /* of traces; set it before opening */
	struct sim_node *node;
};

/* Open world->writer, and sar's files with activity full. 0, or -1 with error. */
int run_files_open(struct run_files *files, struct world *world, enum run_kind kind,
		   const char *directory, struct error *error);

/* Finish them and write each node.json. 0, or -1 with error. */
int run_files_close(struct run_files *files, struct world *world, const char *directory,
		    struct error *error);

/* Free what is left; files that were not finished are not complete. */
void run_files_discard(struct run_files *files, struct world *world);

#endif
