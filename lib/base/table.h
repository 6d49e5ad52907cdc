/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_TABLE_H
#define CT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Aligned columns of text. The only user of libsmartcols. */
struct table;

struct table_column {
	const char *title;
	bool right; /* numbers stand right */
};

struct table *table_new(const struct table_column *columns, size_t count);

/* Append a row; the n-th text is the n-th column's. Copies. */
void table_add(struct table *table, const char *const *texts);

/* Whether a file leads to a terminal, where a table may be put differently for people. */
bool table_on_terminal(FILE *file);

/*
 * Print every row under its titles. On a terminal a table that is too wide goes on below,
 * with its first columns, as far as they are text, once more; and where the locale has
 * UTF-8, numbers have ± and µs, and names are shown. Files and pipes get ASCII, in full
 * width.
 */
void table_print(const struct table *table, FILE *file);

void table_free(struct table *table);

/* "2.38.1" */
const char *table_library_version(void);

#endif
