/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analyze/keys.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* There is room for a key without parts, too: it is no NULL. */
void keys_begin(struct keys *keys)
{
	keys->part_size = 0;
	if (!keys->part) {
		keys->part_room = 64;
		keys->part = mem_alloc(keys->part_room);
	}
}

static void append(struct keys *keys, const void *bytes, size_t size)
{
	if (keys->part_size + size > keys->part_room) {
		keys->part_room = 2 * (keys->part_size + size);
		keys->part = mem_realloc(keys->part, keys->part_room, 1);
	}
	if (size)
		memcpy(keys->part + keys->part_size, bytes, size);
	keys->part_size += size;
}

void keys_integer(struct keys *keys, int64_t value)
{
	append(keys, &value, sizeof(value));
}

void keys_text(struct keys *keys, const char *bytes, size_t size)
{
	keys_integer(keys, (int64_t)size);
	append(keys, bytes, size);
}

/* Eight bytes at a time, each mixed as in splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t hash_of(const char *bytes, size_t size)
{
	uint64_t hash = size * UINT64_C(0x9e3779b97f4a7c15);

	while (size) {
		uint64_t word = 0;
		size_t part = size < 8 ? size : 8;

		memcpy(&word, bytes, part);
		hash ^= word;
		hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
		hash ^= hash >> 31;
		bytes += part;
		size -= part;
	}
	return hash;
}

static void grow(struct keys *keys)
{
	keys->slots = keys->slots ? 2 * keys->slots : 64;
	free(keys->slot);
	keys->slot = mem_zalloc(keys->slots * sizeof(*keys->slot));
	for (size_t i = 0; i < keys->count; i++) {
		size_t at = keys->entry[i].hash & (keys->slots - 1);

		while (keys->slot[at])
			at = (at + 1) & (keys->slots - 1);
		keys->slot[at] = (uint32_t)i + 1;
	}
}

/* The slot that has the key that was built, or is free for it. */
static size_t find_slot(const struct keys *keys, uint64_t hash)
{
	size_t at = hash & (keys->slots - 1);

	for (; keys->slot[at]; at = (at + 1) & (keys->slots - 1)) {
		const struct key_entry *entry = &keys->entry[keys->slot[at] - 1];

		if (entry->hash == hash && entry->size == keys->part_size &&
		    !memcmp(entry->bytes, keys->part, entry->size))
			break;
	}
	return at;
}

size_t keys_find(struct keys *keys)
{
	uint64_t hash = hash_of(keys->part, keys->part_size);
	struct key_entry *entry;
	size_t at;

	if (2 * keys->count >= keys->slots)
		grow(keys);
	at = find_slot(keys, hash);
	if (keys->slot[at])
		return keys->slot[at] - 1;
	keys->entry =
	    mem_grow(keys->entry, keys->count, &keys->room, sizeof(*keys->entry));
	entry = &keys->entry[keys->count++];
	entry->bytes = mem_alloc(keys->part_size + 1);
	memcpy(entry->bytes, keys->part, keys->part_size);
	entry->size = keys->part_size;
	entry->hash = hash;
	keys->slot[at] = (uint32_t)keys->count;
	return keys->count - 1;
}

size_t keys_lookup(const struct keys *keys)
{
	size_t at;

	if (!keys->count)
		return SIZE_MAX;
	at = find_slot(keys, hash_of(keys->part, keys->part_size));
	return keys->slot[at] ? keys->slot[at] - 1 : SIZE_MAX;
}

void keys_clear(struct keys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		free(keys->entry[i].bytes);
	free(keys->entry);
	free(keys->slot);
	free(keys->part);
	*keys = (struct keys){0};
}
