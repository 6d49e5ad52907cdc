/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"

#include <stdlib.h>

#include "base/mem.h"

struct intmap_slot {
	uint64_t key;
	int64_t value;
	bool used;
};

static size_t hash_slot(const struct intmap *map, uint64_t key)
{
	key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
	return (size_t)(key >> 20) & (map->slots - 1);
}

/* Return the slot that holds the key, or the free slot where it belongs. */
static size_t find_slot(const struct intmap *map, uint64_t key)
{
	size_t at = hash_slot(map, key);

	while (map->slot[at].used && map->slot[at].key != key)
		at = (at + 1) & (map->slots - 1);
	return at;
}

static void grow_slots(struct intmap *map)
{
	struct intmap old = *map;

	map->slots = old.slots ? old.slots * 2 : 64;
	map->slot = mem_zalloc(map->slots * sizeof(*map->slot));
	for (size_t i = 0; i < old.slots; i++)
		if (old.slot[i].used)
			map->slot[find_slot(map, old.slot[i].key)] = old.slot[i];
	free(old.slot);
}

void intmap_put(struct intmap *map, uint64_t key, int64_t value)
{
	struct intmap_slot *slot;

	if (2 * map->count >= map->slots)
		grow_slots(map);
	slot = &map->slot[find_slot(map, key)];
	if (!slot->used)
		map->count++;
	slot->used = true;
	slot->key = key;
	slot->value = value;
}

bool intmap_get(const struct intmap *map, uint64_t key, int64_t *value)
{
	size_t at;

	if (!map->slots)
		return false;
	at = find_slot(map, key);
	*value = map->slot[at].value;
	return map->slot[at].used;
}

/* Close the gap that a removed key leaves in its run (Knuth 6.4, algorithm R). */
static void close_gap(struct intmap *map, size_t gap)
{
	size_t mask = map->slots - 1, at = gap;

	while (map->slot[at = (at + 1) & mask].used) {
		size_t from = hash_slot(map, map->slot[at].key);

		if (((at - from) & mask) < ((at - gap) & mask))
			continue;
		map->slot[gap] = map->slot[at];
		gap = at;
	}
	map->slot[gap].used = false;
}

bool intmap_remove(struct intmap *map, uint64_t key, int64_t *value)
{
	if (!intmap_get(map, key, value))
		return false;
	map->count--;
	close_gap(map, find_slot(map, key));
	return true;
}

void intmap_clear(struct intmap *map)
{
	free(map->slot);
	memset(map, 0, sizeof(*map));
}

/* Hash eight bytes at a time. The byte order is the machine's, as hashes never leave the
 * process. */
static uint64_t hash_words(const char *bytes, size_t size)
{
	uint64_t hash = size;

	while (size) {
		size_t step = size < 8 ? size : 8;
		uint64_t word = 0;

		memcpy(&word, bytes, step);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
		bytes += step;
		size -= step;
	}
	return hash;
}

size_t texts_put(struct texts *texts, const char *text)
{
	return texts_put_bytes(texts, text, strlen(text));
}

/* Return the number of the bytes, or -1. Set `first` to the latest entry with their hash,
 * or -1. */
static int64_t find_text(const struct texts *texts, const char *bytes, size_t size,
			 uint64_t hash, int64_t *first)
{
	int64_t at;

	if (!intmap_get(&texts->first, hash, first))
		*first = -1;
	for (at = *first; at >= 0; at = texts->entry[at].next)
		if (texts->entry[at].size == size &&
		    memcmp(texts->entry[at].text, bytes, size) == 0)
			break;
	return at;
}

bool texts_have(const struct texts *texts, const char *text)
{
	return texts_have_bytes(texts, text, strlen(text));
}

bool texts_have_bytes(const struct texts *texts, const char *bytes, size_t size)
{
	int64_t first;

	return find_text(texts, bytes, size, hash_words(bytes, size), &first) >= 0;
}

size_t texts_put_bytes(struct texts *texts, const char *bytes, size_t size)
{
	uint64_t hash = hash_words(bytes, size);
	int64_t first, at = find_text(texts, bytes, size, hash, &first);

	if (at >= 0)
		return (size_t)at;
	texts->entry =
	    mem_grow(texts->entry, texts->count, &texts->capacity, sizeof(*texts->entry));
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
