/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_GROUPS_H
#define CT_ANALYZE_QUERY_GROUPS_H

#include "analyze/query_values.h"

/*
 * Compute a statement's groups with a hash table, and replace the statement by one that
 * selects from them. With a listener, also pass it each row. Return 1, 0 and leave the
 * statement unchanged if it has another form or fails: SQLite then runs it whole, and
 * reports what is wrong with it; with a listener that is -1 with error.
 */
int query_groups_run(char **sql, struct timeline_reader *reader,
		     const struct query_values *values,
		     const struct group_listener *listener, struct error *error);

#endif
