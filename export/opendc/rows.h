/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef CT_EXPORT_OPENDC_ROWS_H
#define CT_EXPORT_OPENDC_ROWS_H

#include "base/cell.h"
#include "base/mem.h"

/* Cells of rows as the tables of a timeline have them, where a NULL means something. */
static inline int64_t rows_integer(const struct cell *cell, int64_t missing)
{
	return cell->type == CELL_INTEGER ? cell->integer : missing;
}

/* For free(). */
static inline char *rows_text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}

#endif
