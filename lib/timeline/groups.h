/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_GROUPS_H
#define CT_TIMELINE_GROUPS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/cell.h"
#include "base/error.h"
#include "base/hash.h"

/*
 * Define the SQL function quantile(x, share), an aggregate: of a share of 0.5 the median;
 * NULL of no value. An SQLite code.
 */
int quantile_define(sqlite3 *db);

/*
 * Rows summed up by their first cells, as GROUP BY of SQL does it, but by a hash table:
 * nothing has to be sorted but the groups. Numbers, texts and NULL as SQLite has them.
 */
enum aggregate_kind {
	AGGREGATE_ROWS, /* count(*) */
	AGGREGATE_COUNT,
	AGGREGATE_SUM,
	AGGREGATE_AVG,
	AGGREGATE_MIN,
	AGGREGATE_MAX,
	AGGREGATE_QUANTILE
};

struct aggregate {
	enum aggregate_kind kind;
	size_t column; /* of those behind the keys, from 0; not of count(*) */
	double share;  /* of a quantile */
};

struct groups {
	size_t keys, columns; /* in a row: first keys, then what is summed up */
	const struct aggregate *aggregate;
	size_t aggregates;
	struct groups_want *want; /* of each column */
	struct group *group;
	size_t count, capacity, last;
	struct texts texts; /* the keys of each, as bytes */
	struct bytes keys_now;
	size_t *order;
	bool is_odd; /* rows have what only SQLite groups rightly */
};

/* Borrows the aggregates until groups_clear. */
void groups_init(struct groups *groups, size_t keys, size_t columns,
		 const struct aggregate *aggregate, size_t aggregates);

/* A timeline_take: a row of keys and columns. -1 with error, or with is_odd. */
int groups_take(void *context, const struct cell *row, struct error *error);

/* Put the groups in the order of their keys, as SQLite gives them. */
void groups_sort(struct groups *groups);

/* The n-th group: its keys, and then its aggregates. Texts are borrowed. 0, or -1 with
 * error: an integer overflowed. */
int groups_row(const struct groups *groups, size_t n, struct cell *row,
	       struct error *error);

void groups_clear(struct groups *groups);

#endif
