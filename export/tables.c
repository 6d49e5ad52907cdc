/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/names.h"
#include "export/format.h"
#include "tables/dataset.h"
#include "tables/table_query.h"
#include "tables/table_write.h"
#include "timeline/reader.h"

/* The part that the formats csv and parquet share: selecting tables and writing their
 * rows. All tables go to a directory, one table or SELECT to a file, and partitioned ones
 * to a directory (tables.h). */
static struct {
	char *query;
	struct text_list tables, partition;
	int timestamps; /* 1: not as nanoseconds */
	int jobs;
	int codec, level, group_rows; /* Parquet's */
} options;

/* Files that are open at a time in a dataset of any keys. */
enum { MOST_OPEN = 32 };

/* Limit of what a dataset's open files hold in memory. */
#define GROUPS_BYTES ((size_t)128 << 20)

static int check_keys(struct error *error)
{
	const struct text_list *keys = &options.partition;
	bool of_events = !options.query && !options.tables.count;

	for (size_t i = 0; i < keys->count; i++) {
		if (of_events && strcmp(keys->item[i], "node") != 0 &&
		    strcmp(keys->item[i], "class") != 0)
			return error_misuse(error,
					    "--partition: invalid key of events '%s' "
					    "(expected node or class)",
					    keys->item[i]);
		for (size_t j = 0; j < i; j++)
			if (strcasecmp(keys->item[i], keys->item[j]) == 0)
				return error_misuse(error,
						    "--partition: duplicate key '%s'",
						    keys->item[i]);
	}
	return 0;
}

static int plan_tables(const char *output, struct export_plan *plan, struct error *error)
{
	(void)output;
	if (options.query && options.tables.count)
		return error_misuse(error, "--query and --table cannot be used together");
	if (options.partition.count && options.tables.count > 1)
		return error_misuse(error, "--partition requires a single --table");
	plan->target =
	    !options.partition.count && (options.query || options.tables.count == 1)
		? EXPORT_TO_FILE
		: EXPORT_TO_DIRECTORY;
	return check_keys(error);
}

/* A table to a file of its own name in the directory. */
static int add_table(struct table_work *work, struct export *export, const char *name,
		     struct error *error)
{
	struct table_query *query =
	    table_query_of_table(export->timeline, &export->scope, name, error);
	struct table_job *job;
	char *file;

	if (!query)
		return -1;
	file = file_name_escape(name, strlen(name));
	job = table_work_add(work, query);
	job->name = mem_printf("%s.%s", file, table_extension(work->style));
	free(file);
	return 0;
}

static int add_tables(struct table_work *work, struct export *export, struct error *error)
{
	struct text_list all = {0};
	const struct text_list *names = options.tables.count ? &options.tables : &all;
	int status = 0;

	if (!options.tables.count)
		status = table_query_list_tables(export->timeline, &all, error);
	for (size_t i = 0; i < names->count && !status; i++)
		status = add_table(work, export, names->item[i], error);
	text_list_clear(&all);
	return status;
}

static struct table_query *open_query(struct export *export, struct error *error)
{
	if (!options.query)
		return table_query_of_table(export->timeline, &export->scope,
					    options.tables.item[0], error);
	if (!export->scope.all_time || !export->scope.all_nodes) {
		error_misuse(error,
			     "--query cannot be used with --begin, --end or --node");
		return NULL;
	}
	return table_query_of_query(export->timeline, options.query, error);
}

/* Mark the query's columns that are keys. The key `class` need not be a column. */
static int set_keys(struct table_job *job, struct error *error)
{
	const struct text_list *keys = &options.partition;
	struct table_query *query = job->wanted;

	job->key = mem_zalloc(keys->count * sizeof(*job->key));
	job->keys = keys->count;
	for (size_t k = 0; k < keys->count; k++) {
		struct dataset_key *key = &job->key[k];
		size_t at = 0;

		key->name = keys->item[k];
		if (query->class && strcmp(key->name, "class") == 0) {
			key->text = query->class;
			continue;
		}
		while (at < query->columns &&
		       strcmp(query->column[at].name, key->name) != 0)
			at++;
		if (at == query->columns)
			return error_misuse(error, "--partition: unknown column '%s'",
					    key->name);
		query->column[at].is_key = true;
		key->column = at;
	}
	for (size_t i = 0; i < query->columns; i++)
		if (!query->column[i].is_key)
			return 0;
	return error_misuse(error,
			    "--partition: all columns are keys; leave one for the files");
}

/* Add a job for each class, with its fields, or a single one if fields cannot be written.
 */
static int add_events(struct table_work *work, struct export *export, struct error *error)
{
	const struct text_list *keys = &options.partition;
	bool by_class = text_list_has(keys, "class");
	int64_t classes = 0, bare = 0;
	size_t nodes = export->scope.nodes ? export->scope.nodes : 1;

	if (query_integer(export->timeline, "SELECT max(id) FROM event_class", NULL,
			  &classes, error) < 0 ||
	    query_integer(export->timeline,
			  "SELECT count(*) FROM event_class WHERE table_name IS NULL",
			  NULL, &bare, error) < 0)
		return -1;
	for (int64_t id = by_class && !bare; id <= (by_class && !bare ? classes : 0);
	     id++) {
		struct table_query *query = table_query_of_events(
		    export->timeline, &export->scope, id, keys, error);
		struct table_job *job;

		if (!query)
			return -1;
		job = table_work_add(work, query);
		job->most_files = id && nodes < MOST_OPEN ? nodes : MOST_OPEN;
		if (set_keys(job, error))
			return -1;
	}
	return 0;
}

static int add_all(struct table_work *work, struct export *export, struct error *error)
{
	struct table_query *query;
	struct table_job *job;

	if (options.partition.count && !options.query && !options.tables.count)
		return add_events(work, export, error);
	if (!options.partition.count && export->directory)
		return add_tables(work, export, error);
	query = open_query(export, error);
	if (!query)
		return -1;
	job = table_work_add(work, query);
	if (options.partition.count) {
		job->most_files = MOST_OPEN;
		return set_keys(job, error);
	}
	job->name = mem_strdup(export->file_name);
	job->file = export->file;
	return 0;
}

/* Files that are open at a time share the memory of row groups. */
static void share_memory(const struct table_work *work, struct table_style *style)
{
	size_t most = 1;

	for (size_t i = 0; i < work->jobs; i++)
		if (work->job[i].most_files > most)
			most = work->job[i].most_files;
	most *= work->threads > 2 ? (size_t)work->threads : 2;
	if (!style->settings.group_bytes)
		style->settings.group_bytes = GROUPS_BYTES / most;
}

static int run_tables(struct export *export, struct table_style style,
		      struct error *error)
{
	struct table_work work = {.timeline = export->path,
				  .scope = &export->scope,
				  .directory = export->directory,
				  .progress = &export->progress,
				  .style = &style};
	int status;

	style.timestamps = options.timestamps;
	status = add_all(&work, export, error);
	if (!status) {
		table_work_plan(&work, options.jobs);
		share_memory(&work, &style);
		status = table_work_run(&work, error);
	}
	if (!status && work.mended)
		problem_add(&export->notes, export->path, PROBLEM_TEXT, work.mended,
			    "%llu texts are not UTF-8, U+FFFD replaces invalid bytes",
			    (unsigned long long)work.mended);
	if (!status && options.partition.count && !work.rows)
		problem_add(&export->notes, export->output, PROBLEM_EMPTY, 1,
			    "no row, so no file");
	table_work_clear(&work);
	return status;
}

/* The options of both. */
#define TABLE                                                                            \
	0, "table", OPTION_LIST, &options.tables, "NAME",                                \
	    "only this table or view; may be repeated", 0, 0
#define QUERY                                                                            \
	0, "query", OPTION_STRING, &options.query, "SQL", "the rows of this SELECT", 0, 0
#define PARTITION                                                                        \
	0, "partition", OPTION_WORDS, &options.partition, "KEY,...",                     \
	    "divide events into directories KEY=VALUE by node, class or both, "          \
	    "or one table or SELECT by its columns",                                     \
	    0, 0
#define JOBS                                                                             \
	'j', "jobs", OPTION_INT, &options.jobs, "N",                                     \
	    "work with N threads (default: the number of processors)", 1, 256

static const struct option_row csv_rows[] = {
    {TABLE},
    {QUERY},
    {PARTITION},
    {0, "timestamps", OPTION_WORD, &options.timestamps, "ns|iso",
     "times as nanoseconds since the epoch (default) or in ISO 8601", 0, 0},
    {JOBS},
    {0},
};

static const struct option_row parquet_rows[] = {
    {TABLE},
    {QUERY},
    {PARTITION},
    {0, "timestamps", OPTION_WORD, &options.timestamps, "ns|utc",
     "times as INT64 nanoseconds since the epoch (default), or declared as timestamps in "
     "UTC",
     0, 0},
    {JOBS},
    {0, "codec", OPTION_WORD, &options.codec, "zstd|snappy|none",
     "compression (default: zstd)", 0, 0},
    {0, "level", OPTION_INT, &options.level, "N",
     "compression level of zstd, 1 to 19 (default: 1)", 1, 19},
    {0, "row-group", OPTION_INT, &options.group_rows, "ROWS",
     "rows per row group, at most (default: 1048576)", 1, 1 << 30},
    {0},
};

static int run_csv(struct export *export, struct error *error)
{
	return run_tables(export, (struct table_style){0}, error);
}

const struct export_format export_csv = {
    .name = "csv",
    .summary = "tables of the timeline, or a SELECT, as CSV",
    .usage = "[OPTION...] RUN.db [-o FILE | -o DIR]",
    .rows = csv_rows,
    .plan = plan_tables,
    .run = run_csv,
};

/* In the order of their words. */
static const enum parquet_codec codecs[] = {PARQUET_ZSTD, PARQUET_SNAPPY,
					    PARQUET_UNCOMPRESSED};

static int plan_parquet(const char *output, struct export_plan *plan, struct error *error)
{
	if (options.level && codecs[options.codec] != PARQUET_ZSTD)
		return error_misuse(error, "--level requires --codec zstd");
	plan->binary = true;
	return plan_tables(output, plan, error);
}

static int run_parquet(struct export *export, struct error *error)
{
	const struct table_style style = {
	    .parquet = true,
	    .settings = {.codec = codecs[options.codec],
			 .level = options.level,
			 .group_rows = (uint64_t)options.group_rows},
	};

	return run_tables(export, style, error);
}

const struct export_format export_parquet = {
    .name = "parquet",
    .summary = "tables of the timeline, or a SELECT, as Parquet",
    .usage = "[OPTION...] RUN.db [-o FILE | -o DIR]",
    .rows = parquet_rows,
    .plan = plan_parquet,
    .run = run_parquet,
};
