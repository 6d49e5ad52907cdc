/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_TABLES_ROW_PIPE_H
#define CT_TABLES_ROW_PIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cell.h"
#include "base/error.h"

/* What takes rows, one after the other: 0, or -1 with error, after which no more come. */
typedef int row_taker(void *context, const struct cell *row, size_t rows,
		      struct error *error);

/*
 * Rows in batches, in which they are copied. With a thread of its own, the taker works
 * while more rows come; some batches wait at most. That thread takes no signals.
 */
struct row_pipe;

struct row_pipe *row_pipe_new(size_t columns, bool thread, row_taker *take,
			      void *context);

/* 0, or -1 when the taker failed; row_pipe_end has the error. */
int row_pipe_put(struct row_pipe *pipe, const struct cell *row);

/* Wait until all rows are taken, and free the pipe. 0, or -1 with the taker's error. */
int row_pipe_end(struct row_pipe *pipe, struct error *error);

#endif
