/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/tables/row_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/spill.h"

/* What a column has had, in bits. */
enum {
	SEEN_NULL = 1 << 0,
	SEEN_INTEGER = 1 << 1,
	SEEN_LONG_INTEGER = 1 << 2, /* one that is no double exactly */
	SEEN_REAL = 1 << 3,
	SEEN_TEXT = 1 << 4,
	SEEN_BLOB = 1 << 5,
};

#define DOUBLE_MOST (INT64_C(1) << 53)

struct row_store {
	FILE *file;
	size_t columns;
	unsigned *seen; /* a column */
	struct cell *cell;
	struct bytes bytes; /* of the row's texts */
	bool reading;
};

struct row_store *row_store_new(size_t columns, struct error *error)
{
	FILE *file = spill_open();
	struct row_store *store;

	if (!file) {
		error_errno(error, "a temporary file");
		return NULL;
	}
	store = mem_zalloc(sizeof(*store));
	store->file = file;
	store->columns = columns;
	store->seen = mem_zalloc(columns * sizeof(*store->seen));
	store->cell = mem_alloc(columns * sizeof(*store->cell));
	return store;
}

static unsigned sort_of(const struct cell *cell)
{
	switch (cell->type) {
	case CELL_NULL:
		break;
	case CELL_INTEGER:
		return cell->integer < -DOUBLE_MOST || cell->integer > DOUBLE_MOST
			   ? SEEN_INTEGER | SEEN_LONG_INTEGER
			   : SEEN_INTEGER;
	case CELL_REAL:
		return SEEN_REAL;
	case CELL_TEXT:
		return SEEN_TEXT;
	case CELL_BLOB:
		return SEEN_BLOB;
	}
	return SEEN_NULL;
}

/* A byte that says the type, and 8 bytes of number, or 4 of length and the bytes. */
static void put_cell(FILE *file, const struct cell *cell)
{
	putc_unlocked((int)cell->type, file);
	if (cell->type == CELL_INTEGER || cell->type == CELL_REAL) {
		fwrite_unlocked(&cell->integer, sizeof(cell->integer), 1, file);
	} else if (cell->type != CELL_NULL) {
		fwrite_unlocked(&cell->size, sizeof(cell->size), 1, file);
		fwrite_unlocked(cell->bytes, 1, cell->size, file);
	}
}

int row_store_add(struct row_store *store, const struct cell *row, struct error *error)
{
	for (size_t i = 0; i < store->columns; i++) {
		store->seen[i] |= sort_of(&row[i]);
		put_cell(store->file, &row[i]);
	}
	return ferror(store->file) ? error_errno(error, "a temporary file") : 0;
}

static void decide(struct question_column *column, unsigned seen)
{
	unsigned values = seen & ~(unsigned)SEEN_NULL;

	if (values & SEEN_BLOB)
		column->type = QUESTION_BLOB;
	else if (values & SEEN_TEXT || !values)
		column->type = QUESTION_TEXT;
	else if (!(values & SEEN_REAL))
		column->type = QUESTION_INTEGER;
	else
		column->type = values & SEEN_LONG_INTEGER ? QUESTION_TEXT : QUESTION_REAL;
	column->mixed = true;
}

void row_store_decide(const struct row_store *store, struct question *question)
{
	for (size_t i = 0; i < store->columns; i++)
		if (question->column[i].type == QUESTION_ANY)
			decide(&question->column[i], store->seen[i]);
}

static bool get(struct row_store *store, void *to, size_t size)
{
	return fread(to, 1, size, store->file) == size;
}

/* The bytes' place is their offset until the row is whole. */
static bool get_cell(struct row_store *store, struct cell *cell)
{
	int type = getc_unlocked(store->file);

	if (type == EOF)
		return false;
	*cell = (struct cell){.type = (enum cell_type)type};
	if (type == CELL_NULL)
		return true;
	if (type == CELL_INTEGER || type == CELL_REAL)
		return get(store, &cell->integer, sizeof(cell->integer));
	return get(store, &cell->size, sizeof(cell->size)) &&
	       get(store, bytes_extend(&store->bytes, cell->size), cell->size);
}

static int start_reading(struct row_store *store, struct error *error)
{
	if (store->reading)
		return 0;
	store->reading = true;
	return fflush(store->file) || fseek(store->file, 0, SEEK_SET)
		   ? error_errno(error, "a temporary file")
		   : 0;
}

int row_store_next(struct row_store *store, struct error *error)
{
	const char *at;

	if (start_reading(store, error))
		return -1;
	bytes_empty(&store->bytes, 1 << 20);
	for (size_t i = 0; i < store->columns; i++) {
		if (get_cell(store, &store->cell[i]))
			continue;
		if (i == 0 && !ferror(store->file))
			return 0;
		errno = errno ? errno : EIO;
		return error_errno(error, "a temporary file");
	}
	at = (const char *)store->bytes.data;
	for (size_t i = 0; i < store->columns; i++) {
		struct cell *cell = &store->cell[i];

		if (cell->type != CELL_TEXT && cell->type != CELL_BLOB)
			continue;
		cell->bytes = cell->size ? at : "";
		at += cell->size;
	}
	return 1;
}

const struct cell *row_store_row(const struct row_store *store)
{
	return store->cell;
}

void row_store_free(struct row_store *store)
{
	if (!store)
		return;
	fclose(store->file);
	free(store->seen);
	free(store->cell);
	bytes_clear(&store->bytes);
	free(store);
}
