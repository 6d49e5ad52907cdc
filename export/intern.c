/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "export/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct intern_slot {
	char *text; /* NULL: free */
	uint32_t hash, number;
};

/* FNV-1a, of 32 bits. */
static uint32_t hash_text(const char *text, size_t size)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash;
}

static struct intern_slot *probe(const struct intern *texts, const char *text,
				 uint32_t hash)
{
	size_t at = hash & (texts->slots - 1);

	while (texts->slot[at].text &&
	       (texts->slot[at].hash != hash || strcmp(texts->slot[at].text, text) != 0))
		at = (at + 1) & (texts->slots - 1);
	return &texts->slot[at];
}

static void grow(struct intern *texts)
{
	struct intern old = *texts;

	texts->slots = old.slots ? old.slots * 2 : 64;
	texts->slot = mem_zalloc(texts->slots * sizeof(*texts->slot));
	for (size_t i = 0; i < old.slots; i++)
		if (old.slot[i].text)
			*probe(texts, old.slot[i].text, old.slot[i].hash) = old.slot[i];
	free(old.slot);
}

uint32_t intern(struct intern *texts, const char *text, bool *is_new)
{
	size_t size = strnlen(text, INTERN_LONGEST + 1);
	uint32_t hash = hash_text(text, size);
	struct intern_slot *slot;

	*is_new = false;
	if (size > INTERN_LONGEST)
		return 0;
	if (2 * texts->count >= texts->slots)
		grow(texts);
	slot = probe(texts, text, hash);
	if (slot->text)
		return slot->number;
	if (texts->count == INTERN_MOST)
		return 0;
	*is_new = true;
	slot->text = mem_strdup(text);
	slot->hash = hash;
	slot->number = (uint32_t)++texts->count;
	return slot->number;
}

void intern_clear(struct intern *texts)
{
	for (size_t i = 0; i < texts->slots; i++)
		free(texts->slot[i].text);
	free(texts->slot);
	*texts = (struct intern){NULL, 0, 0};
}
