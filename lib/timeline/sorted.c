/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/sql.h"
#include "timeline/writer_private.h"

/*
 * Long tables whose rows come in their order. Those of spans are without rowid: trees
 * like those of indexes, whose keys are the whole rows, the columns of the primary key in
 * front. Messages and requests have a rowid.
 */
static enum cell_type type_of(const char *declared)
{
	return strcmp(declared, "TEXT") == 0   ? CELL_TEXT
	       : strcmp(declared, "REAL") == 0 ? CELL_REAL
					       : CELL_INTEGER;
}

static int add_table(struct timeline_writer *writer, sqlite3 *db, const char *name,
		     struct error *error)
{
	static const char text[] = "SELECT name, type, pk FROM pragma_table_info(?) "
				   "ORDER BY pk = 0, pk, cid";
	struct timeline_sorted *table;
	sqlite3_stmt *query;
	int code;

	if (sqlite3_prepare_v2(db, text, -1, &query, NULL) != SQLITE_OK)
		return sql_error(db, writer->place, error);
	assert(writer->sorteds < SORTED_TABLES);
	table = &writer->sorted[writer->sorteds++];
	table->writer = writer;
	table->name = mem_strdup(name);
	table->has_rowid = strcmp(name, "message") == 0 || strcmp(name, "request") == 0;
	table->tree = tree_new(writer->pages, !table->has_rowid);
	sqlite3_bind_text(query, 1, name, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(query)) == SQLITE_ROW) {
		unsigned at = table->columns++;

		assert(at < SORTED_COLUMNS);
		table->column[at] =
		    mem_strdup((const char *)sqlite3_column_text(query, 0));
		table->type[at] = type_of((const char *)sqlite3_column_text(query, 1));
		table->keys += sqlite3_column_int(query, 2) > 0;
		table->from[at] = -1;
	}
	sqlite3_finalize(query);
	return code == SQLITE_DONE ? 0 : sql_error(db, writer->place, error);
}

int writer_find_sorted(struct timeline_writer *writer, sqlite3 *db, struct error *error)
{
	/* Spans have keys of many columns: meta's rows come at the end. */
	static const char text[] =
	    "SELECT name FROM pragma_table_list AS t WHERE schema = 'main' AND "
	    "(name IN ('message', 'request') OR (wr AND "
	    "(SELECT count(*) FROM pragma_table_info(t.name) WHERE pk) >= 4)) "
	    "ORDER BY name";
	sqlite3_stmt *query;
	int code, status = 0;

	if (sqlite3_prepare_v2(db, text, -1, &query, NULL) != SQLITE_OK)
		return sql_error(db, writer->place, error);
	while (!status && (code = sqlite3_step(query)) == SQLITE_ROW)
		status = add_table(writer, db,
				   (const char *)sqlite3_column_text(query, 0), error);
	sqlite3_finalize(query);
	return status || code == SQLITE_DONE ? status
					     : sql_error(db, writer->place, error);
}

struct timeline_sorted *timeline_sorted(struct timeline_writer *writer, const char *name,
					const char *const *column, size_t columns)
{
	struct timeline_sorted *table = writer->sorted;

	while (strcmp(table->name, name) != 0)
		table++;
	for (unsigned at = 0; !column && at < table->columns; at++)
		table->from[at] = (int)at;
	for (size_t i = 0; i < columns; i++) {
		unsigned at = 0;

		while (at < table->columns && strcmp(table->column[at], column[i]) != 0)
			at++;
		assert(at < table->columns);
		table->from[at] = (int)i;
	}
	return table;
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	if (a->type == CELL_TEXT)
		return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
	return a->integer == b->integer;
}

/* How many values the first columns of the key have, for the planner. All but the last
 * two, which are a time and what tells rows of one time apart. */
static void count_groups(struct timeline_sorted *table, const struct cell *cell)
{
	bool is_first = table->rows++ == 0, is_new = is_first;

	for (unsigned i = 0; i + 2 < table->keys; i++) {
		struct cell *last = &table->last[i];
		bool is_other = is_first || !is_same(&cell[i], last);

		is_new |= is_other;
		table->groups[i] += is_new;
		if (!is_other)
			continue;
		free(table->text[i]);
		*last = cell[i];
		if (last->type == CELL_TEXT)
			last->bytes = table->text[i] =
			    mem_strndup(cell[i].bytes, cell[i].size);
	}
}

int writer_add_sorted(struct timeline_sorted *table, const struct cell *row,
		      struct error *error)
{
	struct timeline_writer *writer = table->writer;

	int64_t id = table->has_rowid ? row[0].integer : 0;

	assert(!writer->db);
	if (table->has_rowid) {
		table->rows++;
		row_bytes_make(&writer->row, table->type + 1, row + 1,
			       table->columns - 1);
	} else {
		count_groups(table, row);
		row_bytes_make_entry(&writer->row, table->type, row, table->columns);
	}
	if (writer->failure || tree_add(table->tree, id, &writer->row, error))
		return writer_failed(writer, error);
	return 0;
}

int timeline_sorted_add(struct timeline_sorted *table, const struct cell *cell,
			struct error *error)
{
	struct cell row[SORTED_COLUMNS];

	for (unsigned i = 0; i < table->columns; i++)
		row[i] = table->from[i] < 0 ? (struct cell){.type = CELL_NULL}
					    : cell[table->from[i]];
	return writer_add_sorted(table, row, error);
}
