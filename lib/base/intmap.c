/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/intmap.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct intmap_slot {
	uint64_t key;
	int64_t value;
	bool used;
};

static size_t home(const struct intmap *map, uint64_t key)
{
	key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15u;
	return (size_t)(key >> 20) & (map->slots - 1);
}

/* Where the key stands or would stand. */
static size_t probe(const struct intmap *map, uint64_t key)
{
	size_t at = home(map, key);

	while (map->slot[at].used && map->slot[at].key != key)
		at = (at + 1) & (map->slots - 1);
	return at;
}

static void grow(struct intmap *map)
{
	struct intmap old = *map;

	map->slots = old.slots ? old.slots * 2 : 64;
	map->slot = mem_zalloc(map->slots * sizeof(*map->slot));
	for (size_t i = 0; i < old.slots; i++)
		if (old.slot[i].used)
			map->slot[probe(map, old.slot[i].key)] = old.slot[i];
	free(old.slot);
}

void intmap_put(struct intmap *map, uint64_t key, int64_t value)
{
	struct intmap_slot *slot;

	if (2 * map->count >= map->slots)
		grow(map);
	slot = &map->slot[probe(map, key)];
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
	at = probe(map, key);
	*value = map->slot[at].value;
	return map->slot[at].used;
}

/* Close the gap that a removed key leaves in its run (Knuth 6.4, algorithm R). */
static void close_gap(struct intmap *map, size_t gap)
{
	size_t mask = map->slots - 1, at = gap;

	while (map->slot[at = (at + 1) & mask].used) {
		size_t from = home(map, map->slot[at].key);

		if (((at - from) & mask) < ((at - gap) & mask))
			continue;
		map->slot[gap] = map->slot[at];
		gap = at;
	}
	map->slot[gap].used = false;
}

bool intmap_take(struct intmap *map, uint64_t key, int64_t *value)
{
	if (!intmap_get(map, key, value))
		return false;
	map->count--;
	close_gap(map, probe(map, key));
	return true;
}

void intmap_clear(struct intmap *map)
{
	free(map->slot);
	memset(map, 0, sizeof(*map));
}
