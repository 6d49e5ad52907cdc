/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of a timeline: SQLite makes its tables, which get our pages, and the indexes.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/schema.h"
#include "timeline/sql.h"
#include "timeline/writer_private.h"

/*
 * Nobody else sees the file, and one that is not finished is thrown away: no
 * journal, no sync, no lock a statement.
 */
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

/* Rows that waited, in their order. */
static int add_waiting(struct timeline_table *table, struct error *error)
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
		status = writer_add_to_tree(table, row, error);
	}
	if (!status && code != SQLITE_DONE)
		status = sql_error(writer->memory, writer->place, error);
	sqlite3_finalize(query);
	return status;
}

/* All pages but the roots. */
static int finish_pages(struct timeline_writer *writer, struct error *error)
{
	int status =
	    writer_finish_classes(writer, error) || tree_finish(writer->stamps, error);

	for (size_t i = 0; i < TIMELINE_TABLES && !status; i++) {
		struct timeline_table *table = &writer->table[i];

		status = (table->insert && add_waiting(table, error)) ||
			 tree_finish(table->tree, error);
	}
	for (size_t i = 0; i < writer->classes && !status; i++)
		status =
		    writer->class[i].tree && tree_finish(writer->class[i].tree, error);
	return status || pages_flush(writer->pages, error) ? -1 : 0;
}

/* The pages that SQLite gave to the tables. Those of the classes stand in the schema in
 * the order of the classes. */
static int find_roots(struct timeline_writer *writer, struct error *error)
{
	static const char text[] = "SELECT name, rootpage FROM sqlite_schema "
				   "WHERE type IN ('table', 'index') ORDER BY rowid";
	size_t next = 0;
	sqlite3_stmt *query;
	int code;

	if (sqlite3_prepare_v2(writer->db, text, -1, &query, NULL) != SQLITE_OK)
		return sql_error(writer->db, writer->place, error);
	while ((code = sqlite3_step(query)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(query, 0);
		uint32_t page = (uint32_t)sqlite3_column_int64(query, 1);

		for (size_t i = 0; i < TIMELINE_TABLES; i++)
			if (strcmp(name, writer->table[i].name) == 0)
				writer->table[i].root = page;
		if (strcmp(name, "event_ts_ns") == 0)
			writer->stamps_root = page;
		else if (next < writer->classes && writer->class[next].table &&
			 strcmp(name, writer->class[next].table) == 0)
			writer->class[next++].root = page;
	}
	sqlite3_finalize(query);
	assert(code != SQLITE_DONE || next == (writer->payload ? writer->classes : 0));
	return code == SQLITE_DONE ? 0 : sql_error(writer->db, writer->place, error);
}

/* SQLite has closed the file. */
static int put_roots(struct timeline_writer *writer, struct error *error)
{
	int status = tree_write_root(writer->stamps, writer->stamps_root, error);

	for (size_t i = 0; i < TIMELINE_TABLES && !status; i++)
		status =
		    tree_write_root(writer->table[i].tree, writer->table[i].root, error);
	for (size_t i = 0; i < writer->classes && !status; i++)
		if (writer->class[i].tree)
			status = tree_write_root(writer->class[i].tree,
						 writer->class[i].root, error);
	return status;
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
		       writer_make_classes(writer, error) || find_roots(writer, error) ||
		       close_db(writer, error)
		   ? -1
		   : 0;
}

/*
 * SQLite plans joins by sqlite_stat1. For the long tables we know what it would count: an
 * index of stamps finds about one row each, and a class has its events. The others are
 * short, and ANALYZE makes the table, too.
 */
static const char analyze[] =
    "ANALYZE main.node; ANALYZE main.clock; ANALYZE main.message; ANALYZE main.sample;"
    "ANALYZE main.process; ANALYZE main.thread; ANALYZE main.invocation;"
    "ANALYZE main.event_class;"
    "INSERT INTO sqlite_stat1 SELECT 'event', 'event_ts_ns', "
    "(SELECT max(id) FROM event) || ' 1' WHERE EXISTS (SELECT 1 FROM event);"
    "INSERT INTO sqlite_stat1 SELECT table_name, NULL, events || '' FROM event_class "
    "WHERE table_name IS NOT NULL AND events ORDER BY id";

/* "ROWS by-node by-thread 1 1": how many rows the columns of the key leave. */
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

static int add_statistics(struct timeline_writer *writer, struct error *error)
{
	int status = sql_run(writer->db, writer->place, analyze, error);

	for (size_t i = 0; i < TIMELINE_TABLES && !status; i++)
		status = add_spans_statistic(&writer->table[i], error);
	return status;
}

/* When all rows are there, those of our pages among them. */
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
	    make_tables(writer, error) || put_roots(writer, error) ||
	    make_indexes(writer, error))
		return writer_failed(writer, error);
	return 0;
}
