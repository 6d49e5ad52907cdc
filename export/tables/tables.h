/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_TABLES_TABLES_H
#define CT_EXPORT_TABLES_TABLES_H

#include "export/format.h"
#include "export/tables/table_file.h"

/*
 * What the formats of rows share, csv and parquet: which tables of the timeline are
 * asked for, and how their rows come into files. All tables go to a directory, one table
 * or SELECT to a file, and what is partitioned to a directory again (dataset.h).
 */
struct tables_options {
	char *query;
	struct text_list tables, partition;
	char *timestamps;
	int jobs;
};

enum { TABLES_ROWS = 5 };

/* Their rows; `timestamps` is the help of --timestamps. Returns TABLES_ROWS. */
size_t tables_rows(struct tables_options *options, struct option_row *row,
		   const char *timestamps_argument, const char *timestamps_help);

void tables_options_clear(struct tables_options *options);

/* What they say together; fills the plan's target. -1 with error is misuse. */
int tables_plan(const struct tables_options *options, struct export_plan *plan,
		struct error *error);

/* Write what is asked for. 0, or -1 with error. */
int tables_run(struct export *export, const struct tables_options *options,
	       const struct table_style *style, struct error *error);

#endif
