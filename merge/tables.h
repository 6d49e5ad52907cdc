/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_TABLES_H
#define CT_MERGE_TABLES_H

#include <stdio.h>

#include "merge/run.h"
#include "timeline/writer.h"

/*
 * Write the rows of the whole run: node, source, clock, clock_bound, clock_pair, problem,
 * and in meta the facts of run.json. Call after everything was read. Return 0, or -1 with
 * error if writing fails.
 */
int tables_write(const struct merge_run *run, struct timeline_writer *writer,
		 struct error *error);

/*
 * Set the columns that follow from other rows, in a timeline that its writer has just
 * finished: the sources of problems, and the processes of invocations. `place` is as in
 * timeline_update_open(). Return 0, or -1 with error.
 */
int tables_derive(const char *timeline, const char *place, struct error *error);

extern const char derived_sql[]; /* derived.sql */

/* Describe the run's contents as text or as JSON. Times of day are UTC, or local. */
void describe_text(const struct merge_run *run, bool is_local, FILE *file);
void describe_json(const struct merge_run *run, FILE *file);

#endif
