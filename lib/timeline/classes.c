/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "timeline/reader.h"
#include "timeline/sql.h"

const char *class_type_name(enum cell_type type)
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

/* Append the bytes that identify a class, or if `columns` a layout. */
static void add_key(struct bytes *bytes, const struct writer_class *class, bool columns)
{
	bytes_add(bytes, class->kind, strlen(class->kind) + 1);
	bytes_add(bytes, class->name, strlen(class->name) + 1);
	for (size_t i = 0; columns && i < class->columns; i++) {
		const struct class_column *column = &class->column[i];
		const char *type = class_type_name(column->type);

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

/* Choose distinct names of columns: first for the payload's fields, so that they keep
 * their names, then for those of the context. */
static void name_columns(struct writer_class *class)
{
	struct name_set names = {0};

	name_reserve(&names, "id");
	for (int context = 0; context < 2; context++)
		for (size_t i = 0; i < class->columns; i++)
			if (class->column[i].context == context)
				class->column[i].sql =
				    name_pick(&names, class->column[i].name, "");
	name_clear(&names);
}

static bool has_column(const struct class_column *column, size_t columns,
		       const char *name)
{
	for (size_t i = 0; i < columns; i++)
		if (sqlite3_stricmp(column[i].sql, name) == 0)
			return true;
	return false;
}

int class_asked_new(sqlite3 *db, sqlite3_stmt **asked)
{
	return sqlite3_prepare_v2(db, "SELECT name, type FROM pragma_table_info(?)", -1,
				  asked, NULL);
}

void class_table_sql(struct bytes *sql, const char *table,
		     const struct class_column *column, size_t columns,
		     sqlite3_stmt *asked)
{
	AUTOFREE char *quoted_table = name_quote(table);
	int code;

	bytes_print(sql, "CREATE TABLE %s (id INTEGER PRIMARY KEY REFERENCES event (id)",
		    quoted_table);
	for (size_t i = 0; i < columns; i++) {
		AUTOFREE char *quoted = name_quote(column[i].sql);

		bytes_print(sql, ", %s %s", quoted, class_type_name(column[i].type));
	}
	sqlite3_bind_text(asked, 1, table, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(asked)) == SQLITE_ROW) {
		const char *name = sql_text(asked, 0);
		AUTOFREE char *quoted = name_quote(name);

		if (!has_column(column, columns, name))
			bytes_print(sql, ", %s %s", quoted, sql_text(asked, 1));
	}
	sqlite3_reset(asked);
	if (code != SQLITE_DONE) /* the database is in memory, so that ran out */
		mem_exit();
	bytes_add_text(sql, ")");
}

/* Create empty tables for the classes of classes.sql that were not recorded, so that
 * queries can name them. Return 0, or -1 with error. */
static int create_missing(struct class_set *set, sqlite3 *db, sqlite3_stmt *asked,
			  struct error *error)
{
	static const char text[] = "SELECT name FROM sqlite_schema ORDER BY rowid";
	sqlite3 *classes = sqlite3_db_handle(asked);
	sqlite3_stmt *query;
	int status = 0, code = SQLITE_DONE;

	if (sqlite3_prepare_v2(classes, text, -1, &query, NULL) != SQLITE_OK)
		return sql_error(classes, set->place, error);
	while (!status && (code = sqlite3_step(query)) == SQLITE_ROW) {
		const char *name = sql_text(query, 0);
		struct bytes sql = {0};

		if (!name_reserve(&set->names, name))
			continue;
		class_table_sql(&sql, name, NULL, 0, asked);
		bytes_add_byte(&sql, 0);
		status = sql_run(db, set->place, (char *)sql.data, error);
		bytes_clear(&sql);
	}
	if (!status && code != SQLITE_DONE)
		status = sql_error(classes, set->place, error);
	sqlite3_finalize(query);
	return status;
}

/* Append the columns of a view. Those with the name of a column of `event` get another.
 */
static void add_view_columns(struct bytes *sql, const struct class_column *column,
			     size_t columns)
{
	static const char *const event[] = {"id", "ts_ns", "node", "cpu", "tid"};
	struct name_set names = {0};

	for (size_t i = 0; i < sizeof(event) / sizeof(event[0]); i++)
		name_reserve(&names, event[i]);
	for (size_t i = 0; i < columns; i++) {
		AUTOFREE char *shown = name_pick(&names, column[i].sql, "");
		AUTOFREE char *quoted = name_quote(column[i].sql),
			      *as = name_quote(shown);

		bytes_print(sql, ", c.%s AS %s", quoted, as);
	}
	name_clear(&names);
}

void class_view_sql(struct bytes *sql, const char *table,
		    const struct class_column *column, size_t columns)
{
	AUTOFREE char *quoted = name_quote(table);
	AUTOFREE char *name = mem_printf("%s_v", table), *view = name_quote(name);

	bytes_print(sql,
		    "CREATE VIEW %s AS SELECT e.id, e.ts_ns,"
		    " (SELECT n.name FROM node AS n WHERE n.id = e.node) AS node,"
		    " e.cpu, e.tid",
		    view);
	add_view_columns(sql, column, columns);
	bytes_print(sql, " FROM %s AS c JOIN event AS e ON e.id = c.id", quoted);
}

/*
 * Add a row to sqlite_schema. CREATE would search all rows each time, and a trace can
 * have thousands of classes. `root` is the table's root page, or 0 for a view. Return 0,
 * or -1 with error.
 */
static int add_schema_row(const struct class_set *set, sqlite3_stmt *insert,
			  const char *name, uint32_t root, struct bytes *sql,
			  struct error *error)
{
	const struct cell row[] = {cell_of_text(root ? "table" : "view"),
				   cell_of_text(name), cell_of_integer(root),
				   cell_of_text((char *)sql->data)};
	bool failed = false;

	for (int i = 0; i < 4 && !failed; i++)
		failed = sql_bind(insert, i + 1, &row[i]) != SQLITE_OK;
	failed = failed || sqlite3_step(insert) != SQLITE_DONE;
	if (failed)
		sql_error(sqlite3_db_handle(insert), set->place, error);
	sqlite3_reset(insert);
	sql->size = 0;
	return failed ? -1 : 0;
}

/* Add the table and the view of each class to the schema. Return 0, or -1 with error. */
static int add_classes_to_schema(struct class_set *set, sqlite3 *db, sqlite3_stmt *asked,
				 struct error *error)
{
	static const char text[] = "INSERT INTO sqlite_schema (type, name, tbl_name, "
				   "rootpage, sql) VALUES (?1, ?2, ?2, ?3, ?4)";
	struct bytes sql = {0};
	sqlite3_stmt *insert = NULL;
	int status = 0;

	if (sql_run(db, set->place, "PRAGMA writable_schema = ON", error))
		return -1;
	if (sqlite3_prepare_v2(db, text, -1, &insert, NULL) != SQLITE_OK)
		return sql_error(db, set->place, error);
	for (size_t i = 0; i < set->classes && !status; i++) {
		const struct writer_class *class = &set->class[i];
		AUTOFREE char *view = NULL;

		if (!class->table)
			continue;
		view = mem_printf("%s_v", class->table);
		class_table_sql(&sql, class->table, class->column, class->columns, asked);
		bytes_add_byte(&sql, 0);
		status = add_schema_row(set, insert, class->table,
					sqlite_tree_root(class->tree), &sql, error);
		class_view_sql(&sql, class->table, class->column, class->columns);
		bytes_add_byte(&sql, 0);
		status = status || add_schema_row(set, insert, view, 0, &sql, error);
	}
	sqlite3_finalize(insert);
	bytes_clear(&sql);
	return status ? -1
		      : sql_run(db, set->place, "PRAGMA writable_schema = OFF", error);
}

/* Return the index of the class's column for a field, or the number of columns if there
 * is none. `is_taken` marks columns of the layout's other fields. */
static size_t find_column(const struct writer_class *class,
			  const struct class_column *field, const bool *is_taken)
{
	size_t at = 0;

	while (at < class->columns &&
	       (is_taken[at] || class->column[at].context != field->context ||
		strcmp(class->column[at].name, field->name) != 0))
		at++;
	return at;
}

/*
 * Set `place` to the columns of a layout's fields in its class's table, and add missing
 * columns to the class. A field that appears with two types gets a column without type,
 * or of reals. Return true if any field's index changes.
 */
static bool place_columns(struct writer_class *class, const struct writer_class *from,
			  unsigned *place)
{
	bool *is_taken = mem_zalloc(class->columns + from->columns + 1), moves = false;

	for (size_t i = 0; i < from->columns; i++) {
		const struct class_column *field = &from->column[i];
		size_t at = find_column(class, field, is_taken);
		struct class_column *column;

		if (at == class->columns) {
			class->column = mem_grow(class->column, at, &class->capacity,
						 sizeof(*class->column));
			class->column[class->columns++] =
			    (struct class_column){.name = mem_strdup(field->name),
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

/* Return how many columns the class would have with those of a layout. */
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

/* Return the index of the class of this kind and name, and if `columns` with these
 * columns. Add it if it is new. */
static size_t find_class(struct class_set *set, const struct writer_class *from,
			 bool columns)
{
	struct bytes key = {0};
	size_t at;

	add_key(&key, from, columns);
	at = texts_put_bytes(&set->class_key, (char *)key.data, key.size);
	if (at == set->classes) {
		struct writer_class *class;

		class = MEM_NEXT(set->class, set->classes, set->class_capacity);
		*class = (struct writer_class){.kind = mem_strdup(from->kind),
					       .name = mem_strdup(from->name)};
		class->id = set->is_part
				? hash_id(hash_bytes(HASH_INIT, key.data, key.size))
				: (int64_t)at + 1;
		if (set->pages) {
			class->table = name_table(&set->names, class->name);
			class->tree = sqlite_tree_new(set->pages, class->table, false);
			sqlite_tree_detach(class->tree);
		}
	}
	bytes_clear(&key);
	return at;
}

/* Add a layout to a class. In a part, every layout is a class of its own: parts are
 * joined as files, so all events of a class must have the same columns. */
static void add_layout(struct class_set *set, const struct writer_class *from)
{
	size_t at = find_class(set, from, set->is_part);
	struct writer_layout layout = {.columns = from->columns};

	if (count_columns(&set->class[at], from) > TIMELINE_COLUMNS_MOST)
		at = find_class(set, from, true);
	layout.class = at;
	layout.type = mem_zalloc(from->columns * sizeof(*layout.type) + 1);
	layout.place = mem_zalloc(from->columns * sizeof(*layout.place) + 1);
	for (size_t i = 0; i < from->columns; i++)
		layout.type[i] = from->column[i].type;
	if (!place_columns(&set->class[at], from, layout.place)) {
		free(layout.place);
		layout.place = NULL;
	}
	*MEM_NEXT(set->layout, set->layouts, set->layout_capacity) = layout;
}

int class_set_add(struct class_set *set, const struct timeline_class *class, uint32_t *id,
		  struct error *error)
{
	struct bytes key = {0};
	struct writer_class copy;
	size_t at;

	if (class->columns > TIMELINE_COLUMNS_MOST)
		return error_set(error, "%s: too many fields: %zu (limit %d)",
				 class->name, class->columns, TIMELINE_COLUMNS_MOST);
	copy = class_copy(class);
	add_key(&key, &copy, true);
	at = texts_put_bytes(&set->layout_key, (char *)key.data, key.size);
	bytes_clear(&key);
	if (at == set->layouts)
		add_layout(set, &copy);
	class_clear(&copy);
	*id = (uint32_t)at + 1;
	return 0;
}

void class_set_name_columns(struct class_set *set)
{
	for (size_t i = 0; i < set->classes; i++)
		name_columns(&set->class[i]);
}

int class_set_create_tables(struct class_set *set, sqlite3 *db, sqlite3 *asked,
			    struct error *error)
{
	sqlite3_stmt *statement = NULL;
	int status = class_asked_new(asked, &statement) == SQLITE_OK
			 ? 0
			 : sql_error(asked, set->place, error);

	if (!status)
		status = add_classes_to_schema(set, db, statement, error) ||
			 create_missing(set, db, statement, error);
	sqlite3_finalize(statement);
	return status ? -1 : 0;
}

void class_set_clear(struct class_set *set)
{
	for (size_t i = 0; i < set->classes; i++)
		class_clear(&set->class[i]);
	for (size_t i = 0; i < set->layouts; i++) {
		free(set->layout[i].type);
		free(set->layout[i].place);
	}
	free(set->class);
	free(set->layout);
	name_clear(&set->names);
	texts_clear(&set->class_key);
	texts_clear(&set->layout_key);
}
