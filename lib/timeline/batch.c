/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "timeline/batch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/names.h"
#include "timeline/sql.h"

/*
 * The virtual table that statements read a batch from. No class can have its
 * name: those with this prefix are not given to tables.
 */
#define BATCH_TABLE "sqlite_batch"

/* What the virtual table shows now. */
struct batch_view {
	const struct cell *cell; /* row by row; of text and blob `integer` is where
				    in `bytes` it begins */
	const char *bytes;
	size_t rows, columns;
};

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

/* Make the table known to a connection; the view outlives it. An SQLite code. */
static int batch_table_register(sqlite3 *db, const struct batch_view *view)
{
	return sqlite3_create_module(db, BATCH_TABLE, &module, (void *)view);
}

/*
 * A batch is written when it has so many rows, or cells, or bytes of text; all
 * are written and let go when together they hold more than BYTES_IN_ALL.
 */
enum {
	MOST_ROWS = 512,
	MOST_CELLS = 4096,
	MOST_BYTES = 65536,
	BYTES_IN_ALL = 16 << 20,
};

struct batch {
	struct batches *batches;
	char *table;
	unsigned columns;
	sqlite3_stmt *insert; /* NULL until it is needed */
	struct cell *cell;
	size_t rows, row_room;
	char *bytes;
	size_t used, byte_room;
};

struct batches {
	sqlite3 *db; /* NULL: not open yet */
	char *place;
	struct batch_view view;
	struct batch **batch;
	size_t count, room;
	size_t held;   /* bytes of memory that the batches have */
	char *failure; /* what went wrong first, NULL while all is well */
};

struct batches *batches_new(const char *place)
{
	struct batches *batches = mem_zalloc(sizeof(*batches));

	batches->place = mem_strdup(place);
	return batches;
}

int batches_open(struct batches *batches, sqlite3 *db, struct error *error)
{
	batches->db = db;
	if (batch_table_register(db, &batches->view) == SQLITE_OK)
		return 0;
	return sql_error(db, batches->place, error);
}

struct batch *batch_add(struct batches *batches, const char *table, unsigned columns)
{
	struct batch *batch = mem_zalloc(sizeof(*batch));

	batch->batches = batches;
	batch->table = mem_strdup(table);
	batch->columns = columns;
	batches->batch = mem_grow(batches->batch, batches->count, &batches->room,
				  sizeof(*batches->batch));
	batches->batch[batches->count++] = batch;
	return batch;
}

/* Rows that it may have: a wide table's batch is not larger than another's. */
static size_t most_rows(const struct batch *batch)
{
	size_t rows = MOST_CELLS / batch->columns;

	return rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : rows;
}

/* INSERT INTO "table" SELECT c0, c1 FROM sqlite_batch */
static int prepare(struct batch *batch)
{
	char *quoted = name_quote(batch->table), *text;
	size_t size;
	FILE *sql = open_memstream(&text, &size);
	int status;

	fprintf(sql, "INSERT INTO %s SELECT", quoted);
	for (unsigned i = 0; i < batch->columns; i++)
		fprintf(sql, "%s c%u", i ? "," : "", i);
	fputs(" FROM " BATCH_TABLE, sql);
	fclose(sql);
	status = sqlite3_prepare_v3(batch->batches->db, text, -1,
				    SQLITE_PREPARE_PERSISTENT, &batch->insert, NULL);
	free(text);
	free(quoted);
	return status;
}

static int fail(struct batches *batches, struct error *error)
{
	if (!batches->failure) {
		sql_error(batches->db, batches->place, error);
		batches->failure = mem_strdup(error_text(error));
	}
	return error_set(error, "%s", batches->failure);
}

static int flush(struct batch *batch, struct error *error)
{
	struct batches *batches = batch->batches;

	if (batches->failure)
		return fail(batches, error);
	if (batch->rows == 0)
		return 0;
	if (!batch->insert && prepare(batch) != SQLITE_OK)
		return fail(batches, error);
	batches->view = (struct batch_view){.cell = batch->cell,
					    .bytes = batch->bytes,
					    .rows = batch->rows,
					    .columns = batch->columns};
	batch->rows = batch->used = 0;
	errno = 0;
	sqlite3_step(batch->insert);
	/* Its status is that of the step, and now the cause is there, too. */
	if (sqlite3_reset(batch->insert) != SQLITE_OK)
		return fail(batches, error);
	return 0;
}

static void release(struct batch *batch)
{
	sqlite3_finalize(batch->insert);
	free(batch->cell);
	free(batch->bytes);
	batch->insert = NULL;
	batch->cell = NULL;
	batch->bytes = NULL;
	batch->row_room = batch->byte_room = 0;
}

static int flush_and_release(struct batches *batches, struct error *error)
{
	int status = batches_flush(batches, error);

	for (size_t i = 0; i < batches->count; i++)
		release(batches->batch[i]);
	batches->held = 0;
	return status;
}

/* Twice as many rows, or the first eight. */
static void grow_rows(struct batch *batch)
{
	size_t row = batch->columns * sizeof(*batch->cell);
	size_t most = most_rows(batch), room = batch->row_room ? 2 * batch->row_room : 8;

	if (batch->batches->db && room > most && batch->row_room < most)
		room = most;
	batch->batches->held += (room - batch->row_room) * row;
	batch->cell = mem_realloc(batch->cell, room, row);
	batch->row_room = room;
}

static size_t keep_bytes(struct batch *batch, const char *bytes, uint32_t size)
{
	size_t at = batch->used, room = batch->byte_room ? batch->byte_room : 256;

	while (room - at < size)
		room *= 2;
	if (room != batch->byte_room) {
		batch->bytes = mem_realloc(batch->bytes, room, 1);
		batch->batches->held += room - batch->byte_room;
		batch->byte_room = room;
	}
	if (size)
		memcpy(batch->bytes + at, bytes, size);
	batch->used += size;
	return at;
}

static void copy_cells(struct batch *batch, struct cell *to, const struct cell *from,
		       unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		to[i] = from[i];
		if (from[i].type == CELL_TEXT || from[i].type == CELL_BLOB)
			to[i].integer =
			    (int64_t)keep_bytes(batch, from[i].bytes, from[i].size);
	}
}

static int finish_row(struct batch *batch, struct error *error)
{
	struct batches *batches = batch->batches;

	batch->rows++;
	if (!batches->db)
		return 0;
	if (batches->held > BYTES_IN_ALL)
		return flush_and_release(batches, error);
	if (batch->rows >= most_rows(batch) || batch->used >= MOST_BYTES)
		return flush(batch, error);
	return 0;
}

int batch_row(struct batch *batch, const struct cell *cell, struct error *error)
{
	if (batch->batches->failure)
		return fail(batch->batches, error);
	if (batch->rows == batch->row_room)
		grow_rows(batch);
	copy_cells(batch, &batch->cell[batch->rows * batch->columns], cell,
		   batch->columns);
	return finish_row(batch, error);
}

int batch_row_id(struct batch *batch, int64_t id, const struct cell *cell,
		 struct error *error)
{
	struct cell *row;

	if (batch->batches->failure)
		return fail(batch->batches, error);
	if (batch->rows == batch->row_room)
		grow_rows(batch);
	row = &batch->cell[batch->rows * batch->columns];
	row[0] = (struct cell){.type = CELL_INTEGER, .integer = id};
	copy_cells(batch, row + 1, cell, batch->columns - 1);
	return finish_row(batch, error);
}

int batches_flush(struct batches *batches, struct error *error)
{
	for (size_t i = 0; i < batches->count; i++)
		if (flush(batches->batch[i], error))
			return -1;
	return 0;
}

void batches_free(struct batches *batches)
{
	if (!batches)
		return;
	for (size_t i = 0; i < batches->count; i++) {
		release(batches->batch[i]);
		free(batches->batch[i]->table);
		free(batches->batch[i]);
	}
	free(batches->batch);
	free(batches->place);
	free(batches->failure);
	free(batches);
}
