/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/opendc/opendc.h"
#include "parquet/parquet.h"
#include "tables/csv_text.h"
#include "tables/directory.h"
#include "timeline/query.h"

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

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

enum { LISTS = 2 };

struct opendc_file {
	char *name;
	FILE *file;
	struct parquet_writer *writer; /* NULL: CSV */
	size_t columns;
	enum opendc_field field[COUNT(task_forms)];
	struct parquet_column column[COUNT(task_forms)];
	struct cell *element[LISTS]; /* scratch */
	size_t room[LISTS];
};

static void put_names(struct opendc_file *file)
{
	for (size_t i = 0; i < file->columns; i++) {
		const char *name = file->column[i].name;

		if (i)
			csv_put_comma(file->file);
		csv_put_text(file->file, name, strlen(name));
	}
	csv_put_end(file->file);
}

static int begin(struct opendc_file *file, bool csv, struct error *error)
{
	if (csv) {
		put_names(file);
		return 0;
	}
	file->writer =
	    parquet_writer_new(file->file, file->column, file->columns, NULL, error);
	return file->writer ? 0 : error_prefix(error, "%s", file->name);
}

struct opendc_file *opendc_file_new(const char *directory, enum opendc_table table,
				    int schema, bool csv, struct error *error)
{
	static const char *const names[][2] = {{"tasks", "fragments"},
					       {"trace/meta", "trace/trace"}};
	const struct form *form = table == OPENDC_TASKS ? task_forms : fragment_forms;
	size_t forms = table == OPENDC_TASKS ? COUNT(task_forms) : COUNT(fragment_forms);
	struct opendc_file *file = mem_zalloc(sizeof(*file));

	for (size_t i = 0; i < forms; i++)
		if (schema >= form[i].first && schema <= form[i].last) {
			file->field[file->columns] = form[i].field;
			file->column[file->columns++] = form[i].column;
		}
	file->name =
	    mem_printf("%s.%s", names[schema == 1][table], csv ? "csv" : "parquet");
	file->file = export_create(directory, file->name, error);
	if (file->file && !begin(file, csv, error))
		return file;
	opendc_file_free(file);
	return NULL;
}

void opendc_file_tell(struct opendc_file *file, const char *key, const char *value)
{
	if (file->writer)
		parquet_add_metadata(file->writer, key, value);
}

/* The elements of "1;2;3", as texts or integers. */
static struct parquet_list list_of(struct opendc_file *file, size_t list,
				   const struct cell *text, bool texts)
{
	bool any = text->type == CELL_TEXT;
	const char *at = any ? text->bytes : "", *end = at + (any ? text->size : 0);
	const char *next;
	size_t count = 0;

	for (; at < end; at = next + 1) {
		struct cell *cell;

		next = memchr(at, ';', (size_t)(end - at));
		next = next ? next : end;
		file->element[list] = mem_grow(file->element[list], count,
					       &file->room[list], sizeof(*cell));
		cell = &file->element[list][count++];
		if (texts)
			cell_set_bytes(cell, CELL_TEXT, at, (size_t)(next - at));
		else
			*cell = cell_of_integer(strtoll(at, NULL, 10));
	}
	return (struct parquet_list){.cell = file->element[list], .count = count};
}

static int add_csv(struct opendc_file *file, const struct cell *cell, struct error *error)
{
	for (size_t i = 0; i < file->columns; i++) {
		if (i)
			csv_put_comma(file->file);
		csv_put(file->file, &cell[file->field[i]]);
	}
	csv_put_end(file->file);
	return ferror(file->file) ? error_errno(error, file->name) : 0;
}

int opendc_file_add(struct opendc_file *file, const struct cell *cell,
		    struct error *error)
{
	struct cell row[COUNT(task_forms)];
	struct parquet_list list[LISTS];
	char id[24];
	size_t lists = 0;

	if (!file->writer)
		return add_csv(file, cell, error);
	for (size_t i = 0; i < file->columns; i++) {
		const struct parquet_column *column = &file->column[i];
		const struct cell *value = &cell[file->field[i]];
		bool text = column->type == PARQUET_BYTE_ARRAY;

		if (column->list) {
			list[lists] = list_of(file, lists, value, text);
			lists++;
		} else if (text && value->type == CELL_INTEGER) {
			snprintf(id, sizeof(id), "%" PRId64, value->integer);
			cell_set_bytes(&row[i], CELL_TEXT, id, strlen(id));
		} else {
			row[i] = *value;
		}
	}
	return parquet_add_row(file->writer, row, list, error)
		   ? error_prefix(error, "%s", file->name)
		   : 0;
}

int opendc_file_finish(struct opendc_file *file, struct error *error)
{
	int status = 0;

	if (file->writer && parquet_writer_finish(file->writer, error))
		status = error_prefix(error, "%s", file->name);
	if (!status) {
		FILE *written = file->file;

		file->file = NULL;
		status = export_close(written, file->name, error);
	}
	opendc_file_free(file);
	return status;
}

void opendc_file_free(struct opendc_file *file)
{
	if (!file)
		return;
	if (file->file)
		fclose(file->file);
	parquet_writer_free(file->writer);
	for (size_t i = 0; i < LISTS; i++)
		free(file->element[i]);
	free(file->name);
	free(file);
}
