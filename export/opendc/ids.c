/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/opendc/ids.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct opendc_id {
	bool is_text;
	int64_t number; /* of a text, where it stands */
	uint32_t size;
	int64_t next; /* of the same hash */
};

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t key_of(const struct cell *cell)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (cell->type != CELL_TEXT)
		return (uint64_t)cell->integer;
	for (uint32_t i = 0; i < cell->size; i++)
		hash = (hash ^ (uint8_t)cell->bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static bool is_same(const struct opendc_ids *ids, const struct opendc_id *id,
		    const struct cell *cell)
{
	if (id->is_text != (cell->type == CELL_TEXT))
		return false;
	return id->is_text
		   ? id->size == cell->size &&
			 memcmp(ids->text.data + id->number, cell->bytes, cell->size) == 0
		   : id->number == cell->integer;
}

int64_t opendc_ids_find(const struct opendc_ids *ids, const struct cell *cell)
{
	int64_t at;

	if (!intmap_get(&ids->first, key_of(cell), &at))
		return OPENDC_NO_ID;
	while (at >= 0 && !is_same(ids, &ids->id[at], cell))
		at = ids->id[at].next;
	return at;
}

int64_t opendc_ids_add(struct opendc_ids *ids, const struct cell *cell)
{
	struct opendc_id id = {.is_text = cell->type == CELL_TEXT,
			       .number = cell->integer,
			       .next = OPENDC_NO_ID};

	if (opendc_ids_find(ids, cell) >= 0)
		return OPENDC_NO_ID;
	if (id.is_text) {
		id.number = (int64_t)ids->text.size;
		id.size = cell->size;
		bytes_add(&ids->text, cell->bytes, cell->size);
		bytes_reserve(&ids->text, 1);
	}
	intmap_get(&ids->first, key_of(cell), &id.next);
	intmap_put(&ids->first, key_of(cell), (int64_t)ids->ids);
	ids->id = mem_grow(ids->id, ids->ids, &ids->room, sizeof(*ids->id));
	ids->id[ids->ids] = id;
	return (int64_t)ids->ids++;
}

char *opendc_id_text(const struct cell *cell)
{
	if (cell->type == CELL_TEXT)
		return mem_strndup(cell->bytes, cell->size);
	return cell->type == CELL_NULL ? mem_strdup("null")
				       : mem_printf("%" PRId64, cell->integer);
}

char *opendc_ids_text(const struct opendc_ids *ids, int64_t index)
{
	const struct opendc_id *id = &ids->id[index];

	return id->is_text
		   ? mem_strndup((const char *)ids->text.data + id->number, id->size)
		   : mem_printf("%" PRId64, id->number);
}

void opendc_ids_clear(struct opendc_ids *ids)
{
	intmap_clear(&ids->first);
	free(ids->id);
	bytes_clear(&ids->text);
	*ids = (struct opendc_ids){0};
}
