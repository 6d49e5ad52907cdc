/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "timeline/schema.h"
#include "timeline/sql.h"
#include "timeline/writer_private.h"

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

/* Of all that makes two classes one. */
static uint64_t hash_class(const struct writer_class *class)
{
	uint64_t hash = hash_text(HASH_INIT, class->kind);

	hash = hash_text(hash, class->name);
	for (size_t i = 0; i < class->columns; i++) {
		hash = hash_text(hash, class->column[i].name);
		hash = hash_text(hash, type_name(class->column[i].type));
		hash = hash_bytes(hash, &class->column[i].context, sizeof(bool));
	}
	return hash;
}

static bool is_same(const struct writer_class *a, const struct writer_class *b)
{
	if (a->columns != b->columns || strcmp(a->kind, b->kind) != 0 ||
	    strcmp(a->name, b->name) != 0)
		return false;
	for (size_t i = 0; i < a->columns; i++)
		if (strcmp(a->column[i].name, b->column[i].name) != 0 ||
		    a->column[i].type != b->column[i].type ||
		    a->column[i].context != b->column[i].context)
			return false;
	return true;
}

static void class_clear(struct writer_class *class)
{
	for (size_t i = 0; i < class->columns; i++) {
		free(class->column[i].name);
		free(class->column[i].sql);
	}
	tree_free(class->tree);
	free(class->type);
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
				     .next = -1};

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
				    name_pick(&names, class->column[i].name, NULL);
	name_clear(&names);
}

/* Not sqlite_..., which SQLite refuses as the name of a table. */
static char *name_table(struct name_set *names, const char *class)
{
	char *wanted = mem_printf("%s%s", name_is_reserved(class) ? "event_" : "", class);
	char *table = name_pick(names, wanted, "_v");

	free(wanted);
	return table;
}

static int run_and_free(struct timeline_writer *writer, char *text, struct error *error)
{
	int status = sql_run(writer->db, writer->place, text, error);

	free(text);
	return status;
}

static struct writer_asked *add_asked(struct timeline_writer *writer, const char *table)
{
	struct writer_asked *asked;

	writer->asked = mem_grow(writer->asked, writer->askeds, &writer->asked_room,
				 sizeof(*writer->asked));
	asked = &writer->asked[writer->askeds++];
	*asked = (struct writer_asked){.table = mem_strdup(table)};
	return asked;
}

int writer_find_asked(struct timeline_writer *writer, struct error *error)
{
	static const char text[] =
	    "SELECT m.name, c.name, c.type FROM sqlite_master AS m, "
	    "pragma_table_info(m.name) AS c WHERE m.type = 'table' ORDER BY m.rowid, "
	    "c.cid";
	struct writer_asked *asked = NULL;
	sqlite3_stmt *query = NULL;
	int code = SQLITE_ERROR, status = -1;
	sqlite3 *db;

	if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
	    sql_run(db, writer->place, schema_classes, error) ||
	    sqlite3_prepare_v2(db, text, -1, &query, NULL) != SQLITE_OK)
		goto out;
	while ((code = sqlite3_step(query)) == SQLITE_ROW) {
		const char *table = (const char *)sqlite3_column_text(query, 0);

		if (!asked || strcmp(asked->table, table) != 0)
			asked = add_asked(writer, table);
		asked->column =
		    mem_realloc(asked->column, asked->columns + 1, sizeof(char *));
		asked->type =
		    mem_realloc(asked->type, asked->columns + 1, sizeof(char *));
		asked->column[asked->columns] =
		    mem_strdup((const char *)sqlite3_column_text(query, 1));
		asked->type[asked->columns++] =
		    mem_strdup((const char *)sqlite3_column_text(query, 2));
	}
out:
	status = code == SQLITE_DONE ? 0 : sql_error(db, writer->place, error);
	sqlite3_finalize(query);
	sqlite3_close(db);
	return status;
}

static bool has_column(const struct writer_class *class, const char *name)
{
	for (size_t i = 0; class && i < class->columns; i++)
		if (sqlite3_stricmp(class->column[i].sql, name) == 0)
			return true;
	return false;
}

/* Columns that queries name and the class has not: rows end before them, so they are
 * NULL. */
static void write_asked(FILE *sql, const struct writer_asked *asked,
			const struct writer_class *class)
{
	for (size_t i = 0; i < asked->columns; i++) {
		char *quoted = name_quote(asked->column[i]);

		if (!has_column(class, asked->column[i]))
			fprintf(sql, ", %s %s", quoted, asked->type[i]);
		free(quoted);
	}
}

/* Tables of classes that were not recorded. */
static int make_asked(struct timeline_writer *writer, struct error *error)
{
	for (size_t i = 0; i < writer->askeds; i++) {
		char *text, *quoted;
		size_t size, k = 0;
		FILE *sql;

		while (k < writer->classes &&
		       (!writer->class[k].table ||
			strcmp(writer->class[k].table, writer->asked[i].table) != 0))
			k++;
		if (k < writer->classes)
			continue;
		quoted = name_quote(writer->asked[i].table);
		sql = open_memstream(&text, &size);
		fprintf(sql,
			"CREATE TABLE %s (id INTEGER PRIMARY KEY REFERENCES event (id)",
			quoted);
		free(quoted);
		write_asked(sql, &writer->asked[i], NULL);
		fputs(")", sql);
		fclose(sql);
		if (run_and_free(writer, text, error))
			return -1;
	}
	return 0;
}

static int make_table(struct timeline_writer *writer, const struct writer_class *class,
		      struct error *error)
{
	char *text, *quoted = name_quote(class->table);
	size_t size;
	FILE *sql = open_memstream(&text, &size);

	fprintf(sql, "CREATE TABLE %s (id INTEGER PRIMARY KEY REFERENCES event (id)",
		quoted);
	free(quoted);
	for (size_t i = 0; i < class->columns; i++) {
		quoted = name_quote(class->column[i].sql);
		fprintf(sql, ", %s %s", quoted, type_name(class->column[i].type));
		free(quoted);
	}
	for (size_t i = 0; i < writer->askeds; i++)
		if (strcmp(writer->asked[i].table, class->table) == 0)
			write_asked(sql, &writer->asked[i], class);
	fputs(")", sql);
	fclose(sql);
	return run_and_free(writer, text, error);
}

/* Columns whose name the event has already get another one in the view. */
static void write_view_columns(FILE *sql, const struct writer_class *class)
{
	static const char *const event[] = {"id", "ts_ns", "node", "cpu", "tid"};
	struct name_set names = {0};

	for (size_t i = 0; i < sizeof(event) / sizeof(event[0]); i++)
		name_take(&names, event[i]);
	for (size_t i = 0; i < class->columns; i++) {
		char *shown = name_pick(&names, class->column[i].sql, NULL);
		char *column = name_quote(class->column[i].sql), *as = name_quote(shown);

		fprintf(sql, ", c.%s AS %s", column, as);
		free(shown);
		free(column);
		free(as);
	}
	name_clear(&names);
}

static int make_view(struct timeline_writer *writer, const struct writer_class *class,
		     struct error *error)
{
	char *text, *table = name_quote(class->table);
	char *name = mem_printf("%s_v", class->table), *view = name_quote(name);
	size_t size;
	FILE *sql = open_memstream(&text, &size);

	fprintf(sql,
		"CREATE VIEW %s AS SELECT e.id, e.ts_ns,"
		" (SELECT n.name FROM node AS n WHERE n.id = e.node) AS node,"
		" e.cpu, e.tid",
		view);
	write_view_columns(sql, class);
	fprintf(sql, " FROM %s AS c JOIN event AS e ON e.id = c.id", table);
	fclose(sql);
	free(table);
	free(name);
	free(view);
	return run_and_free(writer, text, error);
}

static struct cell text_cell(const char *text)
{
	return (struct cell){
	    .type = CELL_TEXT, .size = (uint32_t)strlen(text), .bytes = text};
}

/* How the source's names became those of the table. */
static int list_columns(struct timeline_writer *writer, const struct writer_class *class,
			struct error *error)
{
	for (size_t i = 0; i < class->columns; i++) {
		const struct writer_column *column = &class->column[i];
		const struct cell row[] = {
		    writer_integer(class->id),
		    writer_integer((int64_t)i + 1),
		    text_cell(column->name),
		    text_cell(column->sql),
		    text_cell(type_name(column->type)),
		    writer_integer(column->context),
		};

		if (batch_row(writer->table[TABLE_EVENT_COLUMN], row, error))
			return -1;
	}
	return 0;
}

static int64_t find(const struct timeline_writer *writer,
		    const struct writer_class *class, int64_t at)
{
	while (at >= 0 && !is_same(&writer->class[at], class))
		at = writer->class[at].next;
	return at;
}

static int add_payload(struct timeline_writer *writer, struct writer_class *class,
		       struct error *error)
{
	name_columns(class);
	class->table = name_table(&writer->names, class->name);
	class->tree = tree_new(writer->pages, false);
	class->type = mem_zalloc(class->columns * sizeof(*class->type));
	for (size_t i = 0; i < class->columns; i++)
		class->type[i] = class->column[i].type;
	return list_columns(writer, class, error);
}

int timeline_add_class(struct timeline_writer *writer, const struct timeline_class *class,
		       uint32_t *id, struct error *error)
{
	struct writer_class copy;
	uint64_t hash;
	int64_t at;

	if (class->columns > TIMELINE_COLUMNS_MOST)
		return error_set(error, "%s: %zu fields, want up to %d", class->name,
				 class->columns, TIMELINE_COLUMNS_MOST);
	copy = class_copy(class);
	hash = hash_class(&copy);
	if (!intmap_get(&writer->first_class, hash, &copy.next))
		copy.next = -1;
	copy.id = writer->is_part ? hash_id(hash) : (int64_t)writer->classes + 1;
	at = find(writer, &copy, copy.next);
	if (at >= 0 || (writer->payload && add_payload(writer, &copy, error))) {
		class_clear(&copy);
		*id = (uint32_t)at + 1;
		return at >= 0 ? 0 : -1;
	}
	writer->class = mem_grow(writer->class, writer->classes, &writer->class_room,
				 sizeof(*writer->class));
	intmap_put(&writer->first_class, hash, (int64_t)writer->classes);
	writer->class[writer->classes++] = copy;
	*id = (uint32_t)writer->classes;
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

		if (class->table &&
		    (make_table(writer, class, error) || make_view(writer, class, error)))
			return -1;
	}
	return make_asked(writer, error);
}

int writer_finish_classes(struct timeline_writer *writer, struct error *error)
{
	for (size_t i = 0; i < writer->classes; i++) {
		const struct writer_class *class = &writer->class[i];
		const struct cell row[] = {
		    text_cell(class->kind),
		    text_cell(class->name),
		    class->table ? text_cell(class->table)
				 : (struct cell){.type = CELL_NULL},
		    writer_integer(class->events),
		};

		if (batch_row_id(writer->table[TABLE_EVENT_CLASS], class->id, row, error))
			return -1;
	}
	return 0;
}

void writer_clear_classes(struct timeline_writer *writer)
{
	for (size_t i = 0; i < writer->classes; i++)
		class_clear(&writer->class[i]);
	free(writer->class);
	for (size_t i = 0; i < writer->askeds; i++) {
		struct writer_asked *asked = &writer->asked[i];

		for (size_t k = 0; k < asked->columns; k++) {
			free(asked->column[k]);
			free(asked->type[k]);
		}
		free(asked->column);
		free(asked->type);
		free(asked->table);
	}
	free(writer->asked);
	intmap_clear(&writer->first_class);
}
