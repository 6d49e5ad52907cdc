/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "activity/activity_private.h"
#include "base/mem.h"

/* Names of threads and handlers come in nearly every event, but are few. */

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash(const char *bytes, size_t size)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		value = (value ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	return value;
}

const char *texts_keep(struct texts *texts, const struct cell *cell)
{
	int64_t at, next;
	uint64_t key;

	if (cell->type != CELL_TEXT || !cell->size)
		return "";
	key = hash(cell->bytes, cell->size);
	if (!intmap_get(&texts->first, key, &next))
		next = -1;
	for (at = next; at >= 0; at = texts->item[at].next)
		if (strncmp(texts->item[at].text, cell->bytes, cell->size) == 0 &&
		    !texts->item[at].text[cell->size])
			return texts->item[at].text;
	texts->item =
	    mem_grow(texts->item, texts->count, &texts->room, sizeof(*texts->item));
	texts->item[texts->count] =
	    (struct text_node){mem_strndup(cell->bytes, cell->size), next};
	intmap_put(&texts->first, key, (int64_t)texts->count);
	return texts->item[texts->count++].text;
}

void texts_clear(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->item[i].text);
	free(texts->item);
	intmap_clear(&texts->first);
}
