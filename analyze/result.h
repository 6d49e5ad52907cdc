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

/* What a number is: tables print it for people, everything else plainly. */
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
	UNIT_OF_ROW, /* a number whose unit is the text in the row's column "unit" */
	UNIT_COUNT_OF
};

/* "ns", "bytes", "percent"; "" for text. */
const char *unit_name(enum unit unit);

/* The other way round; -1: no such name. */
int unit_find(const char *name);

/* That of a column of which nothing is said: by the end of its name, else by a value,
 * which may be NULL. */
enum unit unit_guess(const char *key, const struct cell *cell);

/* What a column is called where nothing is said: "MEAN" of "mean_ns". For free(). */
char *result_title(const char *key);

struct result_column {
	const char *key;   /* names it in CSV, JSON and --sort; with its unit: "max_ns" */
	const char *title; /* over printed tables: "MAX"; NULL: by the key */
	enum unit unit;
};

struct result_table {
	char *key, *title;
	struct result_column *column;
	size_t columns;
	struct cell *cell; /* row by row */
	size_t rows, capacity;
	uint64_t added;      /* rows, with those that the limit left out */
	size_t limit;        /* 0: none */
	bool limit_is_asked; /* by the user */
	bool is_cut;         /* its first rows, as many as the limit, are in order */
	bool is_optional;    /* not printed without rows */
	struct result_key {
		size_t column;
		bool falling;
	} order[8];
	size_t orders;
};

/* Tables and what is to be said with them. */
struct result {
	const struct request *request;
	struct result_table **table;
	size_t tables, table_capacity;
	struct text_list notes;
	char *document; /* what is printed instead of tables; its own */
	size_t document_size;
	nsec_t begin_ns, end_ns; /* the scope, for how instants are printed */
	struct zone zone;        /* and by which zone */
};

void result_init(struct result *result, const struct request *request);

/*
 * A new table; copies all. Columns end with a key of NULL. Until result_finish it is
 * filled by result_add. Good as long as the result.
 */
struct result_table *result_table_new(struct result *result, const char *key,
				      const char *title,
				      const struct result_column *columns);

/*
 * Its order where the user asks for none, and then among equals: "-sum_ns,node", where -
 * is falling. Rows that are equal in all stay as they came. To be called before any row.
 */
void result_table_sort(struct result_table *table, const char *keys);

/*
 * How many rows there are at most, where the user does not say; 0: all. Of more, the
 * first ones in order are kept, in the memory of twice as many. Before any row.
 */
void result_table_limit(struct result_table *table, size_t rows);

/* Add a row, a cell a column; copies it. */
void result_add(struct result_table *table, const struct cell *cells);

/* A line below the tables. */
void result_note(struct result *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Sort what there is; of --table the others go. 0, or -1 with error where --sort or
 * --table names nothing. */
int result_finish(struct result *result, struct error *error);

/* The unit of a cell: its column's, or what the row's own column "unit" says. */
enum unit result_unit(const struct result_table *table, size_t row, size_t column);

/* NULL: none. */
struct result_table *result_find(const struct result *result, const char *key);

void result_clear(struct result *result);

/* ---- print.c */

struct query;

/* Room for a number as people read it. */
enum { PRINT_TEXT = 64 };

/*
 * A cell with its unit: "1.234 ms", "4.0 MiB", "12.5 %", "02:38:57.738293189"; with the
 * date where the result is not of one day. `text` is for numbers; texts are borrowed.
 * What is not known is "-".
 */
const char *print_human(char text[PRINT_TEXT], const struct result *result,
			const struct cell *cell, enum unit unit);

/* A number as programs read it, "" for what is not known; texts are borrowed. Numbers
 * that are no integers have as many digits as give back the same double. */
const char *print_plain(char text[PRINT_TEXT], const struct cell *cell);

/* Whether a unit's numbers stand right in their column. */
bool print_is_right(enum unit unit);

/*
 * What a result says, in the format asked for. CSV has one table: --table, or the first.
 * A stream's own error is the caller's to find.
 */
void print_result(const struct query *query, const struct result *result, FILE *file);

#endif
