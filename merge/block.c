/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/block.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

_Static_assert(offsetof(struct block, byte) % _Alignof(struct row) == 0,
	       "rows in a block are aligned");

static bool has_bytes(const struct cell *cell)
{
	return cell->type == CELL_TEXT || cell->type == CELL_BLOB;
}

struct block *block_new(size_t row)
{
	size_t size = row > BLOCK_BYTES ? row : BLOCK_BYTES;
	struct block *block = mem_alloc(sizeof(*block) + size);

	block->next = NULL;
	block->size = size;
	block->used = 0;
	return block;
}

size_t row_size(const struct row *row, size_t columns)
{
	const struct cell *cell = row->record.cell;
	size_t size = sizeof(*row);

	if (!cell)
		return size;
	size += columns * sizeof(*cell);
	for (size_t i = 0; i < columns; i++)
		if (has_bytes(&cell[i]))
			size += cell[i].size;
	return (size + _Alignof(struct row) - 1) / _Alignof(struct row) *
	       _Alignof(struct row);
}

void block_add(struct block *block, const struct row *row, size_t columns, size_t size)
{
	struct row *copy = (struct row *)(block->byte + block->used);
	struct cell *cell = (struct cell *)(copy + 1);
	char *bytes = (char *)(cell + columns);

	assert(size <= block->size - block->used && size <= UINT32_MAX);
	*copy = *row;
	copy->length = (uint32_t)size;
	block->used += size;
	if (!row->record.cell)
		return;
	copy->record.cell = cell;
	memcpy(cell, row->record.cell, columns * sizeof(*cell));
	for (size_t i = 0; i < columns; i++) {
		if (!has_bytes(&cell[i]))
			continue;
		memcpy(bytes, cell[i].bytes, cell[i].size);
		cell[i].bytes = bytes;
		bytes += cell[i].size;
	}
}
