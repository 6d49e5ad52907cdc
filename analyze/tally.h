/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_TALLY_H
#define CT_ANALYZE_TALLY_H

#include "analyze/distribution.h"
#include "analyze/keys.h"
#include "analyze/result.h"
#include "base/cell.h"

/*
 * Sums and distributions of spans by what tells them apart: some cells, the head. Of more
 * than TALLY_MOST heads the later ones are one group whose head is unknown, so that
 * memory is bounded: some 250 bytes a group, and its few first values.
 */
enum { TALLY_HEAD = 8, TALLY_SUMS = 8, TALLY_MOST = 200000 };

struct tally_group {
	struct cell head[TALLY_HEAD]; /* texts are its own */
	struct distribution spans;
	int64_t sum[TALLY_SUMS]; /* the caller's */
};

struct tally {
	size_t heads;
	struct keys keys;
	struct tally_group *group; /* in the order in which they came */
	size_t count, room;
};

/* The group of these cells, a new one perhaps; good until the next call. Copies. */
struct tally_group *tally_group(struct tally *tally, const struct cell *head);

/* Columns of a distribution of durations, and their cells. */
enum { TALLY_CELLS = 8 };
#define TALLY_COLUMNS                                                                    \
	{"count", "COUNT", UNIT_COUNT}, {"min_ns", "MIN", UNIT_SPAN},                    \
	    {"mean_ns", "MEAN", UNIT_SPAN}, {"p50_ns", "MEDIAN", UNIT_SPAN},             \
	    {"p95_ns", "95 %", UNIT_SPAN}, {"p99_ns", "99 %", UNIT_SPAN},                \
	    {"max_ns", "MAX", UNIT_SPAN},                                                \
	{                                                                                \
		"sum_ns", "SUM", UNIT_SPAN                                               \
	}
void tally_cells(struct distribution *spans, struct cell cells[TALLY_CELLS]);

/* A row a group: its head, and the cells of its distribution. */
void tally_print(struct tally *tally, struct result_table *table);

/* How often how long: a table of `from_ns`, `to_ns` and `count` of all groups at once,
 * with `what` in the title. */
void tally_print_bins(struct tally *tally, struct result *result, const char *what);

/* Spans one by one: the longest by --top, all by --log; each NULL where it is not asked
 * for. */
struct tally_lists {
	struct result_table *top, *log;
};

/* `columns` of both; titles; how the longest are found, as of result_table_sort. */
struct tally_lists_form {
	const struct result_column *columns;
	const char *top, *top_order, *log;
};

void tally_lists_begin(struct tally_lists *lists, unsigned forms, struct result *result,
		       const struct tally_lists_form *form);

/* Move them, which had to be there first to be filled, behind all other tables. */
void tally_lists_last(const struct tally_lists *lists, struct result *result);

void tally_clear(struct tally *tally);

#endif
