/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TIMELINE_BATCH_TABLE_H
#define CT_TIMELINE_BATCH_TABLE_H

#include <stddef.h>

#include <sqlite3.h>

#include "base/cell.h"

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

/* Make the table known to a connection; the view outlives it. An SQLite code. */
int batch_table_register(sqlite3 *db, const struct batch_view *view);

#endif
