/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

size_t texts_put(struct texts *texts, const char *text)
{
	return texts_put_bytes(texts, text, strlen(text));
}

size_t texts_put_bytes(struct texts *texts, const char *bytes, size_t size)
{
	uint64_t hash = hash_bytes(HASH_INIT, bytes, size);
	int64_t first, at;

	if (!intmap_get(&texts->first, hash, &first))
		first = -1;
	for (at = first; at >= 0; at = texts->entry[at].next)
		if (texts->entry[at].size == size &&
		    memcmp(texts->entry[at].text, bytes, size) == 0)
			return (size_t)at;
	texts->entry =
	    mem_grow(texts->entry, texts->count, &texts->room, sizeof(*texts->entry));
	texts->entry[texts->count] = (struct texts_entry){
	    .text = mem_zalloc(size + 1), .size = size, .next = first};
	memcpy(texts->entry[texts->count].text, bytes, size);
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
