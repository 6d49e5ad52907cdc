/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_TABLE_H
#define CT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Aligned columns of text. The only user of libsmartcols. */
struct table;

/* Units that a column of numbers may be shown in; the largest first, ended by one without
 * a name. */
struct table_unit {
	double size; /* of the smallest, which is 1 */
	const char *name;
};

extern const struct table_unit table_spans[];       /* of ns */
extern const struct table_unit table_sizes[];       /* of bytes */
extern const struct table_unit table_byte_rates[];  /* of bytes/s */
extern const struct table_unit table_frequencies[]; /* of Hz */

struct table_column {
	const char *title;
	bool right; /* numbers stand right */
	/* Of tables on a terminal only: */
	const struct table_unit *units; /* of its cells, which are then numbers of the
					 * smallest: "5406123", "+-77", "-8/+4"; NULL:
					 * cells stand as they are */
	const char *unit;  /* where that is not to be chosen: "UTC"; NULL: none */
	double resolution; /* to show numbers to; 0: to three or four digits */
	bool is_bound;     /* numbers are rounded up, with three digits */
};

struct table *table_new(const struct table_column *columns, size_t count);

/* Append a row; the n-th text is the n-th column's. Copies. */
void table_add(struct table *table, const char *const *texts);

/* Whether a file leads to a terminal, where a table may be put differently for people. */
bool table_on_terminal(FILE *file);

/* Of a table that is wider than 80, leave out of files, too, what is the same in all
 * rows.
 */
void table_keep_narrow(struct table *table);

/*
 * Print every row under its titles.
 *
 * On a terminal each column has one unit, below its title, and numbers stand point under
 * point. What is the same in all rows is told once, above the table. A table that is too
 * wide goes on below, with its first columns, as far as they are text, once more. Where
 * the locale has UTF-8, numbers have ± and µs, and names are shown.
 *
 * Files and pipes get cells as they are, in ASCII and in full width.
 */
void table_print(struct table *table, FILE *file);

void table_free(struct table *table);

/* "2.38.1" */
const char *table_library_version(void);

#endif
