/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/sink.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/csv_text.h"
#include "export/directory.h"

struct opendc_sink {
	struct opendc_table table;
	char *name; /* of the file */
	FILE *file;
	struct parquet_writer *writer; /* NULL: CSV */
};

static int begin_parquet(struct opendc_sink *sink, struct error *error)
{
	struct parquet_column
	    column[sizeof(sink->table.column) / sizeof(*sink->table.column)];

	for (size_t i = 0; i < sink->table.columns; i++)
		column[i] = sink->table.column[i].parquet;
	sink->writer =
	    parquet_writer_new(sink->file, column, sink->table.columns, NULL, error);
	return sink->writer ? 0 : error_prefix(error, "%s", sink->name);
}

static void put_names(struct opendc_sink *sink)
{
	for (size_t i = 0; i < sink->table.columns; i++) {
		const char *name = sink->table.column[i].parquet.name;

		if (i)
			csv_put_comma(sink->file);
		csv_put_text(sink->file, name, strlen(name));
	}
	csv_put_end(sink->file);
}

struct opendc_sink *opendc_sink_new(const char *directory,
				    const struct opendc_table *table, bool csv,
				    struct error *error)
{
	struct opendc_sink *sink = mem_zalloc(sizeof(*sink));

	sink->table = *table;
	sink->name = mem_printf("%s.%s", table->file, csv ? "csv" : "parquet");
	sink->file = export_create(directory, sink->name, error);
	if (!sink->file || (!csv && begin_parquet(sink, error))) {
		opendc_sink_free(sink);
		return NULL;
	}
	if (csv)
		put_names(sink);
	return sink;
}

void opendc_sink_tell(struct opendc_sink *sink, const char *key, const char *value)
{
	if (sink->writer)
		parquet_add_metadata(sink->writer, key, value);
}

/* "1;2;3": ids have no semicolons. */
static void put_list(FILE *file, const struct parquet_list *list)
{
	for (size_t i = 0; !list->null && i < list->count; i++) {
		if (i)
			putc(';', file);
		if (list->cell[i].type == CELL_INTEGER)
			fprintf(file, "%" PRId64, list->cell[i].integer);
		else
			fwrite(list->cell[i].bytes, 1, list->cell[i].size, file);
	}
}

static int add_csv(struct opendc_sink *sink, const struct cell *cell,
		   const struct parquet_list *list, struct error *error)
{
	for (size_t i = 0; i < sink->table.columns; i++) {
		enum opendc_field field = sink->table.column[i].field;

		if (i)
			csv_put_comma(sink->file);
		if (sink->table.column[i].parquet.list)
			put_list(sink->file, &list[field - OPENDC_PARENTS]);
		else
			csv_put(sink->file, &cell[field]);
	}
	csv_put_end(sink->file);
	return ferror(sink->file) ? error_errno(error, sink->name) : 0;
}

int opendc_sink_add(struct opendc_sink *sink, const struct cell *cell,
		    const struct parquet_list *list, struct error *error)
{
	struct cell row[sizeof(sink->table.column) / sizeof(*sink->table.column)];
	struct parquet_list lists[2], *next = lists;

	if (!sink->writer)
		return add_csv(sink, cell, list, error);
	for (size_t i = 0; i < sink->table.columns; i++) {
		enum opendc_field field = sink->table.column[i].field;

		if (sink->table.column[i].parquet.list)
			*next++ = list[field - OPENDC_PARENTS];
		else
			row[i] = cell[field];
	}
	return parquet_add_row(sink->writer, row, lists, error)
		   ? error_prefix(error, "%s", sink->name)
		   : 0;
}

int opendc_sink_finish(struct opendc_sink *sink, struct error *error)
{
	int status = 0;

	if (sink->writer && parquet_writer_finish(sink->writer, error))
		status = error_prefix(error, "%s", sink->name);
	if (!status) {
		FILE *file = sink->file;

		sink->file = NULL;
		status = export_close(file, sink->name, error);
	}
	opendc_sink_free(sink);
	return status;
}

void opendc_sink_free(struct opendc_sink *sink)
{
	if (!sink)
		return;
	if (sink->file)
		fclose(sink->file);
	parquet_writer_free(sink->writer);
	free(sink->name);
	free(sink);
}
