/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/cell.h"

#include <math.h>

#include "base/mem.h"
#include "base/utf8.h"

void cell_set_bytes(struct cell *cell, enum cell_type type, const char *bytes,
		    size_t size)
{
	cell->type = type;
	cell->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
	cell->bytes = bytes;
}

void cell_set_text(struct cell *cell, const char *bytes, size_t size)
{
	cell_set_bytes(cell, utf8_is_valid(bytes, size) ? CELL_TEXT : CELL_BLOB, bytes,
		       size);
}

int64_t cell_integer(const struct cell *cell, int64_t otherwise)
{
	return cell->type == CELL_INTEGER ? cell->integer : otherwise;
}

double cell_number(const struct cell *cell)
{
	return cell->type == CELL_REAL      ? cell->real
	       : cell->type == CELL_INTEGER ? (double)cell->integer
					    : (double)NAN;
}

char *cell_text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}
