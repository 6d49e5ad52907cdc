/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "insert_bare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sqlite3.h>

#include "base/mem.h"
#include "insert_rows.h"
#include "timeline/sql.h"

#define INDEX "CREATE INDEX event_ts_ns ON event (ts_ns);"

struct bare {
	sqlite3 *db;
	sqlite3_stmt *event, *class[INSERT_CLASSES];
};

double insert_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int run(struct bare *bare, const char *sql)
{
	return sqlite3_exec(bare->db, sql, NULL, NULL, NULL);
}

/* The class's table, and the statement that fills it. */
static int make_class(struct bare *bare, int class)
{
	struct timeline_column column[INSERT_COLUMNS];
	char name[INSERT_COLUMNS][24], create[2048], insert[512];
	size_t count = insert_columns(&insert_class[class], column, name);
	size_t at, to;

	at = (size_t)snprintf(create, sizeof(create),
			      "CREATE TABLE %s (id INTEGER PRIMARY KEY",
			      insert_class[class].name);
	to = (size_t)snprintf(insert, sizeof(insert), "INSERT INTO %s VALUES (?",
			      insert_class[class].name);
	for (size_t i = 0; i < count; i++) {
		at +=
		    (size_t)snprintf(create + at, sizeof(create) - at, ", %s %s", name[i],
				     column[i].type == CELL_TEXT ? "TEXT" : "INTEGER");
		to += (size_t)snprintf(insert + to, sizeof(insert) - to, ", ?");
	}
	snprintf(create + at, sizeof(create) - at, ")");
	snprintf(insert + to, sizeof(insert) - to, ")");
	if (run(bare, create))
		return -1;
	return sqlite3_prepare_v3(bare->db, insert, -1, SQLITE_PREPARE_PERSISTENT,
				  &bare->class[class], NULL);
}

static int make_tables(struct bare *bare, const struct insert_variant *variant)
{
	if (run(bare, variant->settings) || run(bare, "BEGIN") ||
	    run(bare, schema_tables) ||
	    (variant->sorted && run(bare, "DROP INDEX event_ts_ns")))
		return -1;
	for (int class = 0; class < INSERT_CLASSES; class ++)
		if (make_class(bare, class))
			return -1;
	return sqlite3_prepare_v3(bare->db,
				  "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?)", -1,
				  SQLITE_PREPARE_PERSISTENT, &bare->event, NULL);
}

static void bind(sqlite3_stmt *insert, int at, const struct cell *cell)
{
	if (cell->type == CELL_INTEGER)
		sqlite3_bind_int64(insert, at, cell->integer);
	else if (cell->type == CELL_TEXT)
		sqlite3_bind_text(insert, at, cell->bytes, (int)cell->size,
				  SQLITE_STATIC);
	else
		sqlite3_bind_null(insert, at);
}

static int step(sqlite3_stmt *insert)
{
	int code = sqlite3_step(insert);

	sqlite3_reset(insert);
	return code == SQLITE_DONE ? 0 : -1;
}

static int insert_one(struct bare *bare, const struct timeline_event *event, int64_t id)
{
	const int64_t number[] = {id,         event->ts_ns,     event->node,  event->cpu,
				  event->tid, event->class + 1, event->source};
	const char *column = insert_class[event->class].columns;
	sqlite3_stmt *insert = bare->class[event->class];

	for (int i = 0; i < 7; i++)
		sqlite3_bind_int64(bare->event, i + 1, number[i]);
	if (step(bare->event))
		return -1;
	sqlite3_bind_int64(insert, 1, id);
	for (int i = 0; column[i]; i++)
		bind(insert, i + 2, &event->cell[i]);
	return step(insert);
}

static int load(struct bare *bare, long events)
{
	struct insert_rows rows;
	struct timeline_event event = {0};

	insert_rows_init(&rows);
	for (long i = 1; i <= events; i++) {
		insert_rows_next(&rows, &event);
		if (insert_one(bare, &event, i))
			return -1;
	}
	return 0;
}

int insert_bare(const char *path, long events, const struct insert_variant *variant,
		struct insert_timing *timing, struct error *error)
{
	struct bare bare = {0};
	double begin = insert_now(), middle;
	int status = sqlite3_open_v2(
	    path, &bare.db,
	    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

	if (!status)
		status = make_tables(&bare, variant);
	if (!status)
		status = load(&bare, events);
	middle = insert_now();
	if (!status && variant->sorted)
		status = run(&bare, INDEX);
	if (!status)
		status = run(&bare, "COMMIT");
	if (status)
		error_set(error, "%s: %s", path, sqlite3_errmsg(bare.db));
	sqlite3_finalize(bare.event);
	for (int class = 0; class < INSERT_CLASSES; class ++)
		sqlite3_finalize(bare.class[class]);
	sqlite3_close(bare.db);
	*timing = (struct insert_timing){.load = middle - begin,
					 .finish = insert_now() - middle};
	return status ? -1 : 0;
}
