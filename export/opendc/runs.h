/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_RUNS_H
#define CT_EXPORT_OPENDC_RUNS_H

#include <stdint.h>

#include "base/error.h"

/*
 * Sorting more records than fit into memory: sorted runs in a file, which are merged
 * (Knuth, The Art of Computer Programming 3, 5.4). About 64 MiB are in memory.
 */
struct opendc_record {
	uint32_t task, index;
	double work;
};

struct opendc_runs;

struct opendc_runs *opendc_runs_new(void);

/* 0, or -1 with error. */
int opendc_runs_add(struct opendc_runs *runs, const struct opendc_record *record,
		    struct error *error);

/* No more are added. 0, or -1 with error. */
int opendc_runs_sort(struct opendc_runs *runs, struct error *error);

/* The next one by task, then index; equal ones in the order in which they were added. 1,
 * or 0 at the end, or -1 with error. */
int opendc_runs_next(struct opendc_runs *runs, struct opendc_record *record,
		     struct error *error);

void opendc_runs_free(struct opendc_runs *runs);

#endif
