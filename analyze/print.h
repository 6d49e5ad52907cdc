/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_ANALYZE_PRINT_H
#define CT_ANALYZE_PRINT_H

#include <stdio.h>

#include "analyze/question.h"
#include "analyze/result.h"

/* Room for a number as people read it. */
enum { PRINT_TEXT = 64 };

/*
 * A cell with its unit: "1.234 ms", "4.0 MiB", "12.5 %", "02:38:57.738293189"; with the
 * date where the result is not of one day. `text` is for numbers; texts are borrowed.
 * What is not known is "-".
 */
const char *print_human(char text[PRINT_TEXT], const struct result *result,
			const struct cell *cell, enum unit unit);

/* A number as programs read it, "" for what is not known; texts are borrowed. Numbers
 * that are no integers have as many digits as give back the same double. */
const char *print_plain(char text[PRINT_TEXT], const struct cell *cell);

/* Whether a unit's numbers stand right in their column. */
bool print_is_right(enum unit unit);

/*
 * What a result says, in the format asked for. CSV has one table: --table, or the first.
 * A stream's own error is the caller's to find.
 */
void print_result(const struct question *question, const struct result *result,
		  FILE *file);

/* A text as a JSON string with its quotes. What is no UTF-8 becomes U+FFFD. */
void print_json_text(FILE *file, const char *text, size_t size);

#endif
