/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/cell.h"

#include <math.h>

#include "base/bytes.h"
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

void cell_add_key(const struct cell *cell, struct bytes *key)
{
	struct cell part = *cell;

	if (part.type == CELL_REAL && fabs(part.real) < 0x1p62 &&
	    part.real == floor(part.real))
		part = cell_of_integer((int64_t)part.real);
	bytes_add_byte(key, (uint8_t)part.type);
	if (cell_has_bytes(&part)) {
		bytes_add(key, &part.size, sizeof(part.size));
		bytes_add(key, part.bytes, part.size);
	} else if (part.type != CELL_NULL) {
		bytes_add(key, &part.integer, sizeof(part.integer));
	}
}

char *cell_text(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? mem_strndup(cell->bytes, cell->size)
				       : mem_strdup("");
}
