/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_ARGUMENTS_H
#define CT_SYNC_ARGUMENTS_H

#include "base/options.h"
#include "input/run.h"
#include "sync/sync.h"

/*
 * The options that say how to synchronize, for every program that does so. One
 * table of their names and helps: programs append SYNC_ROWS to their own.
 */
struct sync_arguments {
	struct text_list local;
	char *reference, *method, *segments, *bounds, *reader;
	int jobs, in_flight;
	double drift_limit_ppm, max_rejected;
};

/* The defaults; one thread a processor. */
void sync_arguments_init(struct sync_arguments *arguments);

#define SYNC_ROWS 10

/* Fill in SYNC_ROWS rows of an option table, whose targets are in `arguments`. */
void sync_arguments_rows(struct sync_arguments *arguments,
			 struct option_row rows[SYNC_ROWS]);

/*
 * What the arguments mean; the options borrow from them. 0, or -1 with error:
 * misuse.
 */
int sync_arguments_parse(const struct sync_arguments *arguments,
			 struct sync_options *options, struct error *error);

/*
 * Give the sources the addresses of --local, which stand above what node.json
 * says, and the traces the reader of --reader. 0, or -1 with error: misuse.
 */
int sync_arguments_set_sources(const struct sync_arguments *arguments,
			       struct source_list *sources, struct error *error);

void sync_arguments_clear(struct sync_arguments *arguments);

#endif
