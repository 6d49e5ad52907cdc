/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "input/recipe/probes.h"

#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "input/recipe/keys.h"
#include "input/recipe/plan.h"

enum { MOST_CHORDS = 32 }; /* as in known.yaml */

/* Return the smallest integer whose power is at least `least`. */
static size_t root_of(size_t least, size_t exponent)
{
	for (size_t root = 1;; root++) {
		size_t power = 1;

		for (size_t i = 0; i < exponent && power < least; i++)
			power *= root;
		if (power >= least)
			return root;
	}
}

/*
 * Set `offset` to the distances along the ring at which a node has neighbors: 1 and the
 * powers of a root of the number of nodes, each at most half of the ring. Return their
 * number.
 */
static size_t find_offsets(size_t nodes, size_t chords, size_t *offset)
{
	size_t root = root_of(nodes, chords + 1), count = 0;

	for (size_t i = 0, power = 1; i <= chords && power < nodes; i++, power *= root) {
		size_t apart = power < nodes - power ? power : nodes - power;
		bool is_new = true;

		for (size_t k = 0; k < count; k++)
			is_new &= offset[k] != apart;
		if (is_new)
			offset[count++] = apart;
	}
	return count;
}

static const char *probe_address(const struct recipe *recipe, const char *node)
{
	const struct recipe_value *known = recipe_value_find(&recipe->nodes, node);
	const char *own = recipe_text(known, "probe_address");

	return *own ? own : recipe_text(known, "address");
}

static void add_probe(const struct recipe *recipe, const char *node, const char *neighbor,
		      struct recipe_value *probes)
{
	const struct recipe_value *probe = recipe_get(recipe, "probe");
	const char *address = probe_address(recipe, neighbor);
	struct recipe_value *added = recipe_value_add(probes, NULL, probe->location);

	added->kind = RECIPE_MAP;
	recipe_value_put(added, "node", node);
	recipe_value_put(added, "neighbor", neighbor);
	recipe_value_put(added, "address", address);
	recipe_value_put(added, "interval_ms", recipe_text(probe, "interval"));
	recipe_value_find(added, "interval_ms")->plain = true; /* a number in JSON */
	if (recipe_has_form("localhost|127[.].*|::1", address) ||
	    strcasecmp(address, probe_address(recipe, node)) == 0)
		recipe_error_add(probe->location,
				 "probe: %s does not lead from %s to %s; add a "
				 "probe_address to %s in hosts",
				 address, node, neighbor, neighbor);
}

void recipe_find_probes(const struct recipe *recipe, struct recipe_value *probes)
{
	const struct recipe_value *probe = recipe_get(recipe, "probe");
	size_t offset[MOST_CHORDS + 1], offsets, count;
	struct recipe_value ring;

	*probes = (struct recipe_value){.kind = RECIPE_LIST};
	if (!probe)
		return;
	recipe_choose_nodes(recipe, "probe", probe, &ring);
	count = ring.count;
	offsets =
	    find_offsets(count, strtoul(recipe_text(probe, "chords"), NULL, 10), offset);
	if (count < 2)
		recipe_error_add(probe->location, "probe: missing second node");
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < offsets; k++) {
			const char *node = ring.entry[i].key;
			const char *other = ring.entry[(i + offset[k]) % count].key;

			/* Halfway around the ring, both ends have the same chord. */
			if (2 * offset[k] == count && i >= offset[k])
				continue;
			add_probe(recipe, node, other, probes);
			add_probe(recipe, other, node, probes);
		}
	recipe_value_clear(&ring);
}

char *recipe_probe_filter(const struct recipe *recipe)
{
	const char *filter = recipe_text(recipe_get(recipe, "capture"), "filter");

	return recipe_get(recipe, "probe") && *filter
		   ? mem_printf("(%s) or icmp or icmp6", filter)
		   : mem_strdup(filter);
}
