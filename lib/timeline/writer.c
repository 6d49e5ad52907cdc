/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/schema.h"
#include "timeline/sql.h"
#include "timeline/writer_private.h"

/*
 * Nobody else sees the file, and one that is not finished is thrown away: no
 * journal, no sync, no lock a statement. docs/benchmarks.md has what the page
 * size and the cache are worth.
 */
static const char settings[] = "PRAGMA page_size = 4096;"
			       "PRAGMA journal_mode = OFF;"
			       "PRAGMA synchronous = OFF;"
			       "PRAGMA locking_mode = EXCLUSIVE;"
			       "PRAGMA cache_size = -8192;"
			       "PRAGMA secure_delete = OFF;"
			       "PRAGMA foreign_keys = OFF;"
			       "PRAGMA auto_vacuum = NONE;"
			       "PRAGMA encoding = 'UTF-8';"
			       "PRAGMA threads = 0;";

static const struct {
	const char *name;
	unsigned columns;
} tables[TABLES] = {
    [TABLE_NODE] = {"node", 8},
    [TABLE_SOURCE] = {"source", 13},
    [TABLE_CLOCK] = {"clock", 4},
    [TABLE_CLOCK_BOUND] = {"clock_bound", 4},
    [TABLE_CLOCK_PAIR] = {"clock_pair", 12},
    [TABLE_EVENT_CLASS] = {"event_class", 5},
    [TABLE_EVENT_COLUMN] = {"event_column", 6},
    [TABLE_EVENT] = {"event", 7},
    [TABLE_MESSAGE] = {"message", 15},
    [TABLE_METRIC] = {"metric", 5},
    [TABLE_METRIC_ITEM] = {"metric_item", 3},
    [TABLE_SAMPLE] = {"sample", 6},
    [TABLE_PROCESS] = {"process", 9},
    [TABLE_THREAD] = {"thread", 7},
    [TABLE_INVOCATION] = {"invocation", 10},
    [TABLE_PROBLEM] = {"problem", 6},
};

/*
 * The names that classes may not have: tables and views, and the indexes that
 * come at the end. SQLite knows them best, so it is asked, in memory.
 */
static int take_schema_names(struct name_set *names, const char *place,
			     struct error *error)
{
	sqlite3_stmt *query = NULL;
	sqlite3 *db;
	int status = -1;

	if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		goto fail;
	if (sql_run(db, place, schema_tables, error) ||
	    sql_run(db, place, schema_indexes, error))
		goto out;
	if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master", -1, &query, NULL) !=
	    SQLITE_OK)
		goto fail;
	while ((status = sqlite3_step(query)) == SQLITE_ROW)
		name_take(names, (const char *)sqlite3_column_text(query, 0));
	if (status == SQLITE_DONE) {
		status = 0;
		goto out;
	}
fail:
	status = sql_error(db, place, error);
out:
	sqlite3_finalize(query);
	sqlite3_close(db);
	return status;
}

static int prepare_file(struct timeline_writer *writer, const char *path,
			struct error *error)
{
	writer->db = sql_open(
	    path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
	    error);
	if (!writer->db || sql_run(writer->db, writer->place, settings, error) ||
	    sql_run(writer->db, writer->place, "BEGIN EXCLUSIVE", error) ||
	    sql_run(writer->db, writer->place, schema_tables, error))
		return -1;
	writer->batches = batches_new(writer->db, writer->place, error);
	return writer->batches ? 0 : -1;
}

struct timeline_writer *timeline_writer_new(const char *path, const char *place,
					    bool payload, struct error *error)
{
	struct timeline_writer *writer = mem_zalloc(sizeof(*writer));

	writer->place = mem_strdup(place ? place : path);
	writer->payload = payload;
	if (take_schema_names(&writer->names, writer->place, error) ||
	    prepare_file(writer, path, error)) {
		timeline_writer_free(writer);
		return NULL;
	}
	for (int i = 0; i < TABLES; i++)
		writer->table[i] =
		    batch_add(writer->batches, tables[i].name, tables[i].columns);
	return writer;
}

int timeline_add_meta(struct timeline_writer *writer, const char *key,
		      const struct cell *value, struct error *error)
{
	static const char text[] = "INSERT OR REPLACE INTO meta VALUES (?, ?)";
	sqlite3_stmt *statement;
	int status = 0;

	if (sqlite3_prepare_v2(writer->db, text, -1, &statement, NULL) != SQLITE_OK)
		return sql_error(writer->db, writer->place, error);
	sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
	if (sql_bind(statement, 2, value) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_DONE)
		status = sql_error(writer->db, writer->place, error);
	sqlite3_finalize(statement);
	return status;
}

int timeline_add_event(struct timeline_writer *writer, const struct timeline_event *event,
		       int64_t *id, struct error *error)
{
	struct writer_class *class = &writer->class[event->class - 1];
	int64_t number = ++writer->rows[TABLE_EVENT];
	const struct cell row[] = {
	    writer_integer(event->ts_ns),
	    writer_integer(event->node),
	    {.type = event->cpu < 0 ? CELL_NULL : CELL_INTEGER, .integer = event->cpu},
	    {.type = event->tid < 0 ? CELL_NULL : CELL_INTEGER, .integer = event->tid},
	    writer_integer(event->class),
	    {.type = event->source ? CELL_INTEGER : CELL_NULL, .integer = event->source},
	};

	assert(event->class >= 1 && event->class <= writer->classes);
	class->events++;
	if (id)
		*id = number;
	if (batch_row_id(writer->table[TABLE_EVENT], number, row, error))
		return -1;
	if (!class->batch || !event->cell)
		return 0;
	return batch_row_id(class->batch, number, event->cell, error);
}

int timeline_writer_finish(struct timeline_writer *writer, struct error *error)
{
	int code;

	if (writer_finish_classes(writer, error) ||
	    batches_flush(writer->batches, error) ||
	    sql_run(writer->db, writer->place, schema_indexes, error) ||
	    writer_add_statistics(writer, error) ||
	    sql_run(writer->db, writer->place, "COMMIT", error))
		return -1;
	batches_free(writer->batches);
	writer->batches = NULL;
	code = sqlite3_close(writer->db);
	writer->db = NULL;
	if (code == SQLITE_OK)
		return 0;
	return error_set(error, "%s: %s", writer->place, sqlite3_errstr(code));
}

void timeline_writer_free(struct timeline_writer *writer)
{
	if (!writer)
		return;
	batches_free(writer->batches);
	sqlite3_close(writer->db);
	name_clear(&writer->names);
	writer_clear_classes(writer);
	free(writer->place);
	free(writer);
}

const char *timeline_library_version(void)
{
	return sqlite3_libversion();
}
