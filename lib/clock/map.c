/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"

const struct clock *clock_map_find(const struct clock_map *map, const char *trace)
{
	for (size_t i = 0; i < map->clocks; i++)
		if (strcmp(map->clock[i].trace, trace) == 0)
			return &map->clock[i];
	return NULL;
}

/* A text as it is read again. */
static uint64_t hash_clean(uint64_t hash, const char *text)
{
	char *clean = utf8_clean(text);

	hash = hash_text(hash, clean);
	free(clean);
	return hash;
}

uint64_t clock_map_fingerprint(const struct clock_map *map)
{
	uint64_t hash = HASH_INIT;

	for (size_t i = 0; i < map->clocks; i++) {
		const struct clock *clock = &map->clock[i];

		hash = hash_clean(hash_clean(hash, clock->trace), clock->reference);
		for (size_t k = 0; k < clock->segments; k++) { /* rates are rounded */
			const nsec_t time[] = {clock->segment[k].local_ns,
					       clock->segment[k].ref_ns};

			hash = hash_bytes(hash, time, sizeof(time));
		}
	}
	for (size_t i = 0; i < map->pairs; i++) {
		const struct clock_pair *pair = &map->pair[i];
		const uint64_t count[] = {pair->messages_ab, pair->messages_ba,
					  pair->rejected};

		hash = hash_clean(hash_clean(hash, pair->a), pair->b);
		hash = hash_bytes(hash, count, sizeof(count));
	}
	return hash;
}

static void island_clear(struct clock_island *island)
{
	for (size_t i = 0; i < island->traces; i++)
		free(island->trace[i]);
	free(island->trace);
	free(island->reference);
}

void clock_map_clear(struct clock_map *map)
{
	for (size_t i = 0; i < map->islands; i++)
		island_clear(&map->island[i]);
	for (size_t i = 0; i < map->clocks; i++)
		clock_clear(&map->clock[i]);
	for (size_t i = 0; i < map->pairs; i++) {
		free(map->pair[i].a);
		free(map->pair[i].b);
	}
	for (size_t i = 0; i < map->ties; i++) {
		free(map->tie[i].a);
		free(map->tie[i].b);
		free(map->tie[i].offset);
	}
	free(map->tie);
	free(map->reference);
	free(map->island);
	free(map->clock);
	free(map->pair);
	memset(map, 0, sizeof(*map));
}
