/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/cell.h"

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
