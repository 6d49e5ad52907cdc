/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_CATALOG_H
#define CT_ANALYZE_CATALOG_H

#include "analyze/query_file.h"

/* All analyses: the built-in ones, and the user's files of SQL. */
struct catalog {
	const struct analysis **item;
	size_t count, capacity;
	struct query_file **file; /* the built-in files, then the user's */
	size_t files, file_capacity;
	size_t own;                /* number of the user's files */
	struct query_file *shared; /* relations.sql, which all files can use */
};

/* Add the built-in analyses and those of --sql. Return 0, or -1 with error. */
int catalog_init(struct catalog *catalog, const struct text_list *sql,
		 struct error *error);

/* Return NULL with an error that suggests the nearest name. */
const struct analysis *catalog_find(const struct catalog *catalog, const char *name,
				    struct error *error);

/* Print a line "  NAME  SUMMARY" for each analysis. */
void catalog_print(const struct catalog *catalog, FILE *file);

/* List a file's tables, columns and example for --help. The caller frees the result. */
char *catalog_help(const struct query_file *file);

/* Return the options that the analysis accepts, as HEEDS_... . */
unsigned analysis_heeds(const struct analysis *analysis);

void catalog_clear(struct catalog *catalog);

#endif
