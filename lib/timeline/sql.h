/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SQL_H
#define CT_TIMELINE_SQL_H

#include <sqlite3.h>

#include "base/cell.h"
#include "base/error.h"

/* "PLACE: what SQLite says", or the system where it was that. Returns -1. */
int sql_error(sqlite3 *db, const char *place, struct error *error);

/* Run statements of our own. 0, or -1 with error. */
int sql_run(sqlite3 *db, const char *place, const char *text, struct error *error);

/* Bind a cell to a parameter, from 1; copies it. An SQLite code. */
int sql_bind(sqlite3_stmt *statement, int at, const struct cell *value);

struct cell sql_value_cell(sqlite3_value *value);

/* The value of a column; bytes are good until the statement goes on. */
struct cell sql_cell(sqlite3_stmt *statement, int column);

/*
 * Open a database by the path of its file, and by nothing else that SQLite
 * would make of the name. `flags` as sqlite3_open_v2; NULL with error.
 */
sqlite3 *sql_open(const char *path, int flags, struct error *error);

#endif
