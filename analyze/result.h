/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_RESULT_H
#define CT_ANALYZE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/request.h"
#include "base/cell.h"
#include "base/error.h"
#include "base/nsec.h"
#include "timeline/reader.h"

/* The unit of a column. Only tables for people are formatted by it. */
enum unit {
	UNIT_TEXT,
	UNIT_ID, /* a number that names: tid, cpu */
	UNIT_COUNT,
	UNIT_SPAN,    /* ns */
	UNIT_BOUND,   /* ns, to either side: "+-1.2 us" */
	UNIT_INSTANT, /* ns since the epoch */
	UNIT_BYTES,
	UNIT_BYTE_RATE, /* bytes/s */
	UNIT_RATE,      /* 1/s */
	UNIT_PERCENT,
	UNIT_RATIO,
	UNIT_PPM,
	UNIT_HERTZ,
	UNIT_NUMBER, /* without a unit, or with one in a column of its own */
	UNIT_OF_ROW, /* a number whose unit is in the row's column "unit" */
	UNIT_COUNT_OF
};

/* Return "ns", "bytes", "percent", ...; "" for text. */
const char *unit_name(enum unit unit);

/* Return the unit of that name, or -1. */
int unit_find(const char *name);

/* Guess a column's unit from the end of its key, or else from a value, which may be NULL.
 */
enum unit unit_guess(const char *key, const struct cell *cell);

/* Return the default title of a column: "MEAN" for "mean_ns". The caller frees it. */
char *result_title(const char *key);

struct result_column {
	const char *key;   /* its name in CSV, JSON and --sort, with its unit: "max_ns" */
	const char *title; /* in printed tables: "MAX"; NULL: derived from the key */
	enum unit unit;
};

struct result_table {
	char *key, *title;
	struct result_column *column;
	size_t columns;
	struct cell *cell; /* row by row */
	size_t rows, capacity;
	uint64_t added;      /* rows, including those beyond the limit */
	size_t limit;        /* 0: unlimited */
	bool limit_is_asked; /* by the user */
	bool is_cut;         /* its first `limit` rows are in order */
	bool is_optional;    /* not printed without rows */
	struct result_key {
		size_t column;
		bool falling;
	} order[8];
	size_t orders;
};

/* The tables and notes of an analysis. */
struct result {
	const struct request *request;
	struct result_table **table;
	size_t tables, table_capacity;
	struct text_list notes;
	char *document; /* printed instead of tables; owned */
	size_t document_size;
	nsec_t begin_ns, end_ns; /* the scope: it decides how instants are printed */
	struct zone zone;        /* time zone of printed instants */
};

void result_init(struct result *result, const struct request *request);

/*
 * Add a table and copy its description. The key of the last column is NULL. Fill the
 * table by result_add() before result_finish(). The result owns it.
 */
struct result_table *result_table_new(struct result *result, const char *key,
				      const char *title,
				      const struct result_column *columns);

/*
 * Set the order, "-sum_ns,node", with - for descending. It applies without --sort, and
 * among rows that --sort leaves equal. Equal rows keep their order. Call before adding
 * rows.
 */
void result_table_sort(struct result_table *table, const char *keys);

/* Set the default of --limit; 0: no limit. Only the first rows in order are kept, in the
 * memory of twice as many. Call before adding rows. */
void result_table_limit(struct result_table *table, size_t rows);

/* Add a row with a cell for each column. Copies the cells. */
void result_add(struct result_table *table, const struct cell *cells);

/* Add a line to print below the tables. */
void result_note(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sort the tables, and with --table remove the others. Return 0, or -1 with error if
 * --sort or --table has an unknown name. */
int result_finish(struct result *result, struct error *error);

/* Return a cell's unit: that of its column, or from the row's column "unit". */
enum unit result_unit(const struct result_table *table, size_t row, size_t column);

/* Return the table, or NULL. */
struct result_table *result_find(const struct result *result, const char *key);

void result_clear(struct result *result);

#endif
