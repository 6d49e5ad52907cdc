/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sync/sync.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *reference_of(const struct sync *sync, uint32_t clock)
{
	const struct graph *graph = &sync->graph;

	return sync_clock_name(sync, graph->island[graph->node[clock].island].reference);
}

/* It is no better known than its base, of which the tie leaves something open. */
static void describe_tied(const struct sync *sync, const struct sync_trace *trace,
			  struct clock *clock)
{
	if (clock->quality == CLOCK_EXACT || clock->quality == CLOCK_ABSENT)
		clock->quality = CLOCK_ACCURATE;
	clock->begin_ns = trace->facts.begin_ns;
	clock->end_ns = trace->facts.end_ns;
	tie_describe(sync, trace, clock);
}

static void describe_clock(const struct sync *sync, const struct sync_trace *trace,
			   struct clock *clock)
{
	const struct clock *fitted = &sync->fitted[trace->clock];

	clock->trace = mem_strdup(trace->name);
	clock->path = mem_strdup(trace->path);
	clock->reference = mem_strdup(reference_of(sync, trace->clock));
	clock->quality = fitted->quality;
	if (trace->tie) {
		describe_tied(sync, trace, clock);
		return;
	}
	if (&sync->trace[sync->clock_trace[trace->clock]] != trace)
		clock->quality = CLOCK_EXACT;
	clock->begin_ns = trace->facts.begin_ns;
	clock->end_ns = trace->facts.end_ns;
	clock->segments = fitted->segments;
	clock->segment = mem_realloc(NULL, clock->segments, sizeof(*clock->segment));
	for (size_t i = 0; i < clock->segments; i++) {
		clock->segment[i] = fitted->segment[i];
		clock->segment[i].local_ns -= trace->shift_ns;
	}
	clock->bounds = fitted->bounds;
	clock->bound = mem_realloc(NULL, clock->bounds, sizeof(*clock->bound));
	for (size_t i = 0; i < clock->bounds; i++) {
		clock->bound[i] = fitted->bound[i];
		clock->bound[i].local_ns -= trace->shift_ns;
	}
}

static void describe_island(const struct sync *sync, size_t index,
			    struct clock_island *island)
{
	island->reference =
	    mem_strdup(sync_clock_name(sync, sync->graph.island[index].reference));
	island->trace = mem_realloc(NULL, sync->traces, sizeof(*island->trace));
	for (size_t i = 0; i < sync->traces; i++)
		if (sync->graph.node[sync->trace[i].clock].island == index)
			island->trace[island->traces++] = mem_strdup(sync->trace[i].name);
}

static void describe_pair(const struct sync *sync, const struct pair *from,
			  struct clock_pair *to)
{
	to->a = mem_strdup(sync_clock_name(sync, from->a));
	to->b = mem_strdup(sync_clock_name(sync, from->b));
	to->messages_ab = from->messages_ab;
	to->messages_ba = from->messages_ba;
	to->rejected = from->rejected;
	to->hull_ab = from->lower.count;
	to->hull_ba = from->upper.count;
	to->quality = from->quality;
	to->violations_before = from->violations_before;
	to->violations_after = from->violations_after;
	to->min_latency_ab_ns = from->min_latency_ab_ns;
	to->min_latency_ba_ns = from->min_latency_ba_ns;
}

void sync_describe(const struct sync *sync, struct clock_map *map)
{
	uint32_t *order = pair_table_order(&sync->pairs);

	memset(map, 0, sizeof(*map));
	map->reference =
	    mem_strdup(sync_clock_name(sync, sync->graph.island[0].reference));
	map->islands = sync->graph.islands;
	map->island = mem_zalloc(map->islands * sizeof(*map->island));
	for (size_t i = 0; i < map->islands; i++)
		describe_island(sync, i, &map->island[i]);
	map->clocks = sync->traces;
	map->clock = mem_zalloc(map->clocks * sizeof(*map->clock));
	for (size_t i = 0; i < map->clocks; i++)
		describe_clock(sync, &sync->trace[i], &map->clock[i]);
	map->pairs = sync->pairs.count;
	map->pair = mem_zalloc(map->pairs * sizeof(*map->pair));
	for (size_t i = 0; i < map->pairs; i++)
		describe_pair(sync, &sync->pairs.pair[order[i]], &map->pair[i]);
	map->matching = sync->matching;
	free(order);
}
