/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_GROUPS_H
#define CT_ANALYZE_QUERY_GROUPS_H

#include <stdbool.h>

#include "analyze/query_values.h"
#include "timeline/groups.h"

/* The temporary table of groups that the outer statement reads. */
#define QUERY_GROUPS_TABLE "grouped_rows"

/*
 * SQLite's GROUP BY sorts all rows. So a statement [WITH ...] SELECT ... FROM ... GROUP
 * BY is cut in two: one that gives rows of keys and of what is summed up, for `groups`,
 * and one that makes of the groups, in QUERY_GROUPS_TABLE, what the statement gives.
 */
struct query_groups {
	char *rows, *outer; /* of TIMELINE_ROW; of the groups */
	size_t keys, columns;
	struct aggregate *aggregate;
	size_t aggregates, aggregate_room;
};

/* Whether a statement as SQLite spells it can be cut so. It then needs clearing. What
 * names more than keys and aggregates is found out when the two are prepared. */
bool query_groups_parse(struct query_groups *groups, const char *sql);

void query_groups_clear(struct query_groups *groups);

/*
 * Sum up the groups of a statement, which then becomes the outer one. False, and it stays
 * as it is, where it cannot be cut, or where that goes wrong: SQLite then does all of it,
 * and says what is wrong with it, if anything.
 */
bool query_groups_run(char **sql, struct timeline_reader *reader,
		      const struct query_values *values);

#endif
