/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/writer.h"

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
    [TABLE_MESSAGE] = {"message", 25},
    [TABLE_METRIC] = {"metric", 5},
    [TABLE_METRIC_ITEM] = {"metric_item", 3},
    [TABLE_SAMPLE] = {"sample", 6},
    [TABLE_PROCESS] = {"process", 10},
    [TABLE_THREAD] = {"thread", 7},
    [TABLE_INVOCATION] = {"invocation", 10},
    [TABLE_RECORDED] = {"recorded", 5},
    [TABLE_PROBLEM] = {"problem", 6},
};

/*
 * The names that classes may not have: tables and views, and the indexes that
 * come at the end; and the columns of tables that we write ourselves. SQLite knows
 * them best, so it is asked, in memory.
 */
static int read_schema(struct timeline_writer *writer, struct error *error)
{
	const char *place = writer->place;
	sqlite3_stmt *query = NULL;
	sqlite3 *db;
	int status = -1;

	if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		goto fail;
	if (sql_run(db, place, schema_tables, error) ||
	    sql_run(db, place, schema_indexes, error) ||
	    writer_find_sorted(writer, db, error))
		goto out;
	if (sqlite3_prepare_v2(db, "SELECT name FROM sqlite_master", -1, &query, NULL) !=
	    SQLITE_OK)
		goto fail;
	while ((status = sqlite3_step(query)) == SQLITE_ROW)
		name_take(&writer->names, (const char *)sqlite3_column_text(query, 0));
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

struct timeline_writer *timeline_writer_new(const char *path, const char *place,
					    bool payload, struct error *error)
{
	struct timeline_writer *writer = mem_zalloc(sizeof(*writer));

	writer->path = mem_strdup(path);
	writer->place = mem_strdup(place ? place : path);
	writer->payload = payload;
	writer->last_ns = NSEC_MIN;
	if (writer_open_pages(writer, error) || read_schema(writer, error) ||
	    writer_find_asked(writer, error)) {
		timeline_writer_free(writer);
		return NULL;
	}
	writer->batches = batches_new(writer->place);
	for (int i = 0; i < TABLES; i++)
		writer->table[i] =
		    batch_add(writer->batches, tables[i].name, tables[i].columns);
	return writer;
}

int timeline_add_meta(struct timeline_writer *writer, const char *key,
		      const struct cell *value, struct error *error)
{
	struct writer_fact *fact;

	(void)error; /* it waits */
	writer->fact = mem_grow(writer->fact, writer->facts, &writer->fact_room,
				sizeof(*writer->fact));
	fact = &writer->fact[writer->facts++];
	*fact = (struct writer_fact){.key = mem_strdup(key), .value = *value};
	if (value->type == CELL_TEXT || value->type == CELL_BLOB) {
		fact->bytes = mem_strndup(value->bytes, value->size);
		fact->value.bytes = fact->bytes;
	}
	return 0;
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

static int make_tables(struct timeline_writer *writer, struct error *error)
{
	return open_db(writer, error) ||
		       sql_run(writer->db, writer->place, schema_tables, error) ||
		       writer_make_classes(writer, error) ||
		       batches_open(writer->batches, writer->db, error)
		   ? -1
		   : 0;
}

int timeline_end_events(struct timeline_writer *writer, struct error *error)
{
	if (writer->failure || writer_finish_pages(writer, error) ||
	    make_tables(writer, error))
		return writer_failed(writer, error);
	return 0;
}

/* A later fact of a key stands for the ones before. */
static int write_facts(struct timeline_writer *writer, struct error *error)
{
	static const char text[] = "INSERT OR REPLACE INTO meta VALUES (?, ?)";
	sqlite3_stmt *insert;
	int code = SQLITE_DONE, status = 0;

	if (sqlite3_prepare_v2(writer->db, text, -1, &insert, NULL) != SQLITE_OK)
		return sql_error(writer->db, writer->place, error);
	for (size_t i = 0; i < writer->facts && code == SQLITE_DONE; i++) {
		const struct writer_fact *fact = &writer->fact[i];

		sqlite3_bind_text(insert, 1, fact->key, -1, SQLITE_STATIC);
		code = sql_bind(insert, 2, &fact->value);
		if (code == SQLITE_OK)
			code = sqlite3_step(insert);
		sqlite3_reset(insert);
	}
	if (code != SQLITE_DONE)
		status = sql_error(writer->db, writer->place, error);
	sqlite3_finalize(insert);
	return status;
}

static int close_db(struct timeline_writer *writer, struct error *error)
{
	int code;

	batches_free(writer->batches);
	writer->batches = NULL;
	code = sqlite3_close(writer->db);
	writer->db = NULL;
	if (code == SQLITE_OK)
		return 0;
	return error_set(error, "%s: %s", writer->place, sqlite3_errstr(code));
}

/* When all rows are there, those of our pages among them. */
static int make_indexes(struct timeline_writer *writer, struct error *error)
{
	return open_db(writer, error) ||
		       sql_run(writer->db, writer->place, schema_indexes, error) ||
		       writer_add_statistics(writer, error) ||
		       sql_run(writer->db, writer->place, "COMMIT", error)
		   ? -1
		   : close_db(writer, error);
}

int timeline_writer_finish(struct timeline_writer *writer, struct error *error)
{
	struct writer_roots roots = {0};
	int status = -1;

	if (writer->failure || (!writer->db && timeline_end_events(writer, error)))
		return writer_failed(writer, error);
	roots.class = mem_zalloc(writer->classes * sizeof(*roots.class));
	if (!writer_finish_classes(writer, error) && !write_facts(writer, error) &&
	    !batches_flush(writer->batches, error) &&
	    !writer_find_roots(writer, &roots, error) &&
	    !sql_run(writer->db, writer->place, "COMMIT", error) &&
	    !close_db(writer, error) && !writer_put_roots(writer, &roots, error))
		status = make_indexes(writer, error);
	free(roots.class);
	return status;
}

void timeline_writer_free(struct timeline_writer *writer)
{
	if (!writer)
		return;
	batches_free(writer->batches);
	sqlite3_close(writer->db);
	name_clear(&writer->names);
	writer_clear_classes(writer);
	writer_clear_pages(writer);
	for (size_t i = 0; i < writer->facts; i++) {
		free(writer->fact[i].key);
		free(writer->fact[i].bytes);
	}
	free(writer->fact);
	free(writer->path);
	free(writer->place);
	free(writer);
}

const char *timeline_library_version(void)
{
	return sqlite3_libversion();
}
