/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "timeline/reader.h"
#include "timeline/sql.h"
#include "timeline/writer_state.h"

/* Event classes: a typed table and a view for each. */
struct writer_column {
	char *name; /* as the source has it, in UTF-8 */
	char *sql;  /* as the table has it */
	enum cell_type type;
	bool context;
};

/* What stands in CREATE TABLE, and so how SQLite converts what it is given. */
static const char *type_name(enum cell_type type)
{
	switch (type) {
	case CELL_NULL:
		break;
	case CELL_INTEGER:
		return "INTEGER";
	case CELL_REAL:
		return "REAL";
	case CELL_TEXT:
		return "TEXT";
	case CELL_BLOB:
		return "BLOB";
	}
	return "";
}

/* All that makes two classes one, or with `columns` two layouts, as bytes. */
static void add_key(struct bytes *bytes, const struct writer_class *class, bool columns)
{
	bytes_add(bytes, class->kind, strlen(class->kind) + 1);
	bytes_add(bytes, class->name, strlen(class->name) + 1);
	for (size_t i = 0; columns && i < class->columns; i++) {
		const struct writer_column *column = &class->column[i];
		const char *type = type_name(column->type);

		bytes_add(bytes, column->name, strlen(column->name) + 1);
		bytes_add(bytes, type, strlen(type) + 1);
		bytes_add(bytes, &column->context, sizeof(bool));
	}
}

static void class_clear(struct writer_class *class)
{
	for (size_t i = 0; i < class->columns; i++) {
		free(class->column[i].name);
		free(class->column[i].sql);
	}
	free(class->column);
	free(class->kind);
	free(class->name);
	free(class->table);
}

static struct writer_class class_copy(const struct timeline_class *from)
{
	struct writer_class class = {.kind = utf8_clean(from->kind),
				     .name = utf8_clean(from->name),
				     .columns = from->columns,
				     .capacity = from->columns};

	class.column = mem_zalloc(from->columns * sizeof(*class.column));
	for (size_t i = 0; i < from->columns; i++) {
		class.column[i].name = utf8_clean(from->column[i].name);
		class.column[i].type = from->column[i].type;
		class.column[i].context = from->column[i].context;
	}
	return class;
}

/* What the event itself is called keeps its name, then come the payload's names. */
static void name_columns(struct writer_class *class)
{
	struct name_set names = {0};

	name_take(&names, "id");
	for (int context = 0; context < 2; context++)
		for (size_t i = 0; i < class->columns; i++)
			if (class->column[i].context == context)
				class->column[i].sql =
				    name_pick(&names, class->column[i].name, "");
	name_clear(&names);
}

static int run_and_clear(struct timeline_writer *writer, struct bytes *sql,
			 struct error *error)
{
	int status;

	bytes_add_byte(sql, 0);
	status = sql_run(writer->db, writer->place, (char *)sql->data, error);
	bytes_clear(sql);
	return status;
}

static bool has_column(const struct writer_class *class, const char *name)
{
	for (size_t i = 0; class && i < class->columns; i++)
		if (sqlite3_stricmp(class->column[i].sql, name) == 0)
			return true;
	return false;
}

/* A table's columns and, of those that queries name, the ones that the class has not:
 * rows end before them, so they are NULL. `class` NULL: it was not recorded. */
static int make_table(struct timeline_writer *writer, const char *name,
		      const struct writer_class *class, struct error *error)
{
	static const char asked[] = "SELECT name, type FROM pragma_table_info(?)";
	AUTOFREE char *table = name_quote(name);
	struct bytes sql = {0};
	sqlite3_stmt *query;

	if (sqlite3_prepare_v2(writer->asked, asked, -1, &query, NULL) != SQLITE_OK)
		return sql_error(writer->asked, writer->place, error);
	bytes_print(&sql, "CREATE TABLE %s (id INTEGER PRIMARY KEY REFERENCES event (id)",
		    table);
	for (size_t i = 0; class && i < class->columns; i++) {
		AUTOFREE char *column = name_quote(class->column[i].sql);

		bytes_print(&sql, ", %s %s", column, type_name(class->column[i].type));
	}
	sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
	while (sqlite3_step(query) == SQLITE_ROW) {
		const char *column = (const char *)sqlite3_column_text(query, 0);
		AUTOFREE char *quoted = name_quote(column);

		if (!has_column(class, column))
			bytes_print(&sql, ", %s %s", quoted,
				    sqlite3_column_text(query, 1));
	}
	sqlite3_finalize(query);
	bytes_add_text(&sql, ")");
	return run_and_clear(writer, &sql, error);
}

/* Tables of classes that queries name, and that were not recorded. */
static int make_asked(struct timeline_writer *writer, struct error *error)
{
	static const char text[] = "SELECT name FROM sqlite_schema ORDER BY rowid";
	sqlite3_stmt *query;
	int status = 0;

	if (sqlite3_prepare_v2(writer->asked, text, -1, &query, NULL) != SQLITE_OK)
		return sql_error(writer->asked, writer->place, error);
	while (!status && sqlite3_step(query) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(query, 0);

		if (name_take(&writer->names, name))
			status = make_table(writer, name, NULL, error);
	}
	sqlite3_finalize(query);
	return status;
}

/* Columns whose name the event has already get another one in the view. */
static void add_view_columns(struct bytes *sql, const struct writer_class *class)
{
	static const char *const event[] = {"id", "ts_ns", "node", "cpu", "tid"};
	struct name_set names = {0};

	for (size_t i = 0; i < sizeof(event) / sizeof(event[0]); i++)
		name_take(&names, event[i]);
	for (size_t i = 0; i < class->columns; i++) {
		AUTOFREE char *shown = name_pick(&names, class->column[i].sql, "");
		AUTOFREE char *column = name_quote(class->column[i].sql),
			      *as = name_quote(shown);

		bytes_print(sql, ", c.%s AS %s", column, as);
	}
	name_clear(&names);
}

static int make_view(struct timeline_writer *writer, const struct writer_class *class,
		     struct error *error)
{
	AUTOFREE char *table = name_quote(class->table);
	AUTOFREE char *name = mem_printf("%s_v", class->table), *view = name_quote(name);
	struct bytes sql = {0};

	bytes_print(&sql,
		    "CREATE VIEW %s AS SELECT e.id, e.ts_ns,"
		    " (SELECT n.name FROM node AS n WHERE n.id = e.node) AS node,"
		    " e.cpu, e.tid",
		    view);
	add_view_columns(&sql, class);
	bytes_print(&sql, " FROM %s AS c JOIN event AS e ON e.id = c.id", table);
	return run_and_clear(writer, &sql, error);
}

/* How the source's names became those of the table. */
static int list_columns(struct timeline_writer *writer, const struct writer_class *class,
			struct error *error)
{
	for (size_t i = 0; i < class->columns; i++) {
		const struct writer_column *column = &class->column[i];
		const struct cell row[] = {
		    cell_of_integer(class->id),
		    cell_of_integer((int64_t)i + 1),
		    cell_of_text(column->name),
		    cell_of_text(column->sql),
		    cell_of_text(type_name(column->type)),
		    cell_of_integer(column->context),
		};

		if (writer_add(&writer->table[TIMELINE_EVENT_COLUMN], row, error))
			return -1;
	}
	return 0;
}

/* The column of a class that a field has, or the class's `columns`. */
static size_t find_column(const struct writer_class *class,
			  const struct writer_column *field, const bool *is_taken)
{
	size_t at = 0;

	while (at < class->columns &&
	       (is_taken[at] || class->column[at].context != field->context ||
		strcmp(class->column[at].name, field->name) != 0))
		at++;
	return at;
}

/*
 * Where the fields of a layout stand in its class's table, which gets those that it
 * lacks. A field that comes in two types has a column of none, or of reals.
 */
static bool place_columns(struct writer_class *class, const struct writer_class *from,
			  unsigned *place)
{
	bool *is_taken = mem_zalloc(class->columns + from->columns + 1), moves = false;

	for (size_t i = 0; i < from->columns; i++) {
		const struct writer_column *field = &from->column[i];
		size_t at = find_column(class, field, is_taken);
		struct writer_column *column;

		if (at == class->columns) {
			class->column = mem_grow(class->column, at, &class->capacity,
						 sizeof(*class->column));
			class->column[class->columns++] =
			    (struct writer_column){.name = mem_strdup(field->name),
						   .type = field->type,
						   .context = field->context};
		}
		column = &class->column[at];
		if (column->type == CELL_REAL || field->type == CELL_REAL)
			column->type = CELL_REAL;
		else if (column->type != field->type)
			column->type = CELL_NULL;
		is_taken[at] = true;
		place[i] = (unsigned)at;
		moves |= at != i;
	}
	free(is_taken);
	return moves;
}

/* How many columns the class has with those of a layout. */
static size_t count_columns(const struct writer_class *class,
			    const struct writer_class *from)
{
	AUTOFREE bool *is_taken = mem_zalloc(class->columns + 1);
	size_t count = class->columns;

	for (size_t i = 0; i < from->columns; i++) {
		size_t at = find_column(class, &from->column[i], is_taken);

		is_taken[at] |= at < class->columns;
		count += at == class->columns;
	}
	return count;
}

/* The place of the class of a kind and name, with its columns if that is asked for. */
static size_t find_class(struct timeline_writer *writer, const struct writer_class *from,
			 bool columns)
{
	struct bytes key = {0};
	size_t at;

	add_key(&key, from, columns);
	at = texts_put_bytes(&writer->class_key, (char *)key.data, key.size);
	if (at == writer->classes) {
		struct writer_class *class;

		class = MEM_NEXT(writer->class, writer->classes, writer->class_capacity);
		*class = (struct writer_class){.kind = mem_strdup(from->kind),
					       .name = mem_strdup(from->name)};
		class->id = writer->is_part
				? hash_id(hash_bytes(HASH_INIT, key.data, key.size))
				: (int64_t)at + 1;
		if (writer->payload) {
			class->table = name_table(&writer->names, class->name);
			class->tree = tree_new(writer->pages, class->table, false);
		}
	}
	bytes_clear(&key);
	return at;
}

/* Classes of parts come together as files, so each has all its columns. */
static void add_layout(struct timeline_writer *writer, const struct writer_class *from)
{
	size_t at = find_class(writer, from, writer->is_part);
	struct writer_layout layout = {.columns = from->columns};

	if (count_columns(&writer->class[at], from) > TIMELINE_COLUMNS_MOST)
		at = find_class(writer, from, true);
	layout.class = at;
	layout.type = mem_zalloc(from->columns * sizeof(*layout.type) + 1);
	layout.place = mem_zalloc(from->columns * sizeof(*layout.place) + 1);
	for (size_t i = 0; i < from->columns; i++)
		layout.type[i] = from->column[i].type;
	if (!place_columns(&writer->class[at], from, layout.place)) {
		free(layout.place);
		layout.place = NULL;
	}
	*MEM_NEXT(writer->layout, writer->layouts, writer->layout_capacity) = layout;
}

int timeline_add_class(struct timeline_writer *writer, const struct timeline_class *class,
		       uint32_t *id, struct error *error)
{
	struct bytes key = {0};
	struct writer_class copy;
	size_t at;

	if (class->columns > TIMELINE_COLUMNS_MOST)
		return error_set(error, "%s: %zu fields, want up to %d", class->name,
				 class->columns, TIMELINE_COLUMNS_MOST);
	copy = class_copy(class);
	add_key(&key, &copy, true);
	at = texts_put_bytes(&writer->layout_key, (char *)key.data, key.size);
	bytes_clear(&key);
	if (at == writer->layouts)
		add_layout(writer, &copy);
	class_clear(&copy);
	*id = (uint32_t)at + 1;
	return 0;
}

void timeline_writer_set_part(struct timeline_writer *writer)
{
	writer->is_part = true;
}

int writer_make_classes(struct timeline_writer *writer, struct error *error)
{
	for (size_t i = 0; i < writer->classes; i++) {
		const struct writer_class *class = &writer->class[i];

		if (class->table && (make_table(writer, class->table, class, error) ||
				     make_view(writer, class, error)))
			return -1;
	}
	return make_asked(writer, error);
}

int writer_finish_classes(struct timeline_writer *writer, struct error *error)
{
	for (size_t i = 0; i < writer->classes; i++) {
		struct writer_class *class = &writer->class[i];
		const struct cell row[] = {
		    cell_of_integer(class->id),     cell_of_text(class->kind),
		    cell_of_text(class->name),      cell_of_text(class->table),
		    cell_of_integer(class->events),
		};

		if (writer_add(&writer->table[TIMELINE_EVENT_CLASS], row, error))
			return -1;
		name_columns(class);
		if (class->table && list_columns(writer, class, error))
			return -1;
	}
	return 0;
}

void writer_clear_classes(struct timeline_writer *writer)
{
	for (size_t i = 0; i < writer->classes; i++)
		class_clear(&writer->class[i]);
	for (size_t i = 0; i < writer->layouts; i++) {
		free(writer->layout[i].type);
		free(writer->layout[i].place);
	}
	free(writer->class);
	free(writer->layout);
	texts_clear(&writer->class_key);
	texts_clear(&writer->layout_key);
}
