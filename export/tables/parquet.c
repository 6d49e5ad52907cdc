/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of the timeline, or rows of a question, as Parquet. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/formats.h"
#include "export/tables/tables.h"

struct parquet_options {
	struct tables_options tables;
	char *codec;
	int level, group_rows;
};

static const struct {
	const char *name;
	enum parquet_codec codec;
} codecs[] = {
    {"zstd", PARQUET_ZSTD}, {"snappy", PARQUET_SNAPPY}, {"none", PARQUET_UNCOMPRESSED}};

static void *new_options(void)
{
	return mem_zalloc(sizeof(struct parquet_options));
}

static size_t option_rows(void *options, struct option_row *row)
{
	struct parquet_options *parquet = options;
	size_t count = tables_rows(&parquet->tables, row, "ns|utc",
				   "instants as INT64 of nanoseconds since the epoch "
				   "(default), or marked as timestamps in UTC");

	row[count++] = (struct option_row){.name = "codec",
					   .kind = OPTION_STRING,
					   .target = &parquet->codec,
					   .argument = "zstd|snappy|none",
					   .help = "compression (default: zstd)"};
	row[count++] = (struct option_row){.name = "level",
					   .kind = OPTION_INT,
					   .target = &parquet->level,
					   .argument = "N",
					   .help = "of zstd, 1 to 19 (default: 1)",
					   .least = 1,
					   .most = 19};
	row[count++] = (struct option_row){.name = "row-group",
					   .kind = OPTION_INT,
					   .target = &parquet->group_rows,
					   .argument = "ROWS",
					   .help = "most rows of a row group (default: "
						   "1048576)",
					   .least = 1,
					   .most = 1 << 30};
	return count;
}

static void free_options(void *options)
{
	struct parquet_options *parquet = options;

	tables_options_clear(&parquet->tables);
	free(parquet->codec);
	free(parquet);
}

static int codec_of(const char *name, enum parquet_codec *codec)
{
	*codec = PARQUET_ZSTD;
	if (!name)
		return 0;
	for (size_t i = 0; i < sizeof(codecs) / sizeof(*codecs); i++) {
		if (strcmp(codecs[i].name, name) == 0) {
			*codec = codecs[i].codec;
			return 0;
		}
	}
	return -1;
}

static int make_plan(const void *options, const char *output, struct export_plan *plan,
		     struct error *error)
{
	const struct parquet_options *parquet = options;
	const char *timestamps = parquet->tables.timestamps;
	enum parquet_codec codec;

	(void)output;
	if (timestamps && strcmp(timestamps, "ns") != 0 && strcmp(timestamps, "utc") != 0)
		return error_set(error, "--timestamps: '%s', want ns or utc", timestamps);
	if (codec_of(parquet->codec, &codec))
		return error_set(error, "--codec: '%s', want zstd, snappy or none",
				 parquet->codec);
	if (parquet->level && codec != PARQUET_ZSTD)
		return error_set(error, "--level wants --codec zstd");
	plan->binary = true;
	return tables_plan(&parquet->tables, plan, error);
}

static int run(struct export *export, struct error *error)
{
	const struct parquet_options *parquet = export->options;
	const char *timestamps = parquet->tables.timestamps;
	struct table_style style = {
	    .parquet = true,
	    .timestamps = timestamps && strcmp(timestamps, "utc") == 0,
	    .settings = {.level = parquet->level,
			 .group_rows = (uint64_t)parquet->group_rows},
	    .extension = "parquet",
	};

	codec_of(parquet->codec, &style.settings.codec);
	return tables_run(export, &parquet->tables, &style, error);
}

const struct export_format export_parquet = {
    .name = "parquet",
    .summary = "tables of the timeline, or a SELECT, as Parquet",
    .usage = "[OPTION...] RUN.db [-o FILE | -o DIR]",
    .options_new = new_options,
    .rows = option_rows,
    .options_free = free_options,
    .plan = make_plan,
    .run = run,
};
