/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge_bare.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "base/cell.h"
#include "base/mem.h"

enum { BATCH = 65536, EVENT_CLASS = 5 };

/* A table of both files, and the rows of it that are in memory. */
struct table {
	sqlite3_stmt *select, *insert;
	int columns;
	struct cell *cell; /* of text and blob `integer` is where in `bytes` it begins */
	size_t cells, capacity, at;
	char *bytes;
	size_t used, byte_room;
};

struct copy {
	sqlite3 *from, *to;
	struct merge_bare_cost cost;
	struct table *class; /* by the class's id, which begins at 1 */
	size_t classes, class_capacity;
};

static double clock_s(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void start_counting(struct copy *copy)
{
	copy->cost.wall_s -= clock_s(CLOCK_MONOTONIC);
	copy->cost.cpu_s -= clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static void stop_counting(struct copy *copy)
{
	copy->cost.wall_s += clock_s(CLOCK_MONOTONIC);
	copy->cost.cpu_s += clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static int prepare(sqlite3 *db, char *sql, sqlite3_stmt **made)
{
	int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, made, NULL);

	sqlite3_free(sql);
	return code == SQLITE_OK ? 0 : -1;
}

/* The columns of a table that are stored, quoted, with commas; for sqlite3_free(). */
static char *list_columns(const struct copy *copy, const char *name)
{
	sqlite3_stmt *query = NULL;
	char *list = NULL;

	if (!prepare(copy->from,
		     sqlite3_mprintf("SELECT group_concat('\"' || replace(name, '\"', "
				     "'\"\"') || '\"') FROM pragma_table_xinfo(%Q) "
				     "WHERE hidden = 0",
				     name),
		     &query) &&
	    sqlite3_step(query) == SQLITE_ROW)
		list = sqlite3_mprintf("%s", sqlite3_column_text(query, 0));
	sqlite3_finalize(query);
	return list;
}

/* With a table's rows from one id to another, or all of them. */
static int table_open(struct table *table, struct copy *copy, const char *name,
		      bool by_id)
{
	sqlite3_str *insert = sqlite3_str_new(NULL);
	char *list = list_columns(copy, name);
	int status;

	memset(table, 0, sizeof(*table));
	status = prepare(copy->from,
			 sqlite3_mprintf("SELECT %s FROM \"%w\"%s", list, name,
					 by_id ? " WHERE id BETWEEN ? AND ?" : ""),
			 &table->select);
	sqlite3_str_appendf(insert, "INSERT INTO \"%w\" (%s) VALUES (?", name, list);
	sqlite3_free(list);
	if (status) {
		sqlite3_free(sqlite3_str_finish(insert));
		return -1;
	}
	table->columns = sqlite3_column_count(table->select);
	for (int i = 1; i < table->columns; i++)
		sqlite3_str_appendall(insert, ", ?");
	sqlite3_str_appendall(insert, ")");
	return prepare(copy->to, sqlite3_str_finish(insert), &table->insert);
}

static void table_close(struct table *table)
{
	sqlite3_finalize(table->select);
	sqlite3_finalize(table->insert);
	free(table->cell);
	free(table->bytes);
}

static int64_t keep_bytes(struct table *table, const void *bytes, size_t size)
{
	size_t at = table->used;

	if (table->byte_room - at < size) {
		table->byte_room = 2 * (at + size);
		table->bytes = mem_realloc(table->bytes, table->byte_room, 1);
	}
	if (size)
		memcpy(table->bytes + at, bytes, size);
	table->used += size;
	return (int64_t)at;
}

static struct cell keep_value(struct table *table, int column)
{
	sqlite3_stmt *from = table->select;
	struct cell cell = {.type = CELL_NULL};

	switch (sqlite3_column_type(from, column)) {
	case SQLITE_INTEGER:
		cell.type = CELL_INTEGER;
		cell.integer = sqlite3_column_int64(from, column);
		break;
	case SQLITE_FLOAT:
		cell.type = CELL_REAL;
		cell.real = sqlite3_column_double(from, column);
		break;
	case SQLITE_TEXT:
	case SQLITE_BLOB:
		cell.type = sqlite3_column_type(from, column) == SQLITE_TEXT ? CELL_TEXT
									     : CELL_BLOB;
		cell.size = (uint32_t)sqlite3_column_bytes(from, column);
		cell.integer =
		    keep_bytes(table, sqlite3_column_blob(from, column), cell.size);
		break;
	}
	return cell;
}

/* Some rows into memory instead of those there: SQLITE_ROW where there may be more. */
static int table_read(struct table *table, int most)
{
	int code = SQLITE_ROW;

	table->cells = table->used = table->at = 0;
	for (int row = 0; row < most; row++) {
		code = sqlite3_step(table->select);
		if (code != SQLITE_ROW)
			break;
		for (int i = 0; i < table->columns; i++) {
			table->cell = mem_grow(table->cell, table->cells,
					       &table->capacity, sizeof(*table->cell));
			table->cell[table->cells++] = keep_value(table, i);
		}
	}
	return code;
}

static int table_read_ids(struct table *table, int64_t first, int64_t last)
{
	int code;

	sqlite3_bind_int64(table->select, 1, first);
	sqlite3_bind_int64(table->select, 2, last);
	code = table_read(table, BATCH + 1);
	sqlite3_reset(table->select);
	return code == SQLITE_DONE ? 0 : -1;
}

static void bind(const struct table *table, int at, const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		sqlite3_bind_null(table->insert, at);
		break;
	case CELL_INTEGER:
		sqlite3_bind_int64(table->insert, at, cell->integer);
		break;
	case CELL_REAL:
		sqlite3_bind_double(table->insert, at, cell->real);
		break;
	case CELL_TEXT:
		sqlite3_bind_text(table->insert, at, table->bytes + cell->integer,
				  (int)cell->size, SQLITE_STATIC);
		break;
	case CELL_BLOB:
		sqlite3_bind_blob(table->insert, at, table->bytes + cell->integer,
				  (int)cell->size, SQLITE_STATIC);
		break;
	}
}

/* Insert the next row that is in memory. */
static int insert_row(struct table *table)
{
	const struct cell *cell = &table->cell[table->at];

	for (int i = 0; i < table->columns; i++)
		bind(table, i + 1, &cell[i]);
	table->at += (size_t)table->columns;
	sqlite3_step(table->insert);
	return sqlite3_reset(table->insert);
}

static int copy_table(struct copy *copy, const char *name)
{
	struct table table;
	int status = table_open(&table, copy, name, false), code = SQLITE_ROW;

	while (!status && code == SQLITE_ROW) {
		code = table_read(&table, BATCH);
		start_counting(copy);
		while (!status && table.at < table.cells)
			status = insert_row(&table);
		stop_counting(copy);
	}
	table_close(&table);
	return status || code != SQLITE_DONE ? -1 : 0;
}

/* An event's row, and its fields, which are the next of its class. */
static int insert_event(struct copy *copy, struct table *event)
{
	const struct cell *row = &event->cell[event->at];
	struct table *class = &copy->class[row[EVENT_CLASS].integer - 1];
	int64_t id = row[0].integer;

	if (insert_row(event))
		return -1;
	if (class->at == class->cells || class->cell[class->at].integer != id)
		return 0;
	return insert_row(class);
}

static int copy_events(struct copy *copy)
{
	struct table event;
	int status = table_open(&event, copy, "event", true);

	for (int64_t id = 1; !status; id += BATCH) {
		status = table_read_ids(&event, id, id + BATCH - 1);
		if (status || !event.cells)
			break;
		for (size_t i = 0; i < copy->classes && !status; i++)
			if (copy->class[i].select)
				status =
				    table_read_ids(&copy->class[i], id, id + BATCH - 1);
		start_counting(copy);
		while (!status && event.at < event.cells)
			status = insert_event(copy, &event);
		stop_counting(copy);
	}
	table_close(&event);
	return status;
}

/* Do something with the text in each row. */
static int each_row(struct copy *copy, const char *query, bool is_counted,
		    int (*act)(struct copy *, const char *))
{
	sqlite3_stmt *rows = NULL;
	int status =
	    sqlite3_prepare_v2(copy->from, query, -1, &rows, NULL) == SQLITE_OK ? 0 : -1;

	while (!status && sqlite3_step(rows) == SQLITE_ROW) {
		if (is_counted)
			start_counting(copy);
		status = act(copy, (const char *)sqlite3_column_text(rows, 0));
		if (is_counted)
			stop_counting(copy);
	}
	return sqlite3_finalize(rows) == SQLITE_OK ? status : -1;
}

static int run(struct copy *copy, const char *sql)
{
	return sqlite3_exec(copy->to, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

static int add_class(struct copy *copy, const char *name)
{
	struct table *class;

	copy->class = mem_grow(copy->class, copy->classes, &copy->class_capacity,
			       sizeof(*copy->class));
	class = &copy->class[copy->classes++];
	memset(class, 0, sizeof(*class));
	return name ? table_open(class, copy, name, true) : 0;
}

static int copy_all(struct copy *copy)
{
	/* The settings of the timeline's writer. */
	if (run(copy, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8192;"
		      "PRAGMA secure_delete = OFF; BEGIN") ||
	    each_row(
		copy,
		"SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite^_%' ESCAPE '^'"
		" AND (type <> 'index' OR name = 'event_ts_ns') ORDER BY rowid",
		true, run) ||
	    each_row(copy, "SELECT table_name FROM event_class ORDER BY id", false,
		     add_class) ||
	    copy_events(copy) ||
	    each_row(copy,
		     "SELECT name FROM sqlite_master WHERE type = 'table'"
		     " AND name NOT LIKE 'sqlite^_%' ESCAPE '^' AND name <> 'event' AND "
		     "name NOT IN"
		     " (SELECT table_name FROM event_class"
		     "  WHERE table_name IS NOT NULL)",
		     false, copy_table) ||
	    each_row(copy,
		     "SELECT sql FROM sqlite_master WHERE type = 'index'"
		     " AND name <> 'event_ts_ns' AND sql IS NOT NULL ORDER BY rowid",
		     true, run))
		return -1;
	start_counting(copy);
	if (run(copy, "COMMIT"))
		return -1;
	stop_counting(copy);
	return 0;
}

int merge_bare(const char *from, const char *to, struct merge_bare_cost *cost,
	       struct error *error)
{
	struct copy copy = {.from = NULL};
	int status = 0;

	if (sqlite3_open_v2(from, &copy.from, SQLITE_OPEN_READONLY, NULL) ||
	    sqlite3_open_v2(
		to, &copy.to,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) ||
	    copy_all(&copy))
		status =
		    error_set(error, "%s: %s; %s: %s", from, sqlite3_errmsg(copy.from),
			      to, sqlite3_errmsg(copy.to));
	for (size_t i = 0; i < copy.classes; i++)
		table_close(&copy.class[i]);
	free(copy.class);
	sqlite3_close(copy.from);
	sqlite3_close(copy.to);
	*cost = copy.cost;
	return status;
}
