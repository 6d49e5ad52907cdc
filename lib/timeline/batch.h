/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_BATCH_H
#define CT_TIMELINE_BATCH_H

#include <sqlite3.h>

#include "base/cell.h"
#include "base/error.h"

/*
 * Rows wait in memory, some hundred a table, and go into their table by one
 * statement: INSERT ... SELECT from a virtual table that reads them. Starting
 * a statement and finding the end of the table cost more than the row itself,
 * and so they are paid once a batch (docs/benchmarks.md has the figures).
 */
struct batches;

struct batch; /* of one table */

/* Rows wait until batches_open. `place` goes in front of errors, and is copied. */
struct batches *batches_new(const char *place);

/*
 * From now on rows go into this database; the connection has no row in flight and
 * stays the caller's. 0, or -1 with error.
 */
int batches_open(struct batches *batches, sqlite3 *db, struct error *error);

/*
 * A batch for the first `columns` columns of a table, which exists when it is
 * first written. Owned by `batches`. The name is copied.
 */
struct batch *batch_add(struct batches *batches, const char *table, unsigned columns);

/*
 * Add a row, a cell a column; copies it. 0, or -1 with error when writing
 * failed: the database is of no use then, and every later call fails as well.
 */
int batch_row(struct batch *batch, const struct cell *cell, struct error *error);

/* As batch_row for a row of `id` and the cells behind it. */
int batch_row_id(struct batch *batch, int64_t id, const struct cell *cell,
		 struct error *error);

/* Write what waits; the database is open. */
int batches_flush(struct batches *batches, struct error *error);

void batches_free(struct batches *batches);

#endif
