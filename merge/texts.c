/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static uint64_t hash_of(const char *text) /* FNV-1a */
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

size_t texts_put(struct texts *texts, const char *text)
{
	uint64_t hash = hash_of(text);
	int64_t first, at;

	if (!intmap_get(&texts->first, hash, &first))
		first = -1;
	for (at = first; at >= 0; at = texts->entry[at].next)
		if (strcmp(texts->entry[at].text, text) == 0)
			return (size_t)at;
	texts->entry =
	    mem_grow(texts->entry, texts->count, &texts->room, sizeof(*texts->entry));
	texts->entry[texts->count] =
	    (struct texts_entry){.text = mem_strdup(text), .next = first};
	intmap_put(&texts->first, hash, (int64_t)texts->count);
	return texts->count++;
}

const char *texts_get(const struct texts *texts, size_t number)
{
	return texts->entry[number].text;
}

void texts_clear(struct texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->entry[i].text);
	free(texts->entry);
	intmap_clear(&texts->first);
	memset(texts, 0, sizeof(*texts));
}
