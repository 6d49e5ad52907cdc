/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CATALOG_H
#define CT_ANALYZE_CATALOG_H

#include <stddef.h>

#include "analyze/query_file.h"
#include "base/error.h"

/* The analyses that can be named: the program's own, and the user's in SQL. */
struct catalog {
	const struct analysis **item;
	size_t count, room;
	struct query_file **file; /* in SQL: ours, then the user's */
	size_t files, file_room;
	size_t own;                /* the user's */
	struct query_file *shared; /* relations.sql: what files may name */
};

/* With those of --sql; 0, or -1 with error. */
int catalog_init(struct catalog *catalog, const struct text_list *sql,
		 struct error *error);

/* NULL with an error that suggests the nearest name. */
const struct analysis *catalog_find(const struct catalog *catalog, const char *name,
				    struct error *error);

/* "  NAME  SUMMARY" a line, for --help; for free(). */
char *catalog_text(const struct catalog *catalog);

/* A line a table and a column of a file, and an example, for --help; for free(). */
char *catalog_help(const struct query_file *file);

/* What it heeds, with what follows from its other members. */
unsigned analysis_heeds(const struct analysis *analysis);

void catalog_clear(struct catalog *catalog);

#endif
