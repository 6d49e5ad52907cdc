/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_QUERY_H
#define CT_TIMELINE_QUERY_H

#include <stdbool.h>

#include "base/error.h"
#include "base/options.h"
#include "timeline/reader.h"

/* What formats ask of a timeline: a SELECT, whose rows are handed on one by one. */

/* With a value a parameter. 0; or -1 with error, or where `take` returned other than 0.
 */
int query_rows(struct timeline_reader *timeline, const char *sql,
	       const struct cell *value, timeline_take *take, void *context,
	       struct error *error);

/* The first row's first cell: 1 where there is one and it is an integer, 0, or -1. */
int query_integer(struct timeline_reader *timeline, const char *sql,
		  const struct cell *value, int64_t *integer, struct error *error);

/* Add the texts of the rows' first cells. 0, or -1 with error. */
int query_texts(struct timeline_reader *timeline, const char *sql,
		const struct cell *value, struct text_list *texts, struct error *error);

/* The cell's integer, or this where it has none. */
int64_t cell_integer(const struct cell *cell, int64_t otherwise);

/* A number as a real, NaN where it is none. */
double cell_number(const struct cell *cell);

/* A text, "" where it is none. For free(). */
char *cell_text(const struct cell *cell);

#endif
