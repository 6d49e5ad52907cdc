/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/writer.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sorter.h"
#include "base/utf8.h"
#include "timeline/classes.h"
#include "timeline/reader.h"
#include "timeline/rows.h"
#include "timeline/sql.h"
#include "timeline/sqlite_pages.h"

/*
 * The rows of every table are written as pages of the file (timeline/sqlite_pages.h), in
 * order of their keys. Rows of a few short tables arrive in any order, and are first
 * buffered in an in-memory database, which sorts them.
 */
enum {
	ROW_MOST = 1000000000, /* SQLITE_MAX_LENGTH in bytes, unless built otherwise */
	TABLE_COLUMNS = 40,
	TABLE_KEYS = 8,
	SORTED_AT_ONCE = 1 << 16, /* 1 MiB of an index's entries */
};

/* A table of the schema with its stored columns. */
struct timeline_table {
	struct timeline_writer *writer;
	char *name;
	bool has_id;       /* the first column is the rowid */
	bool has_no_rowid; /* rows are in order of the primary key, whose columns come
			      first */
	unsigned columns, keys;             /* keys: number of primary key columns */
	enum cell_type type[TABLE_COLUMNS]; /* in the order of the file */
	int from[TABLE_COLUMNS];            /* index of the column in schema.sql */
	struct sqlite_tree *tree;
	int64_t rows, last_id;
	sqlite3_stmt *insert; /* into the in-memory database; NULL: not buffered */
	int64_t
	    groups[TABLE_KEYS]; /* distinct values of the key's first 1, 2, ... columns */
	struct cell last[TABLE_KEYS];
	char *text[TABLE_KEYS]; /* strings of `last` */
};

#define COUNT(array)         (sizeof(array) / sizeof(*(array)))
#define PLACE(table, column) (offsetof(struct timeline_##table, column) / sizeof(int64_t))

/* An entry has the values of its columns and the row's id, as integers. TIMELINE_NONE is
 * NULL, which comes first. */
enum { ENTRY_MOST = 4 };

static int compare_entries(const int64_t *a, const int64_t *b, unsigned values)
{
	unsigned i = 0;

	while (i + 1 < values && a[i] == b[i])
		i++;
	return COMPARE(a[i], b[i]);
}

static int compare_two(const void *a, const void *b)
{
	return compare_entries(a, b, 2);
}

static int compare_four(const void *a, const void *b)
{
	return compare_entries(a, b, 4);
}

/* Indexes of integers whose pages are written here: their tables are too long for SQLite,
 * which would read and sort all their rows in the end. */
static const struct timeline_index {
	const char *name;
	enum timeline_table_id table;
	bool is_analyzed; /* its statistic is stored */
	unsigned columns; /* 1 or 3 */
	unsigned column[ENTRY_MOST - 1];
} indexes[] = {
    {"message_send_event", TIMELINE_MESSAGE, true, 1, {PLACE(message, send_event)}},
    {"message_recv_event", TIMELINE_MESSAGE, true, 1, {PLACE(message, recv_event)}},
    {"message_observation_message",
     TIMELINE_MESSAGE_OBSERVATION,
     false,
     1,
     {PLACE(message_observation, message)}},
    {"sample_metric",
     TIMELINE_SAMPLE,
     true,
     3,
     {PLACE(sample, metric), PLACE(sample, node), PLACE(sample, ts_ns)}},
};

enum { INDEXES = COUNT(indexes) };

/* The entries of an index. */
struct index_entries {
	struct timeline_writer *writer;
	const struct timeline_index *of;
	struct sqlite_tree *tree;
	struct sorter *sorter;
	int64_t last[ENTRY_MOST];
	int64_t groups[ENTRY_MOST]; /* distinct values of the first 1, 2, ... columns */
	struct error *error;
};

struct timeline_writer {
	char *path, *place; /* `place`: in front of errors */
	char *failure;      /* the first error, or NULL */
	sqlite3 *memory;    /* the tables, and buffered rows */
	sqlite3 *asked;     /* the tables of classes.sql */
	struct sqlite_pages *pages;
	struct timeline_table table[TIMELINE_TABLES];
	struct sqlite_tree *stamps; /* the index event_ts_ns */
	struct index_entries index[INDEXES];
	struct row_bytes row;    /* the latest row */
	struct row_bytes placed; /* the latest row, in a table with more columns */
	nsec_t last_ns;
	sqlite3 *db; /* the file, while SQLite has it open at the end */
	struct class_set classes;
};

static const enum timeline_table_id unordered[] = {
    TIMELINE_META,         TIMELINE_NODE,   TIMELINE_SOURCE,     TIMELINE_EVENT_CLASS,
    TIMELINE_EVENT_COLUMN, TIMELINE_METRIC, TIMELINE_METRIC_ITEM};

/* Return the first error from every later call. Return -1. */
static int repeat_failure(struct timeline_writer *writer, struct error *error)
{
	if (!writer->failure)
		writer->failure = mem_strdup(error_text(error));
	return error_set(error, "%s", writer->failure);
}

static enum cell_type type_of(const char *declared)
{
	return strcmp(declared, "INTEGER") == 0 ? CELL_INTEGER
	       : strcmp(declared, "REAL") == 0  ? CELL_REAL
	       : strcmp(declared, "TEXT") == 0  ? CELL_TEXT
						: CELL_NULL;
}

/* Add a column, given by a row: the table's name, whether the table has no rowid, the
 * column's type, its position in the key or 0, and its index in the schema. */
static void add_column(struct timeline_writer *writer, sqlite3_stmt *row, size_t *tables)
{
	const char *name = sql_text(row, 0);
	struct timeline_table *table = &writer->table[*tables ? *tables - 1 : 0];
	unsigned at;

	if (!table->name || strcmp(table->name, name) != 0) {
		assert(*tables < TIMELINE_TABLES);
		table = &writer->table[(*tables)++];
		table->writer = writer;
		table->name = mem_strdup(name);
		table->has_no_rowid = sqlite3_column_int(row, 1);
		table->tree = sqlite_tree_new(writer->pages, name, table->has_no_rowid);
	}
	at = table->columns++;
	assert(at < TABLE_COLUMNS);
	table->type[at] = type_of(sql_text(row, 2));
	table->keys += sqlite3_column_int(row, 3) > 0;
	table->from[at] = sqlite3_column_int(row, 4);
	table->has_id = table->keys && !table->has_no_rowid;
}

static int find_tables(struct timeline_writer *writer, struct error *error)
{
	static const char text[] =
	    "SELECT t.name, t.wr, c.type, c.pk, c.cid FROM sqlite_schema AS m "
	    "JOIN pragma_table_list(m.name) AS t JOIN pragma_table_info(m.name) AS c "
	    "WHERE m.type = 'table' AND t.schema = 'main' "
	    "ORDER BY m.rowid, c.pk = 0, c.pk, c.cid";
	size_t tables = 0;
	sqlite3_stmt *query;
	int code;

	if (sqlite3_prepare_v2(writer->memory, text, -1, &query, NULL) != SQLITE_OK)
		return sql_error(writer->memory, writer->place, error);
	while ((code = sqlite3_step(query)) == SQLITE_ROW)
		add_column(writer, query, &tables);
	sqlite3_finalize(query);
	assert(code != SQLITE_DONE || tables == TIMELINE_TABLES);
	return code == SQLITE_DONE ? 0 : sql_error(writer->memory, writer->place, error);
}

/* Prepare the INSERT that buffers a table's rows in the in-memory database. In `meta`, a
 * later row replaces an earlier one with the same key. */
static int prepare_buffered_insert(struct timeline_table *table, struct error *error)
{
	struct timeline_writer *writer = table->writer;
	struct bytes sql = {0};
	int code;

	bytes_print(&sql, "INSERT %s INTO %s VALUES (?",
		    table == &writer->table[TIMELINE_META] ? "OR REPLACE" : "",
		    table->name);
	for (unsigned i = 1; i < table->columns; i++)
		bytes_add_text(&sql, ", ?");
	bytes_add_text(&sql, ")");
	code = sqlite3_prepare_v2(writer->memory, (char *)sql.data, (int)sql.size,
				  &table->insert, NULL);
	bytes_clear(&sql);
	return code == SQLITE_OK ? 0 : sql_error(writer->memory, writer->place, error);
}

/* Reserve the names of tables, views and indexes, which classes cannot have. */
static int reserve_schema_names(struct timeline_writer *writer, struct error *error)
{
	sqlite3_stmt *query;
	int code;

	if (sqlite3_prepare_v2(writer->memory, "SELECT name FROM sqlite_schema", -1,
			       &query, NULL) != SQLITE_OK)
		return sql_error(writer->memory, writer->place, error);
	while ((code = sqlite3_step(query)) == SQLITE_ROW)
		name_reserve(&writer->classes.names, sql_text(query, 0));
	sqlite3_finalize(query);
	return code == SQLITE_DONE ? 0 : sql_error(writer->memory, writer->place, error);
}

/* Create the tables in memory, so that SQLite can describe them. */
static int open_memory(struct timeline_writer *writer, struct error *error)
{
	int status = 0;

	writer->memory = sql_open_memory(schema_tables, writer->place, error);
	writer->asked = sql_open_memory(schema_classes, writer->place, error);
	if (!writer->memory || !writer->asked ||
	    sql_run(writer->memory, writer->place, schema_indexes, error) ||
	    find_tables(writer, error) || reserve_schema_names(writer, error))
		return -1;
	for (size_t i = 0; i < COUNT(unordered) && !status; i++)
		status = prepare_buffered_insert(&writer->table[unordered[i]], error);
	return status;
}

static void open_indexes(struct timeline_writer *writer)
{
	for (size_t i = 0; i < INDEXES; i++)
		writer->index[i] = (struct index_entries){
		    .writer = writer,
		    .of = &indexes[i],
		    .tree = sqlite_tree_new(writer->pages, indexes[i].name, true),
		    .sorter = sorter_new(
			(indexes[i].columns + 1) * sizeof(int64_t), SORTED_AT_ONCE,
			indexes[i].columns == 1 ? compare_two : compare_four)};
}

struct timeline_writer *timeline_writer_new(const char *path, const char *place,
					    bool payload, struct error *error)
{
	struct timeline_writer *writer = mem_zalloc(sizeof(*writer));
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	writer->path = mem_strdup(path);
	writer->place = mem_strdup(place ? place : path);
	writer->last_ns = NSEC_MIN;
	writer->classes.place = writer->place;
	if (fd >= 0) {
		writer->pages = sqlite_pages_new(fd, writer->place);
		writer->stamps = sqlite_tree_new(writer->pages, "event_ts_ns", true);
		open_indexes(writer);
		writer->classes.pages = payload ? writer->pages : NULL;
	} else {
		error_errno(error, writer->place);
	}
	if (fd >= 0 && open_memory(writer, error) == 0)
		return writer;
	timeline_writer_free(writer);
	return NULL;
}

static bool cells_equal(const struct cell *a, const struct cell *b)
{
	if (a->type == CELL_TEXT)
		return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
	return a->integer == b->integer;
}

/* Count the distinct values of the key's first columns, for the query planner; not of the
 * last two, a time and a number that makes the key unique. */
static void count_groups(struct timeline_table *table, const struct cell *cell)
{
	bool is_first = table->rows == 0, is_new = is_first;

	for (unsigned i = 0; i + 2 < table->keys; i++) {
		struct cell *last = &table->last[i];
		bool is_other = is_first || !cells_equal(&cell[i], last);

		is_new |= is_other;
		table->groups[i] += is_new;
		if (!is_other)
			continue;
		free(table->text[i]);
		*last = cell[i];
		if (last->type == CELL_TEXT)
			last->bytes = table->text[i] =
			    mem_strndup(cell[i].bytes, cell[i].size);
	}
}

static int insert_row(struct timeline_table *table, const struct cell *row,
		      struct error *error)
{
	struct timeline_writer *writer = table->writer;

	for (unsigned i = 0; i < table->columns; i++)
		sql_bind(table->insert, (int)i + 1, &row[i]);
	sqlite3_step(table->insert);
	return sqlite3_reset(table->insert) == SQLITE_OK
		   ? 0
		   : sql_error(writer->memory, writer->place, error);
}

/* Add a row to a table's pages, in ascending order of the key. Return 0, or -1 with
 * error.
 */
static int add_to_tree(struct timeline_table *table, const struct cell *row,
		       struct error *error)
{
	struct row_bytes *bytes = &table->writer->row;
	int64_t id = table->has_id ? row[0].integer : table->rows + 1;

	if (table->has_no_rowid)
		count_groups(table, row);
	else if (table->rows && id <= table->last_id)
		return error_set(error, "%s: row %" PRId64 " of %s comes after %" PRId64,
				 table->writer->place, id, table->name, table->last_id);
	row_bytes_make(bytes, table->has_id, table->type + table->has_id,
		       row + table->has_id, table->columns - table->has_id);
	table->rows++;
	table->last_id = id;
	return sqlite_tree_add(table->tree, id, bytes, error);
}

/* Add the entries of the latest row to the table's indexes. Return 0, or -1 with error.
 */
static int add_entries(struct timeline_table *table, const struct cell *row,
		       struct error *error)
{
	struct timeline_writer *writer = table->writer;
	int status = 0;

	for (size_t i = 0; i < INDEXES && !status; i++) {
		const struct timeline_index *index = &indexes[i];
		int64_t entry[ENTRY_MOST];

		if (table != &writer->table[index->table])
			continue;
		for (unsigned k = 0; k < index->columns; k++)
			entry[k] = cell_integer(&row[index->column[k]], TIMELINE_NONE);
		entry[index->columns] = table->last_id;
		status = sorter_add(writer->index[i].sorter, entry, error);
	}
	return status;
}

/* Add a row, its cells in the order of the file. Return 0, or -1 with error. */
static int add_table_row(struct timeline_table *table, const struct cell *row,
			 struct error *error)
{
	if (table->writer->failure ||
	    (table->insert ? insert_row : add_to_tree)(table, row, error) ||
	    add_entries(table, row, error))
		return repeat_failure(table->writer, error);
	return 0;
}

/* Make a text cell. If the string is not valid UTF-8, use a cleaned copy, stored in
 * `kept` for the caller to free. */
static struct cell clean_text(const char *text, char **kept)
{
	if (text && !utf8_is_valid(text, strlen(text)))
		text = *kept = utf8_clean(text);
	return cell_of_text(text);
}

/* A member of the tables' structs, which are all eight bytes. */
union member {
	int64_t integer;
	double real;
	const char *text;
};

_Static_assert(sizeof(union member) == 8, "members of rows");

static struct cell member_cell(const union member *member, enum cell_type type,
			       char **kept)
{
	if (type == CELL_TEXT)
		return clean_text(member->text, kept);
	if (type == CELL_REAL)
		return (struct cell){.type = CELL_REAL, .real = member->real};
	if (member->integer == TIMELINE_NONE)
		return (struct cell){.type = CELL_NULL};
	return cell_of_integer(member->integer);
}

void timeline_make_row(const struct timeline_writer *writer, enum timeline_table_id which,
		       const struct cell *cell, struct row_bytes *row)
{
	const struct timeline_table *table = &writer->table[which];
	struct cell ordered[TABLE_COLUMNS];

	for (unsigned i = 0; i < table->columns; i++)
		ordered[i] = cell[table->from[i]];
	row_bytes_make(row, false, table->type, ordered, table->columns);
}

int timeline_add_made_row(struct timeline_writer *writer, enum timeline_table_id which,
			  const struct cell *cell, const struct row_bytes *row,
			  struct error *error)
{
	struct timeline_table *table = &writer->table[which];
	struct cell key[TABLE_KEYS];

	assert(table->has_no_rowid && !table->insert);
	for (unsigned i = 0; i + 2 < table->keys; i++)
		key[i] = cell[table->from[i]];
	count_groups(table, key);
	table->rows++;
	if (writer->failure || sqlite_tree_add(table->tree, 0, row, error))
		return repeat_failure(writer, error);
	return 0;
}

int timeline_add_row(struct timeline_writer *writer, enum timeline_table_id which,
		     const void *row, struct error *error)
{
	struct timeline_table *table = &writer->table[which];
	const union member *member = row;
	struct cell cell[TABLE_COLUMNS];
	char *kept[TABLE_COLUMNS] = {NULL};
	int status;

	for (unsigned i = 0; i < table->columns; i++)
		cell[i] = member_cell(&member[table->from[i]], table->type[i], &kept[i]);
	if (table->has_id && cell[0].integer == 0)
		cell[0].integer = table->last_id + 1;
	status = add_table_row(table, cell, error);
	for (unsigned i = 0; i < table->columns; i++)
		free(kept[i]);
	return status;
}

int timeline_add_meta(struct timeline_writer *writer, const char *key,
		      const struct cell *value, struct error *error)
{
	struct cell row[2] = {[1] = *value};

	cell_set_bytes(&row[0], CELL_TEXT, key, strlen(key));
	return add_table_row(&writer->table[TIMELINE_META], row, error);
}

int timeline_add_class(struct timeline_writer *writer, const struct timeline_class *class,
		       uint32_t *id, struct error *error)
{
	return class_set_add(&writer->classes, class, id, error);
}

void timeline_writer_set_part(struct timeline_writer *writer)
{
	writer->classes.is_part = true;
}

static int add_to_class(struct timeline_writer *writer,
			const struct timeline_event *event, int64_t id,
			struct error *error)
{
	const struct writer_layout *layout = &writer->classes.layout[event->class - 1];
	const struct writer_class *class = &writer->classes.class[layout->class];
	const struct row_bytes *row = event->row;

	if (!row) {
		row = &writer->row;
		row_bytes_make(&writer->row, true, layout->type, event->cell,
			       layout->columns);
	}
	if (layout->place) {
		row_bytes_place(&writer->placed, row, layout->place, layout->columns);
		row = &writer->placed;
	}
	if (row->size <= ROW_MOST)
		return sqlite_tree_add(class->tree, id, row, error);
	return error_set(error, "%s: event %s has %zu bytes (limit %d)", writer->place,
			 class->name, row->size, ROW_MOST);
}

static int add_event(struct timeline_writer *writer, const struct timeline_event *event,
		     struct error *error)
{
	struct timeline_table *table = &writer->table[TIMELINE_EVENT];
	const struct writer_layout *layout = &writer->classes.layout[event->class - 1];
	const struct writer_class *class = &writer->classes.class[layout->class];
	static const enum cell_type key_type[] = {CELL_INTEGER, CELL_INTEGER};
	int64_t id = table->rows + 1;
	const struct cell key[] = {cell_of_integer(event->ts_ns), cell_of_integer(id)};
	const struct cell row[] = {
	    cell_of_integer(id),
	    cell_of_integer(event->ts_ns),
	    cell_of_integer(event->node),
	    {.type = event->cpu < 0 ? CELL_NULL : CELL_INTEGER, .integer = event->cpu},
	    {.type = event->tid < 0 ? CELL_NULL : CELL_INTEGER, .integer = event->tid},
	    cell_of_integer(class->id),
	    {.type = event->source ? CELL_INTEGER : CELL_NULL, .integer = event->source},
	};

	if (add_to_tree(table, row, error))
		return -1;
	row_bytes_make(&writer->row, false, key_type, key, 2);
	if (sqlite_tree_add(writer->stamps, 0, &writer->row, error))
		return -1;
	if (!class->tree || !(event->cell || event->row))
		return 0;
	return add_to_class(writer, event, id, error);
}

int timeline_add_event(struct timeline_writer *writer, const struct timeline_event *event,
		       int64_t *id, struct error *error)
{
	struct class_set *classes = &writer->classes;

	assert(event->class >= 1 && event->class <= classes->layouts);
	assert(event->ts_ns >= writer->last_ns);
	if (writer->failure || add_event(writer, event, error))
		return repeat_failure(writer, error);
	classes->class[classes->layout[event->class - 1].class].events++;
	writer->last_ns = event->ts_ns;
	if (id)
		*id = writer->table[TIMELINE_EVENT].rows;
	return 0;
}

/* No other process uses the file, and an unfinished one is deleted, so there is no need
 * of a journal, of syncing, or of a lock for each statement. */
static const char settings[] = "PRAGMA page_size = 8192;"
			       "PRAGMA journal_mode = OFF;"
			       "PRAGMA synchronous = OFF;"
			       "PRAGMA locking_mode = EXCLUSIVE;"
			       "PRAGMA cache_size = -8192;"
			       "PRAGMA secure_delete = OFF;"
			       "PRAGMA foreign_keys = OFF;"
			       "PRAGMA auto_vacuum = NONE;"
			       "PRAGMA encoding = 'UTF-8';"
			       "PRAGMA threads = 0;";

/* Add a table's buffered rows in order of their keys. Return 0, or -1 with error. */
static int add_buffered(struct timeline_table *table, struct error *error)
{
	struct timeline_writer *writer = table->writer;
	AUTOFREE char *text = mem_printf("SELECT * FROM %s ORDER BY 1, 2", table->name);
	struct cell row[TABLE_COLUMNS];
	sqlite3_stmt *query;
	int code = sqlite3_prepare_v2(writer->memory, text, -1, &query, NULL);
	int status = 0;

	while (!status && (code = sqlite3_step(query)) == SQLITE_ROW) {
		for (unsigned i = 0; i < table->columns; i++)
			row[i] = sql_cell(query, (int)i);
		status = add_to_tree(table, row, error);
	}
	if (!status && code != SQLITE_DONE)
		status = sql_error(writer->memory, writer->place, error);
	sqlite3_finalize(query);
	return status;
}

/* Add the rows of event_column for a class. Return 0, or -1 with error. */
static int add_column_rows(struct timeline_writer *writer,
			   const struct writer_class *class, struct error *error)
{
	for (size_t i = 0; i < class->columns; i++) {
		const struct class_column *column = &class->column[i];
		const struct cell row[] = {
		    cell_of_integer(class->id),
		    cell_of_integer((int64_t)i + 1),
		    cell_of_text(column->name),
		    cell_of_text(column->sql),
		    cell_of_text(class_type_name(column->type)),
		    cell_of_integer(column->context),
		};

		if (add_table_row(&writer->table[TIMELINE_EVENT_COLUMN], row, error))
			return -1;
	}
	return 0;
}

/* Add the rows of event_class and event_column. Return 0, or -1 with error. */
static int add_class_rows(struct timeline_writer *writer, struct error *error)
{
	class_set_name_columns(&writer->classes);
	for (size_t i = 0; i < writer->classes.classes; i++) {
		const struct writer_class *class = &writer->classes.class[i];
		const struct cell row[] = {
		    cell_of_integer(class->id),     cell_of_text(class->kind),
		    cell_of_text(class->name),      cell_of_text(class->table),
		    cell_of_integer(class->events),
		};

		if (add_table_row(&writer->table[TIMELINE_EVENT_CLASS], row, error) ||
		    (class->table && add_column_rows(writer, class, error)))
			return -1;
	}
	return 0;
}

static int write_entry(void *context, const void *item)
{
	static const enum cell_type type[ENTRY_MOST] = {CELL_INTEGER, CELL_INTEGER,
							CELL_INTEGER, CELL_INTEGER};
	struct index_entries *index = context;
	struct row_bytes *row = &index->writer->row;
	const int64_t *entry = item;
	unsigned columns = index->of->columns;
	struct cell cell[ENTRY_MOST];
	bool is_new = !index->groups[0];

	for (unsigned i = 0; i <= columns; i++) {
		cell[i] = cell_of_known(entry[i], TIMELINE_NONE);
		is_new |= entry[i] != index->last[i];
		index->groups[i] += is_new;
		index->last[i] = entry[i];
	}
	row_bytes_make(row, false, type, cell, columns + 1);
	return sqlite_tree_add(index->tree, 0, row, index->error);
}

static int write_index(struct index_entries *index, struct error *error)
{
	index->error = error;
	return sorter_each(index->sorter, write_entry, index, error);
}

/* Write all pages except the roots. Return 0, or -1 with error. */
static int finish_pages(struct timeline_writer *writer, struct error *error)
{
	int status = add_class_rows(writer, error);

	for (size_t i = 0; i < COUNT(unordered) && !status; i++)
		status = add_buffered(&writer->table[unordered[i]], error);
	for (size_t i = 0; i < INDEXES && !status; i++)
		status = write_index(&writer->index[i], error);
	return status || sqlite_pages_finish(writer->pages, error) ? -1 : 0;
}

/* Find the root pages that SQLite gave to tables and indexes. Return 0, or -1 with error.
 */
static int find_roots(struct timeline_writer *writer, struct error *error)
{
	static const char text[] = "SELECT name, rootpage FROM sqlite_schema "
				   "WHERE type IN ('table', 'index') ORDER BY rowid";
	sqlite3_stmt *query;
	int code;

	if (sqlite3_prepare_v2(writer->db, text, -1, &query, NULL) != SQLITE_OK)
		return sql_error(writer->db, writer->place, error);
	while ((code = sqlite3_step(query)) == SQLITE_ROW)
		sqlite_pages_set_root(writer->pages, sql_text(query, 0),
				      (uint32_t)sqlite3_column_int64(query, 1));
	sqlite3_finalize(query);
	return code == SQLITE_DONE ? 0 : sql_error(writer->db, writer->place, error);
}

static int open_db(struct timeline_writer *writer, struct error *error)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;

	writer->db = sql_open(writer->path, flags, error);
	return writer->db && !sql_run(writer->db, writer->place, settings, error) &&
		       !sql_run(writer->db, writer->place, "BEGIN EXCLUSIVE", error)
		   ? 0
		   : -1;
}

static int close_db(struct timeline_writer *writer, struct error *error)
{
	int code;

	if (sql_run(writer->db, writer->place, "COMMIT", error))
		return -1;
	code = sqlite3_close(writer->db);
	writer->db = NULL;
	return code == SQLITE_OK
		   ? 0
		   : error_set(error, "%s: %s", writer->place, sqlite3_errstr(code));
}

static int make_tables(struct timeline_writer *writer, struct error *error)
{
	return open_db(writer, error) ||
		       sql_run(writer->db, writer->place, schema_tables, error) ||
		       class_set_create_tables(&writer->classes, writer->db,
					       writer->asked, error) ||
		       find_roots(writer, error) || close_db(writer, error)
		   ? -1
		   : 0;
}

/*
 * SQLite plans joins with the statistics in sqlite_stat1. ANALYZE, which also creates
 * that table, counts the rows of short tables. For long ones we know the result: the
 * index of timestamps finds about one row each, a class has as many rows as events, and
 * the values of other indexes were counted.
 */
static const char analyze[] =
    "ANALYZE main.node; ANALYZE main.clock;"
    "ANALYZE main.process; ANALYZE main.thread; ANALYZE main.invocation;"
    "ANALYZE main.event_class;"
    "INSERT INTO sqlite_stat1 SELECT 'event', 'event_ts_ns', "
    "(SELECT max(id) FROM event) || ' 1' WHERE EXISTS (SELECT 1 FROM event);"
    "INSERT INTO sqlite_stat1 SELECT table_name, NULL, events || '' FROM event_class "
    "WHERE table_name IS NOT NULL AND events ORDER BY id";

/* Add the statistics of a table of spans, "ROWS N1 N2 1 1": for each prefix of the key
 * the average number of rows with the same values. Return 0, or -1 with error. */
static int add_spans_statistic(const struct timeline_table *table, struct error *error)
{
	const struct timeline_writer *writer = table->writer;
	char text[24 * (TABLE_KEYS + 1)] = "", *sql;
	int size = 0, status;

	if (table->rows == 0 || !table->has_no_rowid || table->keys <= 2)
		return 0;
	for (unsigned i = 0; i + 2 < table->keys; i++)
		size += snprintf(text + size, sizeof(text) - (size_t)size, "%" PRId64 " ",
				 (table->rows + table->groups[i] - 1) / table->groups[i]);
	sql = mem_printf("INSERT INTO sqlite_stat1 VALUES ('%s', '%s', '%" PRId64
			 " %s1 1')",
			 table->name, table->name, table->rows, text);
	status = sql_run(writer->db, writer->place, sql, error);
	free(sql);
	return status;
}

/* Add the statistic of an index, "ROWS N1 N2 ...": for its first 1, 2, ... columns the
 * average number of rows with the same values, as ANALYZE does: rounded up, but 1 if it
 * is at most 1.1. Return 0, or -1 with error. */
static int add_index_statistic(struct timeline_writer *writer, size_t at,
			       struct error *error)
{
	const struct timeline_index *index = &indexes[at];
	const struct timeline_table *table = &writer->table[index->table];
	int64_t rows = table->rows;
	struct bytes sql = {0};
	int status;

	if (rows == 0 || !index->is_analyzed)
		return 0;
	bytes_print(&sql, "INSERT INTO sqlite_stat1 VALUES ('%s', '%s', '%" PRId64,
		    table->name, index->name, rows);
	for (unsigned i = 0; i < index->columns; i++) {
		int64_t groups = writer->index[at].groups[i];

		bytes_print(&sql, " %" PRId64,
			    rows * 10 <= groups * 11 ? 1 : (rows + groups - 1) / groups);
	}
	bytes_add(&sql, "')", 3);
	status = sql_run(writer->db, writer->place, (const char *)sql.data, error);
	bytes_clear(&sql);
	return status;
}

static int add_statistics(struct timeline_writer *writer, struct error *error)
{
	int status = sql_run(writer->db, writer->place, analyze, error);

	for (size_t i = 0; i < INDEXES && !status; i++)
		status = add_index_statistic(writer, i, error);
	for (size_t i = 0; i < TIMELINE_TABLES && !status; i++)
		status = add_spans_statistic(&writer->table[i], error);
	return status;
}

/* Create indexes and statistics, after all pages are in place. Return 0, or -1 with
 * error.
 */
static int make_indexes(struct timeline_writer *writer, struct error *error)
{
	return open_db(writer, error) ||
		       sql_run(writer->db, writer->place, schema_indexes, error) ||
		       add_statistics(writer, error) || close_db(writer, error)
		   ? -1
		   : 0;
}

int timeline_writer_finish(struct timeline_writer *writer, struct error *error)
{
	if (writer->failure || finish_pages(writer, error) ||
	    make_tables(writer, error) ||
	    sqlite_pages_write_roots(writer->pages, error) || make_indexes(writer, error))
		return repeat_failure(writer, error);
	return 0;
}

static void table_clear(struct timeline_table *table)
{
	sqlite3_finalize(table->insert);
	free(table->name);
	for (size_t i = 0; i < TABLE_KEYS; i++)
		free(table->text[i]);
}

void timeline_writer_free(struct timeline_writer *writer)
{
	if (!writer)
		return;
	for (size_t i = 0; i < TIMELINE_TABLES; i++)
		table_clear(&writer->table[i]);
	for (size_t i = 0; i < INDEXES; i++)
		sorter_free(writer->index[i].sorter);
	sqlite3_close(writer->db);
	sqlite3_close(writer->memory);
	sqlite3_close(writer->asked);
	class_set_clear(&writer->classes);
	sqlite_pages_free(writer->pages);
	row_bytes_clear(&writer->row);
	row_bytes_clear(&writer->placed);
	free(writer->failure);
	free(writer->path);
	free(writer->place);
	free(writer);
}

const char *timeline_library_version(void)
{
	return sqlite3_libversion();
}
