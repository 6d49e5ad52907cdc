/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the timeline, or the answer to a question, as comma separated values. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/csv_text.h"
#include "export/formats.h"

struct csv_options {
	char *query;
};

static void *new_options(void)
{
	return mem_zalloc(sizeof(struct csv_options));
}

static size_t option_rows(void *options, struct option_row *row)
{
	struct csv_options *csv = options;

	row[0] = (struct option_row){.name = "query",
				     .kind = OPTION_STRING,
				     .target = &csv->query,
				     .argument = "SQL",
				     .help = "the rows of one SELECT"};
	return 1;
}

static void free_options(void *options)
{
	struct csv_options *csv = options;

	free(csv->query);
	free(csv);
}

static int make_plan(const void *options, const char *output, struct export_plan *plan,
		     struct error *error)
{
	const struct csv_options *csv = options;

	(void)output;
	(void)plan;
	if (!csv->query)
		return error_set(error, "nothing asked, want --query SQL");
	return 0;
}

static void put_names(FILE *file, const struct timeline_query *query)
{
	for (size_t i = 0; i < timeline_query_columns(query); i++) {
		const char *name = timeline_query_name(query, i);

		if (i)
			csv_put_comma(file);
		csv_put_text(file, name, strlen(name));
	}
	csv_put_end(file);
}

static int run(struct export *export, struct error *error)
{
	const struct csv_options *csv = export->options;
	struct timeline_query *query =
	    timeline_query_new(export->timeline, csv->query, error);
	int more = -1;

	if (!query || timeline_query_ask(query, NULL, 0, error))
		goto out;
	put_names(export->file, query);
	while ((more = timeline_query_next(query, error)) > 0) {
		const struct cell *row = timeline_query_row(query);

		for (size_t i = 0; i < timeline_query_columns(query); i++) {
			if (i)
				csv_put_comma(export->file);
			csv_put(export->file, &row[i]);
		}
		csv_put_end(export->file);
		if (ferror(export->file)) {
			more = error_errno(error, export->file_name);
			break;
		}
	}
out:
	timeline_query_free(query);
	return more;
}

const struct export_format export_csv = {
    .name = "csv",
    .summary = "rows of the timeline as comma separated values",
    .usage = "[OPTION...] RUN.db [-o FILE]",
    .options_new = new_options,
    .rows = option_rows,
    .options_free = free_options,
    .plan = make_plan,
    .run = run,
};
