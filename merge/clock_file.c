/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "merge/clock_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { ALIKE_LEAST = 2 }; /* NODE/kernel; "kernel" alone says nothing */

/* Which source each clock of the map belongs to. */
struct pairing {
	struct merge_run *run;
	struct clock_map *map;
	char **name; /* by clock: of its source; NULL: none */
};

static bool is_taken(const struct pairing *pairing, const char *name)
{
	for (size_t i = 0; i < pairing->map->clocks; i++)
		if (pairing->name[i] && strcmp(pairing->name[i], name) == 0)
			return true;
	return false;
}

static void pair_names(struct pairing *pairing)
{
	for (size_t i = 0; i < pairing->map->clocks; i++)
		for (size_t k = 0; k < pairing->run->count; k++) {
			const char *name = pairing->run->sources.item[k].name;

			if (!pairing->name[i] && !is_taken(pairing, name) &&
			    strcmp(pairing->map->clock[i].trace, name) == 0)
				pairing->name[i] = mem_strdup(name);
		}
}

/* The last component of the first `length` bytes of a path. */
static const char *component(const char *path, size_t *length)
{
	size_t end = *length, begin;

	while (end && path[end - 1] == '/')
		end--;
	begin = end;
	while (begin && path[begin - 1] != '/')
		begin--;
	*length = end - begin;
	return path + begin;
}

/* How many components two paths have in common at their ends. */
static int alike(const char *a, const char *b)
{
	size_t left_a = strlen(a), left_b = strlen(b);

	for (int count = 0;; count++) {
		size_t length_a = left_a, length_b = left_b;
		const char *last_a = component(a, &length_a);
		const char *last_b = component(b, &length_b);

		if (!length_a || length_a != length_b ||
		    memcmp(last_a, last_b, length_a) != 0)
			return count;
		left_a = (size_t)(last_a - a);
		left_b = (size_t)(last_b - b);
	}
}

/* The source whose path is most like a clock's, if only one is; or NULL. */
static const char *most_alike(const struct pairing *pairing, const struct clock *clock)
{
	const char *best = NULL;
	int most = ALIKE_LEAST - 1;

	for (size_t i = 0; i < pairing->run->count; i++) {
		const struct source *source = &pairing->run->sources.item[i];
		int count = alike(source->path, clock->path);

		if (count < most || is_taken(pairing, source->name))
			continue;
		best = count > most ? source->name : NULL;
		most = count;
	}
	return best;
}

/* As if all were paired at once: none takes what is another's as well. */
static void pair_paths(struct pairing *pairing)
{
	size_t clocks = pairing->map->clocks;
	const char **found = mem_zalloc(clocks * sizeof(*found));

	for (size_t i = 0; i < clocks; i++)
		if (!pairing->name[i])
			found[i] = most_alike(pairing, &pairing->map->clock[i]);
	for (size_t i = 0; i < clocks; i++) {
		bool alone = found[i];

		for (size_t k = 0; alone && k < clocks; k++)
			alone = k == i || found[k] != found[i];
		if (alone)
			pairing->name[i] = mem_strdup(found[i]);
	}
	free(found);
}

/* The source that a name of the map stands for; NULL: none. */
static const char *source_of(const struct pairing *pairing, const char *name)
{
	for (size_t i = 0; i < pairing->map->clocks; i++)
		if (strcmp(pairing->map->clock[i].trace, name) == 0)
			return pairing->name[i];
	return NULL;
}

static void rename_to(char **text, const char *name)
{
	char *copy = mem_strdup(name);

	free(*text);
	*text = copy;
}

static void rename_pairs(const struct pairing *pairing)
{
	struct clock_map *map = pairing->map;
	size_t kept = 0;

	for (size_t i = 0; i < map->pairs; i++) {
		struct clock_pair *pair = &map->pair[i];
		const char *a = source_of(pairing, pair->a);
		const char *b = source_of(pairing, pair->b);

		if (a && b) {
			rename_to(&pair->a, a);
			rename_to(&pair->b, b);
			map->pair[kept++] = *pair;
		} else {
			free(pair->a);
			free(pair->b);
		}
	}
	map->pairs = kept;
}

static void rename_reference(const struct pairing *pairing, char **reference)
{
	const char *name = source_of(pairing, *reference);

	/* An axis may be that of a clock which is not in the run. */
	if (name)
		rename_to(reference, name);
}

static void rename_islands(const struct pairing *pairing)
{
	struct clock_map *map = pairing->map;

	for (size_t i = 0; i < map->islands; i++) {
		struct clock_island *island = &map->island[i];
		size_t kept = 0;

		rename_reference(pairing, &island->reference);
		for (size_t k = 0; k < island->traces; k++) {
			const char *name = source_of(pairing, island->trace[k]);

			if (name) {
				rename_to(&island->trace[k], name);
				island->trace[kept++] = island->trace[k];
			} else {
				free(island->trace[k]);
			}
		}
		island->traces = kept;
	}
}

/* Last of all, for the others ask by the names of clocks. */
static void rename_clocks(const struct pairing *pairing, const char *path)
{
	struct clock_map *map = pairing->map;
	size_t kept = 0;

	for (size_t i = 0; i < map->clocks; i++)
		rename_reference(pairing, &map->clock[i].reference);
	for (size_t i = 0; i < map->clocks; i++) {
		struct clock *clock = &map->clock[i];

		if (pairing->name[i]) {
			rename_to(&clock->trace, pairing->name[i]);
			map->clock[kept++] = *clock;
			continue;
		}
		problem_add(&pairing->run->problems, path, "clock", 1,
			    "has a clock of %s (%s), which is no source of the run, "
			    "left out",
			    clock->trace, *clock->path ? clock->path : "of messages");
		clock_clear(clock);
	}
	map->clocks = kept;
}

int clock_file_read(struct merge_run *run, const char *path, struct error *error)
{
	struct pairing pairing = {.run = run, .map = &run->map};
	size_t clocks;

	clock_map_clear(&run->map);
	if (clock_map_read(&run->map, path, error))
		return -1;
	if (run->is_part) /* all of the map is of the run, and its sources go by name */
		return 0;
	clocks = run->map.clocks;
	pairing.name = mem_zalloc(clocks * sizeof(*pairing.name));
	pair_names(&pairing);
	pair_paths(&pairing);
	rename_pairs(&pairing);
	rename_islands(&pairing);
	rename_reference(&pairing, &run->map.reference);
	rename_clocks(&pairing, path);
	for (size_t i = 0; i < clocks; i++)
		free(pairing.name[i]);
	free(pairing.name);
	return 0;
}
