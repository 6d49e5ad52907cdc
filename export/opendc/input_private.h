/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_INPUT_PRIVATE_H
#define CT_EXPORT_OPENDC_INPUT_PRIVATE_H

#include "base/bytes.h"
#include "export/csv_read.h"
#include "export/opendc/input.h"
#include "export/parquet/read.h"

/* What the two readers of opendc/input.h share; for nobody else. */
struct opendc_source {
	const struct opendc_column *column; /* NULL: not there, or of no use */
	struct parquet_cursor *cursor;
	const struct parquet_leaf *leaf;
	size_t place; /* of CSV: which field */
};

struct opendc_input {
	char *name, *path;
	struct opendc_table table;
	struct opendc_source source[OPENDC_FIELDS];
	uint64_t row;
	/* Parquet */
	struct parquet_reader *parquet;
	/* CSV */
	struct csv_reader *csv;
	char **header;
	size_t columns, column_room;
	/* Texts of the row, and elements of its lists. */
	struct bytes text;
	struct cell *element;
	size_t elements, element_room;
};

void opendc_take_parquet(struct opendc_input *input, struct report *report);
int opendc_next_parquet(struct opendc_input *input, struct opendc_row *row,
			struct error *error);

int opendc_open_csv(struct opendc_input *input, struct error *error);
void opendc_take_csv(struct opendc_input *input, struct report *report);
int opendc_next_csv(struct opendc_input *input, struct opendc_row *row,
		    struct report *report, struct error *error);

/* Another element of the row's lists; it is in `element` then. */
void opendc_add_element(struct opendc_input *input, const struct cell *cell);

#endif
