/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_WRITER_PRIVATE_H
#define CT_TIMELINE_WRITER_PRIVATE_H

#include <sqlite3.h>

#include "base/hash.h"
#include "timeline/batch.h"
#include "timeline/names.h"
#include "timeline/tree.h"
#include "timeline/writer.h"

enum writer_table {
	TABLE_NODE,
	TABLE_SOURCE,
	TABLE_CLOCK,
	TABLE_CLOCK_BOUND,
	TABLE_CLOCK_PAIR,
	TABLE_EVENT_CLASS,
	TABLE_EVENT_COLUMN,
	TABLE_EVENT,
	TABLE_MESSAGE,
	TABLE_METRIC,
	TABLE_METRIC_ITEM,
	TABLE_SAMPLE,
	TABLE_PROCESS,
	TABLE_THREAD,
	TABLE_INVOCATION,
	TABLE_RECORDED,
	TABLE_PROBLEM,
	TABLES
};

/* An event class of classes.sql: a table of this name has these columns at least. */
struct writer_asked {
	char *table;
	char **column, **type; /* as it is declared */
	size_t columns;
};

struct writer_class {
	int64_t id;
	char *kind, *name, *table;
	struct writer_column *column; /* as it was added */
	size_t columns;
	int64_t next;         /* with the same hash, -1 at the end */
	struct tree *tree;    /* of its table; NULL without payload */
	enum cell_type *type; /* one a column */
	int64_t events;
};

/* A row of `meta`, which waits until the end. */
struct writer_fact {
	char *key, *bytes;
	struct cell value;
};

enum { SORTED_COLUMNS = 40, SORTED_KEYS = 8, SORTED_TABLES = 6 };

/* A table that lies in the order in which its rows come, by schema.sql. */
struct timeline_sorted {
	struct timeline_writer *writer;
	char *name;
	bool has_rowid;
	unsigned columns, keys;       /* keys: columns of the primary key */
	char *column[SORTED_COLUMNS]; /* as it lies in the file: the key first */
	enum cell_type type[SORTED_COLUMNS];
	int from[SORTED_COLUMNS]; /* the caller's column; -1: none */
	struct tree *tree;
	int64_t rows, groups[SORTED_KEYS]; /* of the first so many columns of the key */
	struct cell last[SORTED_KEYS];
	char *text[SORTED_KEYS]; /* of `last` */
};

struct timeline_writer {
	char *path, *place; /* `place` in front of errors */
	bool payload, is_part;
	char *failure; /* of the events, NULL while all is well */
	struct pages *pages;
	struct tree *event, *stamps; /* table and index */
	struct timeline_sorted sorted[SORTED_TABLES];
	size_t sorteds;
	struct row_bytes row; /* the last one made */
	nsec_t last_ns;
	sqlite3 *db; /* NULL while there may be events, and once finished */
	struct batches *batches;
	struct writer_fact *fact;
	size_t facts, fact_room;
	struct batch *table[TABLES];
	int64_t rows[TABLES];
	struct name_set names; /* of tables, views and indexes */
	struct writer_class *class;
	size_t classes, class_room;
	struct intmap first_class; /* by hash */
	struct writer_asked *asked;
	size_t askeds, asked_room;
};

/* What failed first is what every later call says. Returns -1. */
int writer_failed(struct timeline_writer *writer, struct error *error);

/* Make the file, with pages to fill. */
int writer_open_pages(struct timeline_writer *writer, struct error *error);

/* Write what is there of the events, all but the roots. */
int writer_finish_pages(struct timeline_writer *writer, struct error *error);

/* The pages that SQLite gave to the tables of the events. */
struct writer_roots {
	uint32_t event, stamps, sorted[SORTED_TABLES];
	uint32_t *class; /* room for one a class, the caller's */
};

int writer_find_roots(struct timeline_writer *writer, struct writer_roots *roots,
		      struct error *error);

/* Put the roots into these pages; SQLite has closed the file. */
int writer_put_roots(struct timeline_writer *writer, const struct writer_roots *roots,
		     struct error *error);

/* The tables of the schema that come sorted; `db` has it. 0, or -1 with error. */
int writer_find_sorted(struct timeline_writer *writer, sqlite3 *db, struct error *error);

/* Add a row, its cells in the order of the table. 0, or -1 with error. */
int writer_add_sorted(struct timeline_sorted *table, const struct cell *row,
		      struct error *error);

void writer_clear_pages(struct timeline_writer *writer);

/* Read classes.sql. 0, or -1 with error. */
int writer_find_asked(struct timeline_writer *writer, struct error *error);

/* The tables and views of the classes. */
int writer_make_classes(struct timeline_writer *writer, struct error *error);

/* Rows of event_class, whose counts are known at the end. */
int writer_finish_classes(struct timeline_writer *writer, struct error *error);

/* What ANALYZE would find out, for the tables that are long. */
int writer_add_statistics(struct timeline_writer *writer, struct error *error);

void writer_clear_classes(struct timeline_writer *writer);

static inline struct cell writer_integer(int64_t value)
{
	return (struct cell){.type = CELL_INTEGER, .integer = value};
}

#endif
