/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_QUERY_H
#define CT_ANALYZE_QUERY_H

#include <stdio.h>

#include "analyze/query_file.h"
#include "analyze/query_text.h"
#include "analyze/question.h"

/* Make the file's analysis of what it says: which options it heeds, and how it is run. */
void query_define(struct query_file *file);

/* Those of analyze/queries, which are built in, but for what all share. */
size_t query_builtin_count(void);
struct query_file *query_builtin(size_t n);

/* What all share, relations.sql. NULL with error. */
struct query_file *query_builtin_relations(struct error *error);

/* Ask what the question's analysis asks for, into tables and notes; 0, or -1 with error.
 */
int query_run(struct question *question, struct result *result, struct error *error);

/*
 * Write the statements of an analysis as they would run, in a dialect, with the values of
 * their parameters. The question may have no timeline: then its scope is all there is.
 * 0, or -1 with error.
 */
int query_print(struct question *question, enum sql_dialect dialect, FILE *file,
		struct error *error);

/* Whether an event of one of "a or b" was recorded, "(words)" aside. */
bool query_is_recorded(const struct text_list *recorded, const char *classes);

/* A line a table and a column, and an example, for --help; for free(). */
char *query_help(const struct query_file *file);

#endif
