/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_TEXT_H
#define CT_ANALYZE_QUERY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cell.h"
#include "base/error.h"
#include "base/options.h"

/*
 * SQL as text: split it into tokens, check it, and translate it from the common language
 * of the query files (analyze/queries/README.md) to another dialect.
 */
enum sql_kind {
	SQL_BLANK,   /* blanks and comments */
	SQL_WORD,    /* a name, a keyword, a number */
	SQL_VALUE,   /* a parameter, ":begin_ns" */
	SQL_STRING,  /* 'text' */
	SQL_QUOTED,  /* "name" */
	SQL_END,     /* ; */
	SQL_OPERATOR /* one byte of anything else */
};

struct sql_token {
	enum sql_kind kind;
	const char *text;
	size_t length;
};

/* Read the next token and advance `at` past it. Return false at the end. */
bool sql_next(const char **at, struct sql_token *token);

/* A part of a text, without blanks around it. */
struct sql_slice {
	const char *text;
	size_t length;
};

struct sql_slices {
	struct sql_slice *item;
	size_t count, capacity;
};

struct sql_slice sql_slice_between(const char *begin, const char *end);

/* Read the next token or bracketed group before `end`, and advance `at` past it. Return a
 * length of 0 at the end. */
struct sql_slice sql_next_part(const char **at, const char *end);

/* Add the items of a list, which are separated by commas. */
void sql_split(struct sql_slice list, struct sql_slices *items);

/* Return true if the text contains the word, or the parameter if it begins with ":",
 * outside quotes and comments. */
bool sql_has(const char *text, const char *word);

/*
 * Find text that SQLite, DuckDB and Spark could split differently, so that a string or a
 * comment in one is a statement in another. Return its location and set `what`, or return
 * NULL.
 */
const char *sql_find_fault(const char *text, const char **what);

/*
 * Check that a statement is a SELECT that reads only tables: no function or file in place
 * of a table, and no function that reads, writes or runs anything else. Return 0, or -1
 * with error, which begins with the option's name.
 */
int sql_check_select(const char *text, const char *option, struct error *error);

/* Add the column names of a SELECT, as far as its text shows them. */
void sql_columns(const char *text, struct text_list *names);

/*
 * Expand our macros: distribution(x) into min_ns, mean_ns, p50_ns, p95_ns, p99_ns and
 * max_ns, thread_group(s, t) into node, tid, thread, pid, comm and process by :group, and
 * frequency(x, rows) into a statement. The caller frees the result.
 */
char *sql_expand(const char *text);

enum sql_dialect { SQL_SQLITE, SQL_DUCKDB, SQL_SPARK, SQL_DIALECTS };

/* Write a statement that stores the rows of a SELECT as a temporary relation. */
void sql_write_temporary(FILE *file, const char *name, const char *select,
			 enum sql_dialect dialect);

/* Return the value of a parameter, or NULL to leave the parameter as it is. A CELL_BLOB
 * is SQL text. */
typedef const struct cell *sql_value(void *context, const char *name);

/* Write SQL in a dialect. Values from `value` are written as literals; `value` may be
 * NULL. */
void sql_write(FILE *file, const char *text, enum sql_dialect dialect, sql_value *value,
	       void *context);

#endif
