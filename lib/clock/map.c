/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/map.h"

#include <stdlib.h>
#include <string.h>

const struct clock *clock_map_find(const struct clock_map *map, const char *trace)
{
	for (size_t i = 0; i < map->clocks; i++)
		if (strcmp(map->clock[i].trace, trace) == 0)
			return &map->clock[i];
	return NULL;
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
