/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "timeline/reader.h"

int export_write(const struct export *export, struct bytes *bytes, size_t at_least,
		 struct error *error)
{
	if (bytes->size < at_least)
		return 0;
	errno = 0;
	if (fwrite(bytes->data, 1, bytes->size, export->file) != bytes->size)
		return error_errno(error, export->file_name);
	bytes_empty(bytes, 2 * (size_t)EXPORT_BUFFER);
	return 0;
}

static const char mark[] = "\n--- ", table_mark[] = "table ";

/* Take apart "table NAME (COLUMNS)". */
static int keep_table(struct timeline_reader *timeline, const struct statement *statement,
		      const struct cell *value, struct error *error)
{
	char *name = statement->name + strlen(table_mark), *index = strstr(name, " (");
	struct timeline_temporary table = {
	    .name = name, .sql = statement->sql, .value = value};

	if (index) {
		*index = '\0';
		table.index = index + strlen(" (");
		index[strlen(" (") + strcspn(table.index, ")")] = '\0';
	}
	return timeline_reader_keep(timeline, &table, error)
		   ? error_prefix(error, "%s", name)
		   : 0;
}

int statement_each(struct timeline_reader *timeline, const char *file,
		   const struct cell *value, statement_fn *on_statement, void *context,
		   struct error *error)
{
	const char *at = strstr(file, mark), *next;
	int status = 0;

	for (; at && !status; at = next) {
		const char *begin = at + strlen(mark), *end = strchr(begin, '\n');
		struct statement statement;

		next = strstr(end, mark);
		statement.name = mem_strndup(begin, (size_t)(end - begin));
		statement.sql =
		    next ? mem_strndup(end, (size_t)(next - end)) : mem_strdup(end);
		if (strncmp(begin, table_mark, strlen(table_mark)) == 0)
			status = keep_table(timeline, &statement, value, error);
		else
			status = on_statement(context, &statement, error);
		free(statement.name);
		free(statement.sql);
	}
	return status;
}

static int add_note(void *context, const struct cell *row, struct error *error)
{
	struct export *export = context;

	(void)error;
	problem_add(&export->notes, row->type == CELL_TEXT ? row->bytes : export->path,
		    PROBLEM_NOTE, (uint64_t)row[1].integer, "%s", row[2].bytes);
	return 0;
}

int statement_notes(struct export *export, const struct statement *statement,
		    const struct cell *value, struct error *error)
{
	return query_rows(export->timeline, statement->sql, value, add_note, export,
			  error);
}

int statement_json(FILE *file, const struct cell *object, struct error *error)
{
	json_t *json = object->type == CELL_TEXT
			   ? json_parse_object(object->bytes, object->size, error)
			   : NULL;

	if (!json)
		return -1;
	json_write_lines(file, json, 2);
	json_decref(json);
	return 0;
}

int statement_chosen(const struct export *export, struct error *error)
{
	AUTOFREE char *ids = scope_nodes(&export->scope);
	const struct cell value = cell_of_text(ids);
	const struct timeline_temporary table = {
	    .name = "chosen",
	    .sql = "SELECT id, name, id IN (SELECT value FROM json_each(?1)) AS chosen "
		   "FROM node",
	    .value = &value,
	    .index = "id"};

	return timeline_reader_keep(export->timeline, &table, error);
}
