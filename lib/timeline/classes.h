/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_CLASSES_H
#define CT_TIMELINE_CLASSES_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"
#include "base/cell.h"
#include "base/error.h"
#include "base/hash.h"
#include "timeline/names.h"
#include "timeline/sqlite_pages.h"
#include "timeline/writer.h"

/* A column of an event class's table. */
struct class_column {
	char *name; /* the source's name, in UTF-8 */
	char *sql;  /* the table's name */
	enum cell_type type;
	bool context;
};

/* Return the type for CREATE TABLE; "" for CELL_NULL. */
const char *class_type_name(enum cell_type type);

/* Prepare the statement that class_table_sql() needs, on a database with the tables of
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

/* A class of the timeline that is written. Its events can have several layouts. */
struct writer_class {
	int64_t id;
	char *kind, *name, *table;
	struct class_column *column; /* columns of all layouts, in the order added */
	size_t columns, capacity;
	struct sqlite_tree *tree; /* its table's; NULL without payload */
	int64_t events;
};

/* The fields that events of a class have in some traces. */
struct writer_layout {
	size_t class; /* index of the class */
	size_t columns;
	enum cell_type *type; /* type of each column */
	unsigned *place; /* index of each column in the class's table; NULL: the same */
};

/* All classes of a timeline that is written. Zero-initialize the other members. */
struct class_set {
	const char *place;          /* in front of errors; borrowed */
	struct sqlite_pages *pages; /* for the tables; NULL without payload */
	bool is_part;               /* see timeline_writer_set_part() */
	struct name_set names;      /* used names of tables, views and indexes */
	struct writer_class *class;
	size_t classes, class_capacity;
	struct texts class_key; /* key of each class */
	struct writer_layout *layout;
	size_t layouts, layout_capacity;
	struct texts layout_key; /* key of each layout */
};

/* Add a class, as timeline_add_class() describes. `id` is its layout's index plus 1. */
int class_set_add(struct class_set *set, const struct timeline_class *class, uint32_t *id,
		  struct error *error);

/* Choose the names of all classes' columns. Call after the last class_set_add(). */
void class_set_name_columns(struct class_set *set);

/*
 * Create the tables and views of the classes in `db`, with the written pages as tables,
 * and empty tables for the classes in `asked`, a database with those of classes.sql, that
 * were not added. Call after sqlite_pages_finish(). Return 0, or -1 with error.
 */
int class_set_create_tables(struct class_set *set, sqlite3 *db, sqlite3 *asked,
			    struct error *error);

void class_set_clear(struct class_set *set);

#endif
