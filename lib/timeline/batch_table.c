/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/batch_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Both begin with what SQLite knows them by. */
struct table {
	sqlite3_vtab base;
	const struct batch_view *view;
};

struct cursor {
	sqlite3_vtab_cursor base;
	size_t row;
};

static const struct batch_view *view_of(const sqlite3_vtab_cursor *base)
{
	return ((const struct table *)base->pVtab)->view;
}

/* Columns c0, c1, ..., as many as any table may have. */
static int table_connect(sqlite3 *db, void *view, int count, const char *const *word,
			 sqlite3_vtab **made, char **message)
{
	int columns = sqlite3_limit(db, SQLITE_LIMIT_COLUMN, -1), status;
	struct table *table = mem_zalloc(sizeof(*table));
	char *text;
	size_t size;
	FILE *sql = open_memstream(&text, &size);

	(void)count;
	(void)word;
	(void)message;
	for (int i = 0; i < columns; i++)
		fprintf(sql, "%s c%d", i ? "," : "CREATE TABLE batch (", i);
	fputs(")", sql);
	fclose(sql);
	status = sqlite3_declare_vtab(db, text);
	free(text);
	table->view = view;
	*made = &table->base;
	if (status != SQLITE_OK)
		free(table);
	return status;
}

static int table_disconnect(sqlite3_vtab *table)
{
	free(table);
	return SQLITE_OK;
}

static int table_plan(sqlite3_vtab *table, sqlite3_index_info *plan)
{
	(void)table;
	plan->estimatedCost = 1; /* all rows, in order: there is no other way */
	return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **made)
{
	struct cursor *cursor = mem_zalloc(sizeof(*cursor));

	(void)table;
	*made = &cursor->base;
	return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor)
{
	free(cursor);
	return SQLITE_OK;
}

static int cursor_begin(sqlite3_vtab_cursor *base, int plan, const char *name, int count,
			sqlite3_value **value)
{
	(void)plan;
	(void)name;
	(void)count;
	(void)value;
	((struct cursor *)base)->row = 0;
	return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->row++;
	return SQLITE_OK;
}

static int cursor_is_at_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->row >= view_of(base)->rows;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int column)
{
	const struct batch_view *view = view_of(base);
	const struct cell *cell =
	    &view->cell[((struct cursor *)base)->row * view->columns + (size_t)column];

	switch (cell->type) {
	case CELL_NULL:
		break;
	case CELL_INTEGER:
		sqlite3_result_int64(result, cell->integer);
		break;
	case CELL_REAL:
		sqlite3_result_double(result, cell->real);
		break;
	case CELL_TEXT:
		sqlite3_result_text64(result, view->bytes + cell->integer, cell->size,
				      SQLITE_STATIC, SQLITE_UTF8);
		break;
	case CELL_BLOB:
		sqlite3_result_blob64(result, view->bytes + cell->integer, cell->size,
				      SQLITE_STATIC);
		break;
	}
	return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct cursor *)base)->row;
	return SQLITE_OK;
}

/* Without xCreate the table is there without being made. */
static const sqlite3_module module = {
    .xConnect = table_connect,
    .xDisconnect = table_disconnect,
    .xBestIndex = table_plan,
    .xOpen = cursor_open,
    .xClose = cursor_close,
    .xFilter = cursor_begin,
    .xNext = cursor_next,
    .xEof = cursor_is_at_end,
    .xColumn = cursor_column,
    .xRowid = cursor_rowid,
};

int batch_table_register(sqlite3 *db, const struct batch_view *view)
{
	return sqlite3_create_module(db, BATCH_TABLE, &module, (void *)view);
}
