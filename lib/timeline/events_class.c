/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/events_private.h"
#include "timeline/names.h"
#include "timeline/reader_private.h"
#include "timeline/sql.h"

/* The classes that somebody wants, and the statements that read their tables. */
static const char context[] = "context:";

static char *cell_text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size) : NULL;
}

static size_t count_fields(const struct events_wish *wish)
{
	size_t count = 0;

	while (count < EVENTS_FIELDS && wish->field[count])
		count++;
	return count;
}

static void add_class(struct events_class_list *list, const struct cell *row,
		      const struct events_wish *wish, size_t wishes)
{
	char *name = cell_text(&row[1]);
	size_t chosen = 0;

	while (name && chosen < wishes && fnmatch(wish[chosen].class, name, 0) != 0)
		chosen++;
	if (!name || chosen == wishes) {
		free(name);
		return;
	}
	list->item = mem_grow(list->item, list->count, &list->room, sizeof(*list->item));
	list->item[list->count] = (struct events_class){
	    .id = row[0].integer,
	    .name = name,
	    .table = cell_text(&row[2]),
	    .rows = row[3].type == CELL_INTEGER ? row[3].integer : 0,
	    .wish = chosen,
	    .tag = wish[chosen].tag,
	    .fields = count_fields(&wish[chosen]),
	};
	for (size_t i = 0; i < EVENTS_FIELDS; i++)
		list->item[list->count].place[i] = -1;
	list->count++;
}

static void name_column(struct events_class *class, const struct events_wish *wish,
			const struct cell *row)
{
	bool of_context = row[2].type == CELL_INTEGER && row[2].integer;
	char *name = cell_text(&row[0]);

	for (size_t i = 0; name && i < class->fields; i++) {
		const char *wanted = wish->field[i];
		bool in_context = strncmp(wanted, context, strlen(context)) == 0;

		if (in_context)
			wanted += strlen(context);
		if (!class->column[i] && in_context == of_context &&
		    strcmp(wanted, name) == 0)
			class->column[i] = cell_text(&row[1]);
	}
	free(name);
}

static int read_columns(struct events_class *class, struct timeline_query *query,
			const struct events_wish *wish, struct error *error)
{
	const struct cell id = {.type = CELL_INTEGER, .integer = class->id};
	int more;

	if (timeline_query_ask(query, &id, 1, error))
		return -1;
	while ((more = timeline_query_next(query, error)) > 0)
		name_column(class, wish, timeline_query_row(query));
	return more;
}

int events_classes_read(struct events_class_list *list, struct timeline_reader *reader,
			const struct events_wish *wish, size_t wishes, int64_t *total,
			struct error *error)
{
	struct timeline_query *classes = timeline_query_new(
	    reader, "SELECT id, name, table_name, events FROM event_class ORDER BY id",
	    error);
	struct timeline_query *columns = timeline_query_new(
	    reader,
	    "SELECT name, column_name, context FROM event_column WHERE class = ? "
	    "ORDER BY position",
	    error);
	int status = -1;

	*total = 0;
	if (!classes || !columns || timeline_query_ask(classes, NULL, 0, error))
		goto out;
	while ((status = timeline_query_next(classes, error)) > 0) {
		const struct cell *row = timeline_query_row(classes);

		*total += row[3].type == CELL_INTEGER ? row[3].integer : 0;
		add_class(list, row, wish, wishes);
	}
	for (size_t i = 0; i < list->count && !status; i++)
		status = read_columns(&list->item[i], columns, &wish[list->item[i].wish],
				      error);
out:
	timeline_query_free(classes);
	timeline_query_free(columns);
	return status;
}

/* SELECT c.id [, e.ts_ns, e.node, e.cpu, e.tid] [, c.FIELD]... */
static char *write_select(struct events_class *class, bool joined)
{
	char *text, *quoted = name_quote(class->table);
	int place = joined ? 1 + EVENTS_JOINED : 1;
	size_t size;
	FILE *sql = open_memstream(&text, &size);

	fputs("SELECT c.id", sql);
	if (joined)
		fputs(", e.ts_ns, e.node, e.cpu, e.tid", sql);
	for (size_t i = 0; i < class->fields; i++) {
		char *column;

		if (!class->column[i])
			continue;
		column = name_quote(class->column[i]);
		fprintf(sql, ", c.%s", column);
		free(column);
		class->place[i] = place++;
	}
	fprintf(sql, " FROM %s AS c", quoted);
	if (joined) /* CROSS: the class's rows outside, each event by its rowid */
		fputs(" CROSS JOIN event AS e ON e.id = c.id", sql);
	fputs(" WHERE c.id BETWEEN ? AND ? ORDER BY c.id", sql);
	fclose(sql);
	free(quoted);
	return text;
}

int events_class_open(struct events_class *class, struct timeline_reader *reader,
		      bool joined, const int64_t range[2], struct error *error)
{
	bool any = joined;
	char *sql;
	int code;

	for (size_t i = 0; i < class->fields; i++)
		any = any || class->column[i];
	if (!any || !class->table)
		return 0;
	sql = write_select(class, joined);
	code = sqlite3_prepare_v3(reader->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
				  &class->statement, NULL);
	free(sql);
	if (code != SQLITE_OK)
		return sql_error(reader->db, reader->path, error);
	sqlite3_bind_int64(class->statement, 1, range[0]);
	sqlite3_bind_int64(class->statement, 2, range[1]);
	return 0;
}

int events_class_step(struct events_class *class, struct timeline_reader *reader,
		      struct error *error)
{
	int code;

	if (!class->statement)
		return 0;
	code = sqlite3_step(class->statement);
	if (code == SQLITE_ROW) {
		class->at = sqlite3_column_int64(class->statement, 0);
		return 1;
	}
	if (code != SQLITE_DONE)
		return sql_error(reader->db, reader->path, error);
	sqlite3_finalize(class->statement);
	class->statement = NULL;
	return 0;
}

void events_class_fill(struct events_class *class, bool stands)
{
	for (size_t i = 0; i < class->fields; i++)
		class->cell[i] = stands && class->place[i] >= 0
				     ? sql_cell(class->statement, class->place[i])
				     : (struct cell){.type = CELL_NULL};
}

void events_classes_clear(struct events_class_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct events_class *class = &list->item[i];

		sqlite3_finalize(class->statement);
		for (size_t k = 0; k < EVENTS_FIELDS; k++)
			free(class->column[k]);
		free(class->name);
		free(class->table);
	}
	free(list->item);
	*list = (struct events_class_list){0};
}
