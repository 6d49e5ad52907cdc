/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_SQL_H
#define CT_TIMELINE_SQL_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/cell.h"
#include "base/error.h"

/* "PLACE: what SQLite says", or the system where it was that. Returns -1. */
int sql_error(sqlite3 *db, const char *place, struct error *error);

/* The same without the place. */
int sql_cause(sqlite3 *db, struct error *error);

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

/* Open a database in memory, and run our statements `text`. Return NULL with error. */
sqlite3 *sql_open_memory(const char *text, const char *place, struct error *error);

/*
 * The quantile of some values, which are put in another order: linear interpolation
 * between order statistics (type 7 of Hyndman, Fan 1996). No value is a NaN; there is one
 * at least.
 */
double quantile_of(double *value, size_t count, double share);

/*
 * Define the SQL function quantile(x, share), an aggregate: of a share of 0.5 the median;
 * NULL of no value. An SQLite code.
 */
int quantile_define(sqlite3 *db);

/*
 * What makes an SQLite database a timeline: these two numbers of its header,
 * which schema.sql sets. The version grows when a table that is there changes
 * its meaning.
 */
#define SCHEMA_APPLICATION_ID 1129600076 /* "CTTL" */
#define SCHEMA_VERSION        3

extern const char schema_tables[];  /* schema.sql: before the rows */
extern const char schema_classes[]; /* classes.sql: as columns of event classes */
extern const char schema_indexes[]; /* indexes.sql: after them */

#endif
