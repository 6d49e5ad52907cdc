/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_MERGE_TABLES_H
#define CT_MERGE_TABLES_H

#include <stdio.h>

#include "merge/run.h"
#include "timeline/rows.h"

/*
 * What is known of a run as a whole, after everything was read: the rows of
 * node, source, clock, clock_bound, clock_pair, problem, and of meta what
 * run.json says. 0, or -1 with error when writing failed.
 */
int tables_write(const struct merge_run *run, struct timeline_writer *writer,
		 struct error *error);

/* The source that a problem is about, by its path; SIZE_MAX: none. */
size_t tables_problem_source(const struct merge_run *run, const struct problem *problem);

/* How many events and packets of a source its tracer lost. */
uint64_t tables_discarded(const struct merge_run *run, size_t source);

/* What there is to merge, for people and for programs. Times of day are UTC, or local. */
void describe_text(const struct merge_run *run, bool is_local, FILE *file);
void describe_json(const struct merge_run *run, FILE *file);

#endif
