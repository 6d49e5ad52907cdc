/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_H
#define CT_ANALYZE_QUERY_H

#include <stdio.h>

#include "analyze/analysis.h"
#include "analyze/query_text.h"

/* Run the statements of the query's analysis, and add their tables and notes. Return 0,
 * or -1 with error. */
int query_file_run(struct query *query, struct result *result, struct error *error);

/* Write the statements as they would run, in a dialect, with the values of their
 * parameters. Without a timeline, the scope is everything. Return 0, or -1 with error. */
int query_file_print(struct query *query, enum sql_dialect dialect, FILE *file,
		     struct error *error);

#endif
