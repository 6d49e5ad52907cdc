/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_GROUPS_H
#define CT_ANALYZE_QUERY_GROUPS_H

#include "analyze/query_values.h"

/*
 * Compute a statement's groups with a hash table, and replace the statement by one that
 * selects from them. Return false and leave it unchanged if it has another form or fails:
 * SQLite then runs it whole, and reports what is wrong with it.
 */
bool query_groups_run(char **sql, struct timeline_reader *reader,
		      const struct query_values *values);

#endif
