/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_GROUPS_H
#define CT_ANALYZE_QUERY_GROUPS_H

#include <stdbool.h>

#include "analyze/query_values.h"

/*
 * Sum up the groups of a statement, which then becomes the outer one. False, and it stays
 * as it is, where it cannot be cut, or where that goes wrong: SQLite then does all of it,
 * and says what is wrong with it, if anything.
 */
bool query_groups_run(char **sql, struct timeline_reader *reader,
		      const struct query_values *values);

#endif
