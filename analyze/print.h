/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_PRINT_H
#define CT_ANALYZE_PRINT_H

#include <stdio.h>

#include "analyze/analysis.h"

enum { PRINT_TEXT = 64 }; /* bytes of a formatted number */

/*
 * Format a cell with its unit: "1.234 ms", "4.0 MiB", "12.5 %", "02:38:57.738293189",
 * with the date if the result spans several days; "-" if unknown. The result is in
 * `text`, or borrowed from a cell of text.
 */
const char *print_human(char text[PRINT_TEXT], const struct result *result,
			const struct cell *cell, enum unit unit);

/* Format a cell for programs; "" if unknown. A double has the digits that restore it. The
 * result is in `text`, or borrowed from a cell of text. */
const char *print_plain(char text[PRINT_TEXT], const struct cell *cell);

/* Return true if numbers of this unit are aligned to the right. */
bool print_is_right(enum unit unit);

/* Print a result in the requested format. CSV prints one table: --table, or the first.
 * The caller checks the stream for errors. */
void print_result(const struct query *query, const struct result *result, FILE *file);

#endif
