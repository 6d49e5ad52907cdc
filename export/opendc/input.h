/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_INPUT_H
#define CT_EXPORT_OPENDC_INPUT_H

#include "base/error.h"
#include "export/opendc/report.h"
#include "export/opendc/schema.h"

/* A table of a workload trace while it is read, Parquet or CSV. */
struct opendc_input;

/* DIR/STEM.parquet, or .csv. NULL with error; `missing` says whether there is neither. */
struct opendc_input *opendc_input_open(const char *directory, const char *stem,
				       bool *missing, struct error *error);

const char *opendc_input_name(const struct opendc_input *input); /* of the file */
bool opendc_input_is_csv(const struct opendc_input *input);

/* Whether it has a column of this name, and whether that is one of texts. */
bool opendc_input_has(const struct opendc_input *input, const char *name, bool *text);

/*
 * Take these columns: check that all that OpenDC wants are there, of their types and
 * REQUIRED, and tell what is not so. Those of no use are left out of the rows.
 */
void opendc_input_take(struct opendc_input *input, const struct opendc_table *table,
		       struct report *report);

/* Whether a field's column is there and was taken. */
bool opendc_input_took(const struct opendc_input *input, enum opendc_field field);

/* The name of a column that was taken. */
const char *opendc_input_column(const struct opendc_input *input,
				enum opendc_field field);

struct opendc_row {
	uint64_t number;                 /* from 1; of CSV the line */
	struct cell cell[OPENDC_FIELDS]; /* good until the next row */
	struct parquet_list list[2];     /* parents, children */
};

/* The next row: 1, or 0 at the end, or -1 with error. */
int opendc_input_next(struct opendc_input *input, struct opendc_row *row,
		      struct report *report, struct error *error);

void opendc_input_free(struct opendc_input *input);

#endif
