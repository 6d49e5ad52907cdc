/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_TABLES_ROW_STORE_H
#define CT_EXPORT_TABLES_ROW_STORE_H

#include "base/cell.h"
#include "base/error.h"
#include "export/tables/question.h"

/*
 * Rows whose types are known only when all of them are: SQLite has types for values, not
 * for columns. They are kept in an unnamed file in $TMPDIR, whatever their number, and
 * what types each column has is noted on the way.
 */
struct row_store;

/* NULL with error. */
struct row_store *row_store_new(size_t columns, struct error *error);

int row_store_add(struct row_store *store, const struct cell *row, struct error *error);

/*
 * Give a type to each column that has none, so that no value is lost: integers, also
 * among reals where each is one exactly, are numbers; numbers among others, and numbers
 * that do not go together, become their texts, as CSV has them; with a blob among them
 * all are bytes; without a value it is text.
 */
void row_store_decide(const struct row_store *store, struct question *question);

/* The rows again, in their order: 1, 0 at the end, -1 with error. */
int row_store_next(struct row_store *store, struct error *error);

/* Good until the next call. */
const struct cell *row_store_row(const struct row_store *store);

void row_store_free(struct row_store *store);

#endif
