/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/event_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/utf8.h"
#include "tables/table_write.h"
#include "timeline/names.h"

const struct output_kind event_files_directory = {
    OUTPUT_OURS, ".ctmerge-events", "one that ctmerge --parquet made, or a new directory",
    true, NULL};

/* Bytes of a row group in memory; a file has one at a time. */
enum { GROUP_BYTES = 2 << 20 };

static const struct table_style style = {.parquet = true,
					 .settings = {.codec = PARQUET_UNCOMPRESSED,
						      .plain = true,
						      .group_bytes = GROUP_BYTES}};

/* A table and its file. */
struct event_file {
	struct table_query query;
	struct table_job job;
	struct table_sink *sink; /* NULL: it is not written */
	const char *kind;        /* an event class, with its name */
	char *class;
	int64_t rows;
	struct cell *row; /* id and fields */
};

struct event_files {
	struct table_work work; /* the style and the place of the files */
	struct event_file *event;
	struct event_file **file; /* by class id, from 1 */
	size_t count, capacity;
	struct texts keys; /* kind, name and columns of each */
	struct name_set names;
	bool payload; /* write the fields */
	uint64_t mended;
};

/* The columns of the timeline's own tables, by their names in schema.sql. */
struct own_column {
	const char *name;
	enum cell_type type;
	bool required;
};

static const struct own_column event_columns[] = {
    {"id", CELL_INTEGER, true},    {"ts_ns", CELL_INTEGER, true},
    {"node", CELL_INTEGER, true},  {"cpu", CELL_INTEGER, false},
    {"tid", CELL_INTEGER, false},  {"class", CELL_INTEGER, true},
    {"source", CELL_INTEGER, true}};
static const struct own_column node_columns[] = {{"id", CELL_INTEGER, true},
						 {"name", CELL_TEXT, true}};
static const struct own_column class_columns[] = {{"id", CELL_INTEGER, true},
						  {"kind", CELL_TEXT, true},
						  {"name", CELL_TEXT, true},
						  {"table_name", CELL_TEXT, false},
						  {"events", CELL_INTEGER, true}};

/* Take ownership of the name. */
static void add_column(struct event_file *file, char *name, enum cell_type type,
		       bool required)
{
	file->query.column[file->query.columns++] = (struct table_query_column){
	    .name = name,
	    .type = type == CELL_NULL ? CELL_TEXT : type,
	    .required = required,
	    .mixed = type == CELL_NULL || type == CELL_TEXT,
	};
}

/* Take ownership of the name. */
static struct event_file *new_file(char *name, size_t columns)
{
	struct event_file *file = mem_zalloc(sizeof(*file));
	AUTOFREE char *escaped = file_name_escape(name, strlen(name));

	file->query.name = name;
	file->query.column = mem_alloc(columns * sizeof(*file->query.column));
	file->row = mem_alloc(columns * sizeof(*file->row));
	file->job = (struct table_job){.wanted = &file->query,
				       .name = mem_printf("%s.parquet", escaped)};
	return file;
}

/* Finish the file, if all is `complete`, and free it. Return 0, or -1 with error. */
static int end_file(struct event_files *files, struct event_file *file, bool complete,
		    struct error *error)
{
	uint64_t mended = 0;
	int status =
	    file->sink ? table_sink_end(file->sink, complete, &mended, error) : 0;

	files->mended += mended;
	for (size_t i = 0; i < file->query.columns; i++)
		free(file->query.column[i].name);
	free(file->query.column);
	free(file->query.name);
	free(file->job.name);
	free(file->row);
	free(file->class);
	free(file);
	return status;
}

static struct event_file *open_own(struct event_files *files, const char *name,
				   const struct own_column *column, size_t columns,
				   struct error *error)
{
	struct event_file *file = new_file(mem_strdup(name), columns);

	name_reserve(&files->names, name);
	for (size_t i = 0; i < columns; i++)
		add_column(file, mem_strdup(column[i].name), column[i].type,
			   column[i].required);
	file->sink = table_sink_new(&files->work, &file->job, error);
	return file;
}

#define OPEN_OWN(files, name, columns, error)                                            \
	open_own(files, name, columns, sizeof(columns) / sizeof(*(columns)), error)

static int write_nodes(struct event_files *files, const struct merge_run *run,
		       struct error *error)
{
	struct event_file *file = OPEN_OWN(files, "node", node_columns, error);
	bool failed = !file->sink;

	for (size_t i = 0; i < run->nodes && !failed; i++) {
		const struct cell row[] = {cell_of_integer(run->node[i].id),
					   cell_of_text(run->node[i].name)};

		failed = table_sink_put(file->sink, row);
	}
	return end_file(files, file, !failed, error) || failed ? -1 : 0;
}

struct event_files *event_files_new(const char *directory, const struct merge_run *run,
				    bool payload, struct error *error)
{
	struct event_files *files = mem_zalloc(sizeof(*files));

	files->work = (struct table_work){.directory = directory, .style = &style};
	files->payload = payload;
	name_reserve(&files->names, "event_class");
	files->event = OPEN_OWN(files, "event", event_columns, error);
	if (files->event->sink && write_nodes(files, run, error) == 0)
		return files;
	event_files_end(files, false, NULL, error);
	return NULL;
}

/* The fields of the payload keep their names before those of the context. */
static void add_fields(struct event_file *file, const struct trace_class *class)
{
	AUTOFREE char **name = mem_zalloc((class->columns + 1) * sizeof(*name));
	struct name_set names = {0};

	name_reserve(&names, "id");
	for (int context = 0; context < 2; context++)
		for (size_t i = 0; i < class->columns; i++)
			if (class->column[i].context == context)
				name[i] = name_pick(&names, class->column[i].name, "");
	add_column(file, mem_strdup("id"), CELL_INTEGER, true);
	for (size_t i = 0; i < class->columns; i++)
		add_column(file, name[i], class->column[i].type, false);
	name_clear(&names);
}

/* Set the class's id, and open the file of a new one. Return 0, or -1 with error. */
static int add_class(struct event_files *files, const char *kind,
		     struct event_class *class, struct error *error)
{
	const struct trace_class *of = class->of;
	struct bytes key = {0};
	struct event_file *file;

	bytes_add(&key, kind, strlen(kind) + 1);
	bytes_add(&key, of->name, strlen(of->name) + 1);
	for (size_t i = 0; i < of->columns; i++) {
		bytes_add(&key, of->column[i].name, strlen(of->column[i].name) + 1);
		bytes_add_byte(&key, (uint8_t)of->column[i].type);
		bytes_add_byte(&key, of->column[i].context);
	}
	class->id =
	    (uint32_t)texts_put_bytes(&files->keys, (char *)key.data, key.size) + 1;
	bytes_clear(&key);
	if (class->id <= files->count)
		return 0;
	file = new_file(name_table(&files->names, of->name), of->columns + 1);
	*MEM_NEXT(files->file, files->count, files->capacity) = file;
	file->kind = kind;
	file->class = utf8_clean(of->name);
	add_fields(file, of);
	if (!files->payload)
		return 0;
	file->sink = table_sink_new(&files->work, &file->job, error);
	return file->sink ? 0 : -1;
}

static int put_fields(struct event_file *file, const struct merged_event *event)
{
	size_t columns = file->query.columns - 1;

	file->row[0] = cell_of_integer(event->id);
	if (event->cell)
		memcpy(&file->row[1], event->cell, columns * sizeof(*event->cell));
	for (size_t i = 0; i < columns && !event->cell; i++)
		file->row[1 + i] = cell_of_null();
	return table_sink_put(file->sink, file->row);
}

int event_files_add(struct event_files *files, const struct merge_source *source,
		    struct event_class *class, const struct merged_event *event,
		    struct error *error)
{
	struct event_file *file;
	struct cell row[] = {
	    cell_of_integer(event->id),        cell_of_integer(event->ts_ns),
	    cell_of_integer(source->node + 1), cell_of_known(event->cpu, -1),
	    cell_of_known(event->tid, -1),     cell_of_null(),
	    cell_of_integer(source->id),
	};

	if (!class->id && add_class(files, source->kind, class, error))
		return -1;
	row[5] = cell_of_integer(class->id);
	file = files->file[class->id - 1];
	file->rows++;
	if (table_sink_put(files->event->sink, row))
		return -1;
	return file->sink ? put_fields(file, event) : 0;
}

static int write_classes(struct event_files *files, struct error *error)
{
	struct event_file *table = OPEN_OWN(files, "event_class", class_columns, error);
	bool failed = !table->sink;

	for (size_t i = 0; i < files->count && !failed; i++) {
		const struct event_file *file = files->file[i];
		const struct cell row[] = {
		    cell_of_integer((int64_t)i + 1), cell_of_text(file->kind),
		    cell_of_text(file->class),
		    cell_of_text(file->sink ? file->query.name : NULL),
		    cell_of_integer(file->rows)};

		failed = table_sink_put(table->sink, row);
	}
	return end_file(files, table, !failed, error) || failed ? -1 : 0;
}

int event_files_end(struct event_files *files, bool complete, struct problem_list *notes,
		    struct error *error)
{
	int status = complete ? write_classes(files, error) : -1;

	for (size_t i = 0; i < files->count; i++)
		if (end_file(files, files->file[i], !status, error))
			status = -1;
	if (end_file(files, files->event, !status, error))
		status = -1;
	if (files->mended)
		problem_add(notes, files->work.directory, PROBLEM_TEXT, files->mended,
			    "%llu texts are not UTF-8, U+FFFD replaces invalid bytes",
			    (unsigned long long)files->mended);
	texts_clear(&files->keys);
	name_clear(&files->names);
	free(files->file);
	free(files);
	return status;
}
