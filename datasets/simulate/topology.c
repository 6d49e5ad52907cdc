/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulate/topology.h"

#include <stdlib.h>
#include <string.h>

#include "base/intmap.h"
#include "base/mem.h"
#include "simulate/dice.h"

struct pairs {
	const struct scenario *scenario;
	struct topology_pair *pair;
	size_t count, room;
	struct intmap known; /* lower << 32 | higher, to the index */
};

/* The place of a pair, which is made if there is none. */
static struct topology_pair *find(struct pairs *pairs, uint32_t a, uint32_t b)
{
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	int64_t index;

	if (intmap_get(&pairs->known, key, &index))
		return &pairs->pair[index];
	intmap_put(&pairs->known, key, (int64_t)pairs->count);
	pairs->pair =
	    mem_grow(pairs->pair, pairs->count, &pairs->room, sizeof(*pairs->pair));
	pairs->pair[pairs->count] =
	    (struct topology_pair){a, b, pairs->scenario->interval_ms};
	return &pairs->pair[pairs->count++];
}

static void add_mesh(struct pairs *pairs, uint32_t from, uint32_t to)
{
	for (uint32_t a = from; a < to; a++)
		for (uint32_t b = a + 1; b < to; b++)
			find(pairs, a, b);
}

static void add_chain(struct pairs *pairs, uint32_t nodes)
{
	for (uint32_t a = 0; a + 1 < nodes; a++)
		find(pairs, a, a + 1);
}

static void add_islands(struct pairs *pairs, uint32_t nodes)
{
	uint32_t islands = (uint32_t)pairs->scenario->islands;

	for (uint32_t i = 0; i < islands; i++)
		add_mesh(pairs, nodes * i / islands, nodes * (i + 1) / islands);
}

static void add_clients(struct pairs *pairs, uint32_t nodes, uint32_t servers)
{
	for (uint32_t client = servers; client < nodes; client++)
		for (uint32_t server = 0; server < servers; server++)
			find(pairs, client, server);
}

/* A random tree, so that all are connected, and random pairs beside it. */
static void add_random(struct pairs *pairs, uint32_t nodes, uint64_t seed)
{
	struct dice dice;

	dice_init(&dice, seed, DICE_TOPOLOGY, 0);
	for (uint32_t b = 1; b < nodes; b++)
		find(pairs, (uint32_t)dice_below(&dice, b), b);
	while (pairs->count < (size_t)pairs->scenario->pairs) {
		uint32_t a = (uint32_t)dice_below(&dice, nodes);
		uint32_t b = (uint32_t)dice_below(&dice, nodes);

		if (a != b)
			find(pairs, a < b ? a : b, a < b ? b : a);
	}
}

static void add_all(struct pairs *pairs, uint32_t nodes, uint64_t seed)
{
	switch (pairs->scenario->topology) {
	case TOPOLOGY_RING:
		add_chain(pairs, nodes);
		find(pairs, nodes - 1, 0);
		break;
	case TOPOLOGY_STAR:
		add_clients(pairs, nodes, 1);
		break;
	case TOPOLOGY_MESH:
		add_mesh(pairs, 0, nodes);
		break;
	case TOPOLOGY_CHAIN:
		add_chain(pairs, nodes);
		break;
	case TOPOLOGY_ISLANDS:
		add_islands(pairs, nodes);
		break;
	case TOPOLOGY_CLIENTS:
		add_clients(pairs, nodes, (uint32_t)pairs->scenario->servers);
		break;
	case TOPOLOGY_RANDOM:
		add_random(pairs, nodes, seed);
		break;
	default: /* listed: those named below alone */
		break;
	}
}

struct topology_pair *topology_pairs(const struct scenario *scenario, uint64_t seed,
				     size_t *count)
{
	struct pairs pairs = {.scenario = scenario};
	size_t kept = 0;

	add_all(&pairs, (uint32_t)(scenario->nodes - scenario->lone), seed);
	for (size_t i = 0; i < scenario->pairs_listed; i++) {
		const struct scenario_pair *listed = &scenario->pair[i];

		find(&pairs, (uint32_t)listed->a - 1, (uint32_t)listed->b - 1)
		    ->interval_ms = listed->interval_ms;
	}
	for (size_t i = 0; i < pairs.count; i++)
		if (pairs.pair[i].interval_ms > 0)
			pairs.pair[kept++] = pairs.pair[i];
	intmap_clear(&pairs.known);
	*count = kept;
	return pairs.pair;
}
