/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tables/csv_text.h"
#include "tables/directory.h"

/* As the readers of OpenDC ask for them; docs/opendc.md says which release reads which.
 */
static void add(struct opendc_table *table, enum opendc_field field, const char *name,
		enum parquet_type type, bool wanted)
{
	table->column[table->columns++] = (struct opendc_column){
	    .field = field, .parquet = {.name = name, .type = type, .optional = !wanted}};
}

static void add_logical(struct opendc_table *table, enum opendc_field field,
			const char *name, enum parquet_logical logical, bool wanted)
{
	enum parquet_type type =
	    logical == PARQUET_STRING ? PARQUET_BYTE_ARRAY : PARQUET_INT64;

	add(table, field, name, type, wanted);
	table->column[table->columns - 1].parquet.logical = logical;
}

static void add_list(struct opendc_table *table, enum opendc_field field,
		     const char *name, bool text)
{
	struct parquet_column *column;

	if (text)
		add_logical(table, field, name, PARQUET_STRING, false);
	else
		add(table, field, name, PARQUET_INT32, false);
	column = &table->column[table->columns - 1].parquet;
	column->list = column->optional_elements = true;
}

static void add_id(struct opendc_table *table, int schema)
{
	if (schema <= 3)
		add_logical(table, OPENDC_ID, "id", PARQUET_STRING, true);
	else
		add(table, OPENDC_ID, "id", PARQUET_INT32, true);
}

static void add_times(struct opendc_table *table, int schema)
{
	add_logical(table, OPENDC_SUBMISSION,
		    schema == 1 ? "start_time" : "submission_time",
		    PARQUET_TIMESTAMP_MILLIS, true);
	if (schema == 1)
		add_logical(table, OPENDC_STOP, "stop_time", PARQUET_TIMESTAMP_MILLIS,
			    true);
	else
		add(table, OPENDC_DURATION, "duration", PARQUET_INT64, true);
}

static void add_relations(struct opendc_table *table, int schema)
{
	add(table, OPENDC_GPU_COUNT, "gpu_count", PARQUET_INT32, false);
	add(table, OPENDC_GPU_CAPACITY, "gpu_capacity", PARQUET_DOUBLE, false);
	add_list(table, OPENDC_PARENTS, "parents", schema == 3);
	add_list(table, OPENDC_CHILDREN, "children", schema == 3);
	if (schema <= 4)
		add_logical(table, OPENDC_NATURE, "nature", PARQUET_STRING, false);
	else
		add(table, OPENDC_DEFERRABLE, "deferrable", PARQUET_BOOLEAN, false);
	add(table, OPENDC_DEADLINE, "deadline", PARQUET_INT64, false);
}

struct opendc_table opendc_tasks_table(int schema)
{
	struct opendc_table table = {.file = schema == 1 ? "trace/meta" : "tasks"};

	add_id(&table, schema);
	if (schema >= 4)
		add_logical(&table, OPENDC_NAME, "name", PARQUET_STRING, false);
	add_times(&table, schema);
	add(&table, OPENDC_CPU_COUNT, "cpu_count", PARQUET_INT32, true);
	add(&table, OPENDC_CPU_CAPACITY, "cpu_capacity", PARQUET_DOUBLE, true);
	add(&table, OPENDC_MEM_CAPACITY, "mem_capacity", PARQUET_INT64, true);
	if (schema >= 3)
		add_relations(&table, schema);
	add_logical(&table, OPENDC_NODE, "node", PARQUET_STRING, false);
	return table;
}

struct opendc_table opendc_fragments_table(int schema)
{
	struct opendc_table table = {.file = schema == 1 ? "trace/trace" : "fragments"};

	add_id(&table, schema);
	if (schema == 1)
		add_logical(&table, OPENDC_TIMESTAMP, "timestamp",
			    PARQUET_TIMESTAMP_MILLIS, true);
	add(&table, OPENDC_DURATION, "duration", PARQUET_INT64, true);
	if (schema <= 3)
		add(&table, OPENDC_CPU_COUNT, "cpu_count", PARQUET_INT32, true);
	add(&table, OPENDC_CPU_USAGE, "cpu_usage", PARQUET_DOUBLE, true);
	if (schema >= 3)
		add(&table, OPENDC_GPU_USAGE, "gpu_usage", PARQUET_DOUBLE, false);
	return table;
}

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
