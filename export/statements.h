/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_STATEMENTS_H
#define CT_EXPORT_STATEMENTS_H

#include "export/format.h"

/*
 * The SQL of formats: files that are built in. In them a line "--- NAME" begins a
 * statement, which is one SELECT. Of "--- table NAME" and "--- table NAME (COLUMNS)" the
 * rows become a temporary table of that name, with an index over the columns ("a; b, c":
 * two); later statements may name it.
 */
extern const char graphite_sql[], opendc_sql[], perfetto_sql[], tracekit_sql[];

struct statement {
	char *name, *sql;
};

/* 0, or -1 with error, which ends the walk. */
typedef int statement_take(void *context, const struct statement *statement,
			   struct error *error);

/* A file's statements in their order: make the tables, with these values of parameters,
 * and hand on all others. 0, or -1 with error. */
int statement_each(struct timeline_reader *timeline, const char *file,
		   const struct cell *value, statement_take *take, void *context,
		   struct error *error);

/* Write an object of JSON that a statement made, on many lines; what could not be written
 * is told when the file is closed. 0, or -1 with error: it is none. */
int statement_json(FILE *file, const struct cell *object, struct error *error);

/* Make the table `chosen` of all nodes: id, name, and whether the scope has it. */
int statement_chosen(const struct export *export, struct error *error);

#endif
