/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the timeline, or rows of a question, as comma separated values. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/formats.h"
#include "export/tables/tables.h"

struct csv_options {
	struct tables_options tables;
};

static void *new_options(void)
{
	return mem_zalloc(sizeof(struct csv_options));
}

static size_t option_rows(void *options, struct option_row *row)
{
	struct csv_options *csv = options;

	return tables_rows(
	    &csv->tables, row, "ns|iso",
	    "instants as nanoseconds since the epoch (default) or ISO 8601");
}

static void free_options(void *options)
{
	struct csv_options *csv = options;

	tables_options_clear(&csv->tables);
	free(csv);
}

static int make_plan(const void *options, const char *output, struct export_plan *plan,
		     struct error *error)
{
	const struct csv_options *csv = options;
	const char *timestamps = csv->tables.timestamps;

	(void)output;
	if (timestamps && strcmp(timestamps, "ns") != 0 && strcmp(timestamps, "iso") != 0)
		return error_set(error, "--timestamps: '%s', want ns or iso", timestamps);
	return tables_plan(&csv->tables, plan, error);
}

static int run(struct export *export, struct error *error)
{
	const struct csv_options *csv = export->options;
	const char *timestamps = csv->tables.timestamps;
	const struct table_style style = {
	    .timestamps = timestamps && strcmp(timestamps, "iso") == 0,
	    .extension = "csv",
	};

	return tables_run(export, &csv->tables, &style, error);
}

const struct export_format export_csv = {
    .name = "csv",
    .summary = "tables of the timeline, or a SELECT, as CSV",
    .usage = "[OPTION...] RUN.db [-o FILE | -o DIR]",
    .options_new = new_options,
    .rows = option_rows,
    .options_free = free_options,
    .plan = make_plan,
    .run = run,
};
