/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tables/csv_text.h"
#include "tables/directory.h"

/* A column, in which versions of the schema it is, and as what. */
struct form {
	enum opendc_field field;
	int first, last;
	struct parquet_column column;
};

#define TEXT(word, ...)                                                                  \
	{                                                                                \
		.name = word, .type = PARQUET_BYTE_ARRAY, .logical = PARQUET_STRING,     \
		##__VA_ARGS__                                                            \
	}
#define TIME(word)                                                                       \
	{                                                                                \
		.name = word, .type = PARQUET_INT64, .logical = PARQUET_TIMESTAMP_MILLIS \
	}
#define NUMBER(word, kind, ...)                                                          \
	{                                                                                \
		.name = word, .type = PARQUET_##kind, ##__VA_ARGS__                      \
	}
#define OPTIONAL .optional = true
#define LIST     .optional = true, .list = true, .optional_elements = true

/* As the readers of OpenDC ask for them; docs/opendc.md says which release reads which.
 */
static const struct form task_forms[] = {
    {OPENDC_ID, 1, 3, TEXT("id")},
    {OPENDC_ID, 4, 5, NUMBER("id", INT32)},
    {OPENDC_NAME, 4, 5, TEXT("name", OPTIONAL)},
    {OPENDC_SUBMISSION, 1, 1, TIME("start_time")},
    {OPENDC_SUBMISSION, 2, 5, TIME("submission_time")},
    {OPENDC_STOP, 1, 1, TIME("stop_time")},
    {OPENDC_DURATION, 2, 5, NUMBER("duration", INT64)},
    {OPENDC_CPU_COUNT, 1, 5, NUMBER("cpu_count", INT32)},
    {OPENDC_CPU_CAPACITY, 1, 5, NUMBER("cpu_capacity", DOUBLE)},
    {OPENDC_MEM_CAPACITY, 1, 5, NUMBER("mem_capacity", INT64)},
    {OPENDC_GPU_COUNT, 3, 5, NUMBER("gpu_count", INT32, OPTIONAL)},
    {OPENDC_GPU_CAPACITY, 3, 5, NUMBER("gpu_capacity", DOUBLE, OPTIONAL)},
    {OPENDC_PARENTS, 3, 3, TEXT("parents", LIST)},
    {OPENDC_PARENTS, 4, 5, NUMBER("parents", INT32, LIST)},
    {OPENDC_CHILDREN, 3, 3, TEXT("children", LIST)},
    {OPENDC_CHILDREN, 4, 5, NUMBER("children", INT32, LIST)},
    {OPENDC_NATURE, 3, 4, TEXT("nature", OPTIONAL)},
    {OPENDC_DEFERRABLE, 5, 5, NUMBER("deferrable", BOOLEAN, OPTIONAL)},
    {OPENDC_DEADLINE, 3, 5, NUMBER("deadline", INT64, OPTIONAL)},
    {OPENDC_NODE, 1, 5, TEXT("node", OPTIONAL)},
};

static const struct form fragment_forms[] = {
    {OPENDC_ID, 1, 3, TEXT("id")},
    {OPENDC_ID, 4, 5, NUMBER("id", INT32)},
    {OPENDC_TIMESTAMP, 1, 1, TIME("timestamp")},
    {OPENDC_DURATION, 1, 5, NUMBER("duration", INT64)},
    {OPENDC_CPU_COUNT, 1, 3, NUMBER("cpu_count", INT32)},
    {OPENDC_CPU_USAGE, 1, 5, NUMBER("cpu_usage", DOUBLE)},
    {OPENDC_GPU_USAGE, 3, 5, NUMBER("gpu_usage", DOUBLE, OPTIONAL)},
};

static struct opendc_table make_table(const char *file, int schema,
				      const struct form *form, size_t forms)
{
	struct opendc_table table = {.file = file};

	for (size_t i = 0; i < forms; i++)
		if (schema >= form[i].first && schema <= form[i].last)
			table.column[table.columns++] =
			    (struct opendc_column){form[i].field, form[i].column};
	return table;
}

struct opendc_table opendc_tasks_table(int schema)
{
	return make_table(schema == 1 ? "trace/meta" : "tasks", schema, task_forms,
			  sizeof(task_forms) / sizeof(*task_forms));
}

struct opendc_table opendc_fragments_table(int schema)
{
	return make_table(schema == 1 ? "trace/trace" : "fragments", schema,
			  fragment_forms,
			  sizeof(fragment_forms) / sizeof(*fragment_forms));
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
