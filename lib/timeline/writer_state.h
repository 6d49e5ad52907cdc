/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_WRITER_STATE_H
#define CT_TIMELINE_WRITER_STATE_H

#include <sqlite3.h>

#include "base/hash.h"
#include "timeline/names.h"
#include "timeline/rows.h"
#include "timeline/tree.h"

/* One table, of which events may come in several layouts. */
struct writer_class {
	int64_t id;
	char *kind, *name, *table;
	struct writer_column *column; /* of all its layouts, as they were added */
	size_t columns, capacity;
	struct tree *tree; /* of its table; NULL without payload */
	int64_t events;
};

/* The fields that a class has in some traces. */
struct writer_layout {
	size_t class; /* its place */
	size_t columns;
	enum cell_type *type; /* one a column */
	unsigned *place;      /* in the class's table, from 0; NULL: as they come */
};

enum { TABLE_COLUMNS = 40, TABLE_KEYS = 8 };

/* A table of the schema; its columns are those that are stored. */
struct timeline_table {
	struct timeline_writer *writer;
	char *name;
	bool has_id;       /* its first column is the rowid */
	bool has_no_rowid; /* rows lie by the primary key, whose columns come first */
	unsigned columns, keys;             /* keys: columns of the primary key */
	enum cell_type type[TABLE_COLUMNS]; /* as they lie in the file */
	int from[TABLE_COLUMNS];            /* its place in schema.sql */
	struct tree *tree;
	int64_t rows, last_id;
	sqlite3_stmt
	    *insert; /* into the memory, where rows wait to be sorted; else NULL */
	int64_t groups[TABLE_KEYS]; /* of the first so many columns of the key */
	struct cell last[TABLE_KEYS];
	char *text[TABLE_KEYS]; /* of `last` */
};

struct timeline_writer {
	char *path, *place; /* `place` in front of errors */
	bool payload, is_part;
	char *failure;   /* what went wrong first, NULL while all is well */
	sqlite3 *memory; /* the tables, and rows that wait */
	sqlite3 *asked;  /* those of classes.sql */
	struct pages *pages;
	struct timeline_table table[TIMELINE_TABLES];
	struct tree *stamps;     /* the index event_ts_ns */
	struct row_bytes row;    /* the last one made */
	struct row_bytes placed; /* the same, for a table with other columns, too */
	nsec_t last_ns;
	sqlite3 *db;           /* the file's, at the end */
	struct name_set names; /* of tables, views and indexes */
	struct writer_class *class;
	size_t classes, class_capacity;
	struct texts class_key; /* of each */
	struct writer_layout *layout;
	size_t layouts, layout_capacity;
	struct texts layout_key;
};

/* Add a row, its cells in the order in which they lie. 0, or -1 with error. */
int writer_add(struct timeline_table *table, const struct cell *row, struct error *error);

/* The tables and views of the classes; after writer_finish_classes. */
int writer_make_classes(struct timeline_writer *writer, struct error *error);

/* Rows of event_class and event_column, which are known at the end. */
int writer_finish_classes(struct timeline_writer *writer, struct error *error);

void writer_clear_classes(struct timeline_writer *writer);

#endif
