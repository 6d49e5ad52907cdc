/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_TABLES_H
#define CT_MERGE_TABLES_H

#include <stdio.h>

#include "merge/run.h"
#include "timeline/writer.h"

/*
 * What is known of a run as a whole, after everything was read: the rows of
 * node, source, clock, clock_bound, clock_pair, problem, and of meta what
 * run.json says. 0, or -1 with error when writing failed.
 */
int tables_write(const struct merge_run *run, struct timeline_writer *writer,
		 struct error *error);

/*
 * Set what follows from rows that are written, in a timeline that its writer has just
 * finished: the sources of problems, the processes of invocations, and the parts of
 * requests where there are spans. `place` as timeline_update_open. 0, or -1 with error.
 */
int tables_derive(const char *timeline, const char *place, struct error *error);

extern const char derived_sql[]; /* derived.sql */

/* What there is to merge, as text and as JSON. Times of day are UTC, or local. */
void describe_text(const struct merge_run *run, bool is_local, FILE *file);
void describe_json(const struct merge_run *run, FILE *file);

#endif
