/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_REPORT_BINS_H
#define CT_ANALYZE_REPORT_BINS_H

#include <stdio.h>

#include "analyze/analysis.h"
#include "base/hash.h"

/*
 * Sums by steps of time, which the page adds up for the window that is selected. Rows
 * have a key each and sums that are sparse: a step without a value is left out.
 */

/* The steps of all sums: [begin_ns + k * step_ns, ...). */
struct bin_grid {
	nsec_t begin_ns, end_ns, step_ns;
	size_t steps;
};

struct bin_series {
	struct bin {
		uint32_t step;
		int64_t value;
	} * item; /* by step */
	size_t count, capacity;
	size_t last; /* that was added to or raised */
};

/* Return the step of an instant; one beyond the grid counts for its nearest step. */
uint32_t bin_step(const struct bin_grid *grid, nsec_t at_ns);

/* Add to the value of a step, or raise it; return whether it is raised. */
void bin_add(struct bin_series *series, uint32_t step, int64_t value);
bool bin_raise(struct bin_series *series, uint32_t step, int64_t value);

/* Return the value of a step, or 0 if the series has none. The steps must be sorted. */
int64_t bin_value(const struct bin_series *series, uint32_t step);

/* Add to each step the nanoseconds that a span has of it. */
void bin_spread(struct bin_series *series, const struct bin_grid *grid, nsec_t begin_ns,
		nsec_t end_ns);

/* The page's script reads each of these as 6 bits. */
extern const char bin_digits[];

/*
 * Return the series as the script reads it: "UNIT,TEXT" with two digits a number. Up to
 * BIN_MOST it is the value of the next step in units, from there on it skips steps. What
 * rounding leaves of a sum is carried on, so that the sum of any steps is off by less
 * than a unit; values of `raised` series are rounded each. "" if it is empty. The caller
 * frees it.
 */
enum { BIN_MOST = 3900 };
char *bin_text(const struct bin_series *series, bool raised);

void bin_clear(struct bin_series *series);

/* The tables of the page that follow the window, by steps. */
struct bin_tables;

/* Borrows both. */
struct bin_tables *bin_tables_new(const struct bin_grid *grid, const struct scope *scope);

/* Read all tables that need no relation of an analysis, or only those that page_bin has.
 * Return 0, or -1 with error. */
int bin_tables_read(struct bin_tables *tables, struct query *query, bool only_kept,
		    struct error *error);

/* Read only the table `name`; the reader has its relations. Return 0, or -1 with error.
 */
int bin_tables_read_one(struct bin_tables *tables, const char *name, struct query *query,
			struct error *error);

/* Return what adds the rows of the relation `summed` of an analysis to the table `name`.
 * When it has, sort the table's durations. */
struct group_listener bin_tables_listener(struct bin_tables *tables, const char *name);
void bin_tables_sort(struct bin_tables *tables, const char *name);

/* Add the rows of a result by --interval to the table of a name: begin, key, sums. */
void bin_tables_add(struct bin_tables *tables, const char *name,
		    const struct result_table *rows);

/* Return the row of a key in a table that others fill, until that has another row, and
 * count something in it. */
struct bin_row;
struct bin_row *bin_tables_row(struct bin_tables *tables, const char *name,
			       const struct cell *key);
void bin_row_count(struct bin_row *row, const struct bin_grid *grid, nsec_t at_ns,
		   nsec_t took_ns);

/*
 * Write the tables as members of a JSON object: rows of keys (a node is its index among
 * the selected ones, or -1), then series: the count, the total and the longest duration,
 * the further sums, and a histogram of durations. If the rows do not fit into the page,
 * write those with the longest total and the number of others.
 */
void bin_tables_write(const struct bin_tables *tables, const struct scope *scope,
		      FILE *page);

/* Keep the sums as page_bin, for report.sql. Return 0, or -1 with error. */
int bin_tables_keep(const struct bin_tables *tables, struct timeline_reader *reader,
		    struct error *error);

/* Called with the duration of each message, request and disk request: its step, and a
 * bucket, which covers about 2 % around bin_bucket_ns(). */
typedef void bin_duration_fn(void *context, const char *kind, const struct cell *key,
			     uint32_t step, uint32_t bucket);
void bin_tables_each(const struct bin_tables *tables, bin_duration_fn *add,
		     void *context);
double bin_bucket_ns(uint32_t bucket);

void bin_tables_free(struct bin_tables *tables);

#endif
