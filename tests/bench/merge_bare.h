/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TESTS_BENCH_MERGE_BARE_H
#define CT_TESTS_BENCH_MERGE_BARE_H

#include "base/error.h"

/*
 * The limit of SQLite: a timeline's rows once more into the same tables, views
 * and indexes of a new file, by a bare loop that binds and steps a prepared
 * statement for each row, with the settings of the timeline's writer. Rows come
 * in the writer's order, an event and then its fields.
 */
struct merge_bare_cost {
	double wall_s, cpu_s; /* of inserting and indexing; reading is not counted */
};

/* 0, or -1 with error. */
int merge_bare(const char *from, const char *to, struct merge_bare_cost *cost,
	       struct error *error);

#endif
