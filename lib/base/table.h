/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_BASE_TABLE_H
#define CT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A table of aligned columns. */
struct table;

/* One of the units in which a column of numbers can be shown. Lists start with the
 * largest and end with a NULL name. */
struct table_unit {
	double size; /* in terms of the smallest, which has 1 */
	const char *name;
};

extern const struct table_unit table_spans[];       /* ns */
extern const struct table_unit table_sizes[];       /* bytes */
extern const struct table_unit table_byte_rates[];  /* bytes/s */
extern const struct table_unit table_frequencies[]; /* Hz */

struct table_column {
	const char *title;
	bool right; /* align right, for numbers */
	/* For tables on a terminal only. */
	const struct table_unit *units; /* to choose from; the cells must be numbers of
					 * the smallest: "5406123", "+-77", "-8/+4".
					 * NULL: print cells unchanged */
	const char *unit;               /* a fixed unit such as "UTC", or NULL */
	double resolution; /* precision of numbers; 0: three or four digits */
	bool is_bound;     /* round numbers up, to three digits */
};

struct table *table_new(const struct table_column *columns, size_t count);

/* Append a row: one string for each column, NULL for an empty cell. Copies them. */
void table_add(struct table *table, const char *const *texts);

/* Return true if the file is a terminal of known width. */
bool table_on_terminal(FILE *file);

/* If the table is wider than 80 characters, print columns with equal cells only once also
 * in files. */
void table_keep_narrow(struct table *table);

/*
 * Print the table.
 *
 * On a terminal each column has one unit, below its title, and decimal points are
 * aligned. Columns with equal cells are printed once, above the table. Columns beyond the
 * terminal's width follow below, together with the first columns that contain text. In a
 * UTF-8 locale "+-" and "us" become "±" and "µs", and names are not escaped.
 *
 * Files and pipes get the cells unchanged, in ASCII and in full width.
 */
void table_print(struct table *table, FILE *file);

void table_free(struct table *table);

#endif
