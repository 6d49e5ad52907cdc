/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_SYNC_ARGUMENTS_H
#define CT_SYNC_ARGUMENTS_H

#include "base/options.h"
#include "input/run.h"
#include "sync/sync.h"

/* The options of synchronization, for every program that synchronizes. They follow the
 * program's own. */
extern struct sync_arguments {
	struct text_list local, declare, trust;
	char *reference, *method, *segments, *bounds;
	int jobs, in_flight; /* jobs 0: a thread a processor */
	double drift_limit_ppm, max_rejected;
} sync_arguments;

extern const struct option_row sync_rows[];

struct sync_options {
	struct observe_options observe;
	struct fit_options fit;
};

/*
 * Set the options from the arguments, and borrow from these. Return 0, or -1 with error
 * (misuse).
 */
int sync_arguments_parse(struct sync_options *options, struct error *error);

/* Apply --local, which overrides node.json, and the files that declare messages. Return
 * 0, or -1 with error: misuse, or an invalid file. */
int sync_arguments_set_sources(struct source_list *sources, struct error *error);

#endif
