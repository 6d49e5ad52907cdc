/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_TEXT_H
#define CT_ANALYZE_QUERY_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/cell.h"
#include "base/options.h"

/*
 * The text of SQL statements, as far as it must be understood to find where they end,
 * what they name, and how another dialect spells them. analyze/queries/README.md tells
 * what the spelling of the files is.
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

/* The next token; moves `at` behind it. False at the end of the text. */
bool sql_next(const char **at, struct sql_token *token);

/* Whether the text has the word, or the parameter, ":begin_ns"; not within quotes or
 * comments. */
bool sql_has(const char *text, const char *word);

/* What the columns of a SELECT are called, as far as the text says. */
void sql_columns(const char *text, struct text_list *names);

/*
 * What our spelling has short, at length, for free(): distribution(x) are six columns,
 * min_ns, mean_ns, p50_ns, p95_ns, p99_ns and max_ns; frequency(x, rows) is a statement.
 */
char *sql_expand(const char *text);

enum sql_dialect { SQL_SQLITE, SQL_DUCKDB, SQL_SPARK, SQL_DIALECTS };

/* Write what makes a relation of a SELECT that is computed but once. */
void sql_write_temporary(FILE *file, const char *name, const char *select,
			 enum sql_dialect dialect);

/* What is known of a parameter; NULL: it stays as it is. A CELL_BLOB is a text of SQL. */
typedef const struct cell *sql_value(void *context, const char *name);

/*
 * Write a text as a dialect spells it. Values that `value` gives are written as literals;
 * NULL: parameters stay.
 */
void sql_write(FILE *file, const char *text, enum sql_dialect dialect, sql_value *value,
	       void *context);

#endif
