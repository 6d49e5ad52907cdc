/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_STATEMENTS_H
#define CT_EXPORT_STATEMENTS_H

#include <stdbool.h>

#include "export/format.h"

/*
 * The SQL of formats: files that are built in. In them a line "--- NAME" begins a
 * statement, which is one SELECT. Of "--- table NAME" and "--- table NAME (COLUMNS)" the
 * rows become a temporary table of that name, with an index over the columns; later
 * statements may name it.
 */
extern const char opendc_sql[], perfetto_sql[], tracekit_sql[];

struct statement {
	char *name, *sql;
	char *table, *index; /* NULL: it is no table; no index */
};

/* The next of a file, at which `at` points; false where there is none. */
bool statement_next(const char **at, struct statement *statement);

void statement_clear(struct statement *statement);

/* Make the tables whose names begin so, in their order: 0, or -1 with error. */
int statement_tables(struct timeline_reader *timeline, const char *file,
		     const char *prefix, const struct cell *value, struct error *error);

/* Make the table `chosen` of all nodes: id, name, and whether the scope has it. */
int statement_chosen(const struct export *export, struct error *error);

#endif
