/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_RESULT_PRIVATE_H
#define CT_ANALYZE_RESULT_PRIVATE_H

#include <stdio.h>

#include "analyze/result.h"

/* The column that a word of --sort means: "-max_ns", "max_ns", or "max" without the
 * unit; -1: none. */
int result_key_column(const struct result_table *table, const char *word);

/* Add "-sum_ns,node" to the order, as far as there are such columns. */
void result_add_keys(struct result_table *table, const char *keys);

/* Whether a new row stands behind the last one that the limit allows, of rows that are
 * sorted and cut. */
bool result_is_behind(const struct result_table *table, const struct cell *cells);

/* By the order; equal rows stay as they were. */
void result_sort_rows(struct result_table *table);

#endif
