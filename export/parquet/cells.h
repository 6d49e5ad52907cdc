/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_PARQUET_CELLS_H
#define CT_EXPORT_PARQUET_CELLS_H

#include "export/parquet/chunk.h"

/* The cells of one flat column in some rows: `stride` cells from one to the next. */
struct parquet_cells {
	const struct cell *cell;
	size_t stride, count;
};

/*
 * How many of them, from the first on, fit their column; error says what was wanted of
 * the next one, without the place. Adds the bytes of those to `bytes`.
 */
size_t parquet_cells_check(const struct parquet_cells *cells,
			   const struct parquet_column *column, size_t *bytes,
			   struct error *error);

/* Add them, which fit, to their chunk. 0, or -1 with error. */
int parquet_cells_add(const struct parquet_cells *cells, struct parquet_chunk *chunk,
		      struct error *error);

#endif
