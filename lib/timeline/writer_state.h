/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_WRITER_STATE_H
#define CT_TIMELINE_WRITER_STATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/hash.h"
#include "timeline/classes.h"
#include "timeline/names.h"
#include "timeline/row_bytes.h"
#include "timeline/rows.h"

/*
 * Pages of a database file, written one behind the other before SQLite opens it:
 * https://www.sqlite.org/fileformat2.html. Page 1 is that of a database without
 * tables; SQLite takes the pages behind it for ones in use, and puts its own behind
 * them.
 */
#define PAGE_BYTES 8192

struct pages;

/* Takes the descriptor of an empty file. `place` goes in front of errors; copied. */
struct pages *pages_new(int fd, const char *place);

/* The number of the page behind one, which is not always the next number. */
uint32_t page_after(uint32_t number);

/*
 * A table or an index as SQLite's file has it, a tree of pages, made of what comes
 * in order: https://www.sqlite.org/fileformat2.html#b_tree_pages. Each page is filled
 * and written once, when the next one begins. Only the root waits until SQLite has
 * said which page that is.
 */
struct tree;

/* That of a table or index, by its name in the schema. The pages own it. */
struct tree *tree_new(struct pages *pages, const char *name, bool is_index);

/*
 * Give a tree a root page of its own, which pages_finish writes and tree_root then
 * returns: for a table that is entered into sqlite_schema, not made by CREATE TABLE.
 */
void tree_detach(struct tree *tree);
uint32_t tree_root(const struct tree *tree);

/*
 * Add a row of a table by ascending id, or a key of an index or a row of a table
 * without rowid (whose `id` counts for nothing) by ascending key. 0, or -1 with error: it
 * is of no use then.
 */
int tree_add(struct tree *tree, int64_t id, const struct row_bytes *row,
	     struct error *error);

/* Write all pages of all trees, except the roots of those that are not detached. Return
 * 0, or -1 with error. */
int pages_finish(struct pages *pages, struct error *error);

/* SQLite's page for the root of that table or index, which may be none of ours. */
void pages_set_root(struct pages *pages, const char *name, uint32_t page);

/* Put the roots into their pages, once SQLite has closed the file. 0, or -1 with error.
 */
int pages_write_roots(struct pages *pages, struct error *error);

/* With the trees. Closes the file, as it is. */
void pages_free(struct pages *pages);

/* One table, of which events may come in several layouts. */
struct writer_class {
	int64_t id;
	char *kind, *name, *table;
	struct class_column *column; /* columns of all its layouts, in the order added */
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
