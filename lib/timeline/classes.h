/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_CLASSES_H
#define CT_TIMELINE_CLASSES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/cell.h"

/* A column of an event class's table. */
struct class_column {
	char *name; /* the source's name, in UTF-8 */
	char *sql;  /* the table's name */
	enum cell_type type;
	bool context;
};

/* Return the type for CREATE TABLE; "" for CELL_NULL. */
const char *class_type_name(enum cell_type type);

/* Prepare the statement that class_table_sql needs, on a database with the tables of
 * classes.sql. Return an SQLite code. */
int class_asked_new(sqlite3 *db, sqlite3_stmt **asked);

/*
 * Append the CREATE TABLE of a class: its columns, then the columns in classes.sql that
 * it lacks. Rows end before those, so they are NULL.
 */
void class_table_sql(struct bytes *sql, const char *table,
		     const struct class_column *column, size_t columns,
		     sqlite3_stmt *asked);

/* Append the CREATE VIEW of a class, whose name is the table's followed by _v. */
void class_view_sql(struct bytes *sql, const char *table,
		    const struct class_column *column, size_t columns);

#endif
