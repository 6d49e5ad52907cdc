/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_PRINT_PRIVATE_H
#define CT_ANALYZE_PRINT_PRIVATE_H

#include "analyze/print.h"

void print_tables(const struct question *question, const struct result *result,
		  FILE *file);
void print_csv(const struct question *question, const struct result *result, FILE *file);
void print_json(const struct question *question, const struct result *result, FILE *file);
void print_markdown(const struct question *question, const struct result *result,
		    FILE *file);

/* What stands over a column; with the zone of its times, where the user asked for his.
 * For free(). */
char *print_title(const struct result *result, const struct result_column *column);

/* A cell of a table as people read it; texts are borrowed. */
const char *print_cell_of(char text[PRINT_TEXT], const struct result *result,
			  const struct result_table *table, size_t row, size_t column);

/* Whether --table lets it be printed. */
bool print_wants(const struct result *result, const struct result_table *table);

/* "10 of 1234 rows (see --limit)"; NULL where all are there. For free(). */
char *print_left_out(const struct result_table *table);

#endif
