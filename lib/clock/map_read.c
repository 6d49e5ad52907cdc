/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/map.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"

#define RATE_LIMIT 5e8 /* ppb; a clock at half or one and a half the speed */

#define NO_INDEX SIZE_MAX

/* An object of the file and where it stands. */
struct place {
	const json_t *object;
	const struct place *up; /* NULL for the file's own object */
	const char *member;     /* of `up`: the object itself, or the list it is in */
	size_t index;           /* in that list, or NO_INDEX */
	struct error *error;
};

/* Say what a member should be: "clocks[1].segments[0].rate_ppb: want ...". Returns -1. */
static int want(const struct place *place, const char *name, const char *what)
{
	error_set(place->error, "%s: want %s", name, what);
	for (const struct place *at = place; at->up; at = at->up) {
		char *rest = mem_strdup(error_text(place->error));

		if (at->index == NO_INDEX)
			error_set(place->error, "%s.%s", at->member, rest);
		else
			error_set(place->error, "%s[%zu].%s", at->member, at->index,
				  rest);
		free(rest);
	}
	return -1;
}

static int read_text(const struct place *place, const char *name, char **text)
{
	const char *found = json_text(place->object, name);

	if (!found)
		return want(place, name, "a string");
	*text = mem_strdup(found);
	return 0;
}

static int read_nsec(const struct place *place, const char *name, nsec_t *value)
{
	if (json_nsec(place->object, name, value))
		return want(place, name, "an integer");
	return 0;
}

/* null stands for `none` */
static int read_nsec_or_null(const struct place *place, const char *name, nsec_t none,
			     nsec_t *value)
{
	if (json_is_null(json_object_get(place->object, name))) {
		*value = none;
		return 0;
	}
	if (json_nsec(place->object, name, value))
		return want(place, name, "an integer or null");
	return 0;
}

static int read_count(const struct place *place, const char *name, uint64_t *count)
{
	nsec_t value;

	if (json_nsec(place->object, name, &value) || value < 0)
		return want(place, name, "an integer of at least 0");
	*count = (uint64_t)value;
	return 0;
}

static int read_size(const struct place *place, const char *name, size_t *size)
{
	uint64_t count = 0;

	if (read_count(place, name, &count))
		return -1;
	*size = (size_t)count;
	return 0;
}

static int read_rate(const struct place *place, const char *name, double *rate_ppb)
{
	const json_t *member = json_object_get(place->object, name);

	if (!json_is_number(member))
		return want(place, name, "a number");
	*rate_ppb = json_number_value(member);
	if (!(fabs(*rate_ppb) < RATE_LIMIT))
		return want(place, name, "a number between -5e8 and 5e8");
	return 0;
}

static int read_quality(const struct place *place, enum clock_quality *quality)
{
	const char *name = json_text(place->object, "quality");
	int found = name ? clock_quality_parse(name) : -1;

	if (found < 0)
		return want(place, "quality",
			    "exact, accurate, approximate, incomplete, contradictory or "
			    "absent");
	*quality = (enum clock_quality)found;
	return 0;
}

/* The k-th item of a list of objects, into item. */
static int enter(const struct place *place, const char *list, size_t k,
		 struct place *item)
{
	char *name;

	*item = (struct place){
	    .object = json_array_get(json_object_get(place->object, list), k),
	    .up = place,
	    .member = list,
	    .index = k,
	    .error = place->error};
	if (json_is_object(item->object))
		return 0;
	name = mem_printf("%s[%zu]", list, k);
	want(place, name, "an object");
	free(name);
	return -1;
}

/* A list's length, and zeroed room for as many items of `size` bytes; NULL with error. */
static void *make_list(const struct place *place, const char *name, size_t size,
		       size_t *count)
{
	const json_t *list = json_object_get(place->object, name);

	if (!json_is_array(list)) {
		want(place, name, "an array");
		return NULL;
	}
	*count = json_array_size(list);
	return mem_zalloc(*count * size);
}

static int read_segments(const struct place *place, struct clock *clock)
{
	struct place item;

	clock->segment =
	    make_list(place, "segments", sizeof(*clock->segment), &clock->segments);
	if (!clock->segment)
		return -1;
	if (!clock->segments)
		return want(place, "segments", "at least one");
	for (size_t k = 0; k < clock->segments; k++) {
		struct clock_segment *segment = &clock->segment[k];

		if (enter(place, "segments", k, &item) ||
		    read_nsec(&item, "local_ns", &segment->local_ns) ||
		    read_nsec(&item, "ref_ns", &segment->ref_ns) ||
		    read_rate(&item, "rate_ppb", &segment->rate_ppb))
			return -1;
		if (k && segment->local_ns <= segment[-1].local_ns)
			return want(&item, "local_ns",
				    "a later time than the segment before");
	}
	return 0;
}

static int read_bounds(const struct place *place, struct clock *clock)
{
	struct place item;

	clock->bound = make_list(place, "bounds", sizeof(*clock->bound), &clock->bounds);
	if (!clock->bound)
		return -1;
	for (size_t k = 0; k < clock->bounds; k++) {
		struct clock_bound *bound = &clock->bound[k];

		if (enter(place, "bounds", k, &item) ||
		    read_nsec(&item, "local_ns", &bound->local_ns) ||
		    read_nsec_or_null(&item, "low_ns", NSEC_MIN, &bound->low_ns) ||
		    read_nsec_or_null(&item, "high_ns", NSEC_MAX, &bound->high_ns))
			return -1;
		if (k && bound->local_ns < bound[-1].local_ns)
			return want(&item, "local_ns",
				    "no earlier time than the bound before");
		if (bound->low_ns > bound->high_ns)
			return want(&item, "low_ns", "no more than high_ns");
	}
	return 0;
}

static int read_clock(const struct place *place, struct clock *clock)
{
	if (read_text(place, "trace", &clock->trace) ||
	    read_text(place, "path", &clock->path) ||
	    read_text(place, "reference", &clock->reference) ||
	    read_quality(place, &clock->quality) ||
	    read_nsec(place, "begin_ns", &clock->begin_ns) ||
	    read_nsec(place, "end_ns", &clock->end_ns) || read_segments(place, clock) ||
	    read_bounds(place, clock))
		return -1;
	return 0;
}

static int read_clocks(const struct place *place, struct clock_map *map)
{
	struct place item;

	map->clock = make_list(place, "clocks", sizeof(*map->clock), &map->clocks);
	if (!map->clock)
		return -1;
	for (size_t k = 0; k < map->clocks; k++) {
		if (enter(place, "clocks", k, &item) || read_clock(&item, &map->clock[k]))
			return -1;
		if (clock_map_find(map, map->clock[k].trace) != &map->clock[k])
			return want(&item, "trace", "a name that no clock before has");
	}
	return 0;
}

static int read_names(const struct place *place, struct clock_island *island)
{
	const json_t *list = json_object_get(place->object, "traces");
	size_t count = json_array_size(list);

	if (!json_is_array(list))
		return want(place, "traces", "an array");
	island->trace = mem_zalloc(count * sizeof(*island->trace));
	for (size_t k = 0; k < count; k++) {
		const char *name = json_string_value(json_array_get(list, k));

		if (!name)
			return want(place, "traces", "strings");
		island->trace[island->traces++] = mem_strdup(name);
	}
	return 0;
}

static int read_islands(const struct place *place, struct clock_map *map)
{
	struct place item;

	map->island = make_list(place, "islands", sizeof(*map->island), &map->islands);
	if (!map->island)
		return -1;
	for (size_t k = 0; k < map->islands; k++)
		if (enter(place, "islands", k, &item) ||
		    read_text(&item, "reference", &map->island[k].reference) ||
		    read_names(&item, &map->island[k]))
			return -1;
	return 0;
}

static int read_pair(const struct place *place, struct clock_pair *pair)
{
	if (read_text(place, "a", &pair->a) || read_text(place, "b", &pair->b) ||
	    read_count(place, "messages_ab", &pair->messages_ab) ||
	    read_count(place, "messages_ba", &pair->messages_ba) ||
	    read_count(place, "rejected", &pair->rejected) ||
	    read_size(place, "hull_ab", &pair->hull_ab) ||
	    read_size(place, "hull_ba", &pair->hull_ba) ||
	    read_quality(place, &pair->quality) ||
	    read_count(place, "violations_before", &pair->violations_before) ||
	    read_count(place, "violations_after", &pair->violations_after) ||
	    read_nsec_or_null(place, "min_latency_ab_ns", NSEC_MAX,
			      &pair->min_latency_ab_ns) ||
	    read_nsec_or_null(place, "min_latency_ba_ns", NSEC_MAX,
			      &pair->min_latency_ba_ns))
		return -1;
	return 0;
}

static int read_pairs(const struct place *place, struct clock_map *map)
{
	struct place item;

	map->pair = make_list(place, "pairs", sizeof(*map->pair), &map->pairs);
	if (!map->pair)
		return -1;
	for (size_t k = 0; k < map->pairs; k++)
		if (enter(place, "pairs", k, &item) || read_pair(&item, &map->pair[k]))
			return -1;
	return 0;
}

static int read_matching(const struct place *place, struct clock_matching *matching)
{
	struct place item = {.object = json_object_get(place->object, "matching"),
			     .up = place,
			     .member = "matching",
			     .index = NO_INDEX,
			     .error = place->error};

	if (!json_is_object(item.object))
		return want(place, "matching", "an object");
	if (read_count(&item, "sent", &matching->sent) ||
	    read_count(&item, "received", &matching->received) ||
	    read_count(&item, "matched", &matching->matched) ||
	    read_count(&item, "ambiguous", &matching->ambiguous) ||
	    read_count(&item, "unmatched_sent", &matching->unmatched_sent) ||
	    read_count(&item, "unmatched_received", &matching->unmatched_received))
		return -1;
	/* Maps of older versions do not tell. */
	if (json_object_get(item.object, "inside"))
		return read_count(&item, "inside", &matching->inside);
	return 0;
}

static int read_version(const struct place *place)
{
	const char *format = json_text(place->object, "format");
	nsec_t version;

	if (!format || strcmp(format, "clustertrace-clocks") != 0)
		return want(place, "format", "\"clustertrace-clocks\"");
	if (json_nsec(place->object, "version", &version))
		return want(place, "version", "an integer");
	if (version != 1)
		return error_set(place->error,
				 "version: %" PRId64 " is not known, want 1", version);
	return 0;
}

int clock_map_read(struct clock_map *map, const char *path, struct error *error)
{
	json_t *root = json_read_object(path, error);
	struct place place = {.object = root, .error = error};
	int status;

	memset(map, 0, sizeof(*map));
	if (!root)
		return -1;
	output_protect(path);
	status = read_version(&place) ||
		 read_text(&place, "reference", &map->reference) ||
		 read_islands(&place, map) || read_clocks(&place, map) ||
		 read_pairs(&place, map) || read_matching(&place, &map->matching);
	json_decref(root);
	if (!status)
		return 0;
	clock_map_clear(map);
	return error_prefix(error, "%s", path);
}
