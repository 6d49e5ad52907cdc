/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SQL_H
#define CT_TIMELINE_SQL_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/cell.h"
#include "base/error.h"

/* Set the error "PLACE: message" with SQLite's message, or the system's if a system call
 * failed. Return -1. */
int sql_error(sqlite3 *db, const char *place, struct error *error);

/* Do the same without the place. */
int sql_cause(sqlite3 *db, struct error *error);

/* Run statements, which must not come from the input. Return 0, or -1 with error. */
int sql_run(sqlite3 *db, const char *place, const char *text, struct error *error);

/* Bind a cell to a parameter, counted from 1. Copies it. Return an SQLite code. Exits
 * when memory runs out. */
int sql_bind(sqlite3_stmt *statement, int at, const struct cell *value);

/* Exits when memory runs out, as mem_alloc() does. */
struct cell sql_value_cell(sqlite3_value *value);

/* Return the value of a column. Bytes are valid until the statement's next step. */
struct cell sql_cell(sqlite3_stmt *statement, int column);

/* Return the text of a column, or NULL if it is NULL; valid until the statement's next
 * step. Exits when memory runs out, for which sqlite3_column_text() returns NULL, too. */
const char *sql_text(sqlite3_stmt *statement, int column);

/*
 * Open a database file. The path is never treated as a URI or a special name such as
 * ":memory:". `flags` are those of sqlite3_open_v2(). Return NULL with error.
 */
sqlite3 *sql_open(const char *path, int flags, struct error *error);

/* Open an in-memory database and run the statements `text`. Return NULL with error. */
sqlite3 *sql_open_memory(const char *text, const char *place, struct error *error);

/*
 * The numbers in the header of an SQLite database that make it a timeline, set by
 * schema.sql. The version changes when an existing table changes its meaning.
 */
#define SCHEMA_APPLICATION_ID 1129600076 /* "CTTL" */
#define SCHEMA_VERSION        3

extern const char schema_tables[];  /* schema.sql, run before rows are added */
extern const char schema_classes[]; /* classes.sql, the columns that queries need */
extern const char schema_indexes[]; /* indexes.sql, run after rows are added */

#endif
