/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/map.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/output.h"
#include "base/utf8.h"

#define RATE_LIMIT 5e8 /* ppb; a clock at half or one and a half the speed */

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
	AUTOFREE char *clean = utf8_clean(text);

	return hash_text(hash, clean);
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

/*
 * The file format is one table, by which maps are written and read: the members of each
 * kind of object in their order.
 */
enum member_kind {
	MEMBER_TEXT,
	MEMBER_TEXTS, /* a list of them */
	MEMBER_QUALITY,
	MEMBER_RATE,
	MEMBER_COUNT,
	MEMBER_NSEC,
	MEMBER_LOW,   /* NSEC_MIN is null */
	MEMBER_HIGH,  /* NSEC_MAX is */
	MEMBER_LIST,  /* of objects, on one line */
	MEMBER_LINES, /* of objects that have a line each */
	MEMBER_OBJECT,
};

struct record;

struct member {
	const char *name;
	enum member_kind kind;
	const char *before; /* what stands before it in the file */
	size_t at;          /* its place in the struct */
	size_t count_at;    /* of a list: that of its length */
	const struct record *of;
	enum { ALWAYS, NOT_IN_OLD, NOT_READ } there; /* NOT_READ, and left out if empty */
};

/* An object of the file and where it stands. */
struct place {
	const json_t *object;
	const struct place *up; /* NULL for the file's own object */
	const char *member;     /* of `up`: the object itself, or the list it is in */
	size_t index;           /* in that list, or NO_INDEX */
	struct error *error;
};

struct record {
	size_t size;
	const struct member *member;
	size_t members;
	/* Whether the k-th of a list is as it must be; -1 with error. */
	int (*check)(const struct place *place, const void *list, size_t k);
};

#define NO_INDEX SIZE_MAX
#define NEXT     ", "
#define NEW_LINE ",\n     "

#define MEMBER(kind, type, name, before)                                                 \
	{                                                                                \
#name, MEMBER_##kind, before, offsetof(struct type, name), 0, NULL,      \
		    ALWAYS                                                               \
	}
#define LIST(kind, type, name, before, item, count, of, there)                           \
	{                                                                                \
		name, MEMBER_##kind, before, offsetof(struct type, item),                \
		    offsetof(struct type, count), of, there                              \
	}
#define RECORD(type, list, check)                                                        \
	{                                                                                \
		sizeof(struct type), list, sizeof(list) / sizeof(*(list)), check         \
	}

static int want(const struct place *place, const char *name, const char *what);

static int check_segment(const struct place *place, const void *list, size_t k)
{
	const struct clock_segment *segment = list;

	if (k && segment[k].local_ns <= segment[k - 1].local_ns)
		return want(place, "local_ns", "a later time than the segment before");
	return 0;
}

static int check_bound(const struct place *place, const void *list, size_t k)
{
	const struct clock_bound *bound = list;

	if (k && bound[k].local_ns < bound[k - 1].local_ns)
		return want(place, "local_ns", "no earlier time than the bound before");
	if (bound[k].low_ns > bound[k].high_ns)
		return want(place, "low_ns", "no more than high_ns");
	return 0;
}

static int check_clock(const struct place *place, const void *list, size_t k)
{
	const struct clock *clock = list;

	if (!clock[k].segments)
		return want(place, "segments", "at least one");
	for (size_t i = 0; i < k; i++)
		if (strcmp(clock[i].trace, clock[k].trace) == 0)
			return want(place, "trace", "a name that no clock before has");
	return 0;
}

static const struct member segment_members[] = {
    MEMBER(NSEC, clock_segment, local_ns, ""),
    MEMBER(NSEC, clock_segment, ref_ns, NEXT),
    MEMBER(RATE, clock_segment, rate_ppb, NEXT),
};
static const struct record segment_record =
    RECORD(clock_segment, segment_members, check_segment);

static const struct member bound_members[] = {
    MEMBER(NSEC, clock_bound, local_ns, ""),
    MEMBER(LOW, clock_bound, low_ns, NEXT),
    MEMBER(HIGH, clock_bound, high_ns, NEXT),
};
static const struct record bound_record = RECORD(clock_bound, bound_members, check_bound);

static const struct member clock_members[] = {
    MEMBER(TEXT, clock, trace, ""),
    MEMBER(TEXT, clock, path, NEXT),
    MEMBER(TEXT, clock, reference, NEXT),
    MEMBER(QUALITY, clock, quality, NEW_LINE),
    MEMBER(NSEC, clock, begin_ns, NEXT),
    MEMBER(NSEC, clock, end_ns, NEXT),
    LIST(LIST, clock, "segments", NEW_LINE, segment, segments, &segment_record, ALWAYS),
    LIST(LIST, clock, "bounds", NEW_LINE, bound, bounds, &bound_record, ALWAYS),
};
static const struct record clock_record = RECORD(clock, clock_members, check_clock);

static const struct member island_members[] = {
    MEMBER(TEXT, clock_island, reference, ""),
    LIST(TEXTS, clock_island, "traces", NEXT, trace, traces, NULL, ALWAYS),
};
static const struct record island_record = RECORD(clock_island, island_members, NULL);

static const struct member pair_members[] = {
    MEMBER(TEXT, clock_pair, a, ""),
    MEMBER(TEXT, clock_pair, b, NEXT),
    MEMBER(COUNT, clock_pair, messages_ab, NEXT),
    MEMBER(COUNT, clock_pair, messages_ba, NEXT),
    MEMBER(COUNT, clock_pair, rejected, NEXT),
    MEMBER(COUNT, clock_pair, hull_ab, NEW_LINE),
    MEMBER(COUNT, clock_pair, hull_ba, NEXT),
    MEMBER(QUALITY, clock_pair, quality, NEXT),
    MEMBER(COUNT, clock_pair, violations_before, NEW_LINE),
    MEMBER(COUNT, clock_pair, violations_after, NEXT),
    MEMBER(HIGH, clock_pair, min_latency_ab_ns, NEW_LINE),
    MEMBER(HIGH, clock_pair, min_latency_ba_ns, NEXT),
};
static const struct record pair_record = RECORD(clock_pair, pair_members, NULL);

static const struct member offset_members[] = {
    MEMBER(NSEC, clock_offset, local_ns, ""),
    MEMBER(NSEC, clock_offset, offset_ns, NEXT),
    MEMBER(NSEC, clock_offset, low_ns, NEXT),
    MEMBER(NSEC, clock_offset, high_ns, NEXT),
};
static const struct record offset_record = RECORD(clock_offset, offset_members, NULL);

static const struct member tie_members[] = {
    MEMBER(TEXT, clock_tie, a, ""),
    MEMBER(TEXT, clock_tie, b, NEXT),
    MEMBER(COUNT, clock_tie, packets, NEXT),
    MEMBER(COUNT, clock_tie, rejected, NEXT),
    LIST(LIST, clock_tie, "offsets", NEW_LINE, offset, offsets, &offset_record, ALWAYS),
};
static const struct record tie_record = RECORD(clock_tie, tie_members, NULL);

static const struct member matching_members[] = {
    MEMBER(COUNT, clock_matching, sent, ""),
    MEMBER(COUNT, clock_matching, received, NEXT),
    MEMBER(COUNT, clock_matching, matched, NEXT),
    MEMBER(COUNT, clock_matching, ambiguous, NEXT),
    MEMBER(COUNT, clock_matching, unmatched_sent, ",\n    "),
    MEMBER(COUNT, clock_matching, unmatched_received, NEXT),
    {"inside", MEMBER_COUNT, NEXT, offsetof(struct clock_matching, inside), 0, NULL,
     NOT_IN_OLD},
};
static const struct record matching_record =
    RECORD(clock_matching, matching_members, NULL);

#define TOP ",\n  "

static const struct member map_members[] = {
    MEMBER(TEXT, clock_map, reference, TOP),
    LIST(LINES, clock_map, "islands", TOP, island, islands, &island_record, ALWAYS),
    LIST(LINES, clock_map, "clocks", TOP, clock, clocks, &clock_record, ALWAYS),
    LIST(LINES, clock_map, "pairs", TOP, pair, pairs, &pair_record, ALWAYS),
    LIST(LINES, clock_map, "ties", TOP, tie, ties, &tie_record, NOT_READ),
    {"matching", MEMBER_OBJECT, TOP, offsetof(struct clock_map, matching), 0,
     &matching_record, ALWAYS},
};
static const struct record map_record = RECORD(clock_map, map_members, NULL);

static void write_text(FILE *file, const char *text)
{
	struct bytes quoted = {0};

	text = text ? text : "";
	json_add_text(&quoted, text, strlen(text));
	fwrite(quoted.data, 1, quoted.size, file);
	bytes_clear(&quoted);
}

static void write_nsec(FILE *file, nsec_t value, nsec_t null)
{
	if (value == null)
		fputs("null", file);
	else
		fprintf(file, "%" PRId64, value);
}

/* Six decimals, the same in every locale, and no minus before a zero. */
static void write_rate(FILE *file, double rate_ppb)
{
	nsec_t millionths = nsec_round(rate_ppb * 1e6);
	uint64_t size = millionths < 0 ? -(uint64_t)millionths : (uint64_t)millionths;

	fprintf(file, "%s%" PRIu64 ".%06" PRIu64, millionths < 0 ? "-" : "",
		size / 1000000, size % 1000000);
}

static void write_members(FILE *file, const struct record *record, const char *from);

static void write_list(FILE *file, const struct member *member, const char *list,
		       size_t count)
{
	bool lines = member->kind == MEMBER_LINES;

	putc('[', file);
	for (size_t k = 0; k < count; k++) {
		fputs((lines ? ",\n    " : NEXT) + (k ? 0 : lines ? 1 : 2), file);
		if (member->kind == MEMBER_TEXTS) {
			write_text(file, ((char *const *)(const void *)list)[k]);
			continue;
		}
		putc('{', file);
		write_members(file, member->of, list + k * member->of->size);
		putc('}', file);
	}
	fputs(lines && count ? "\n  ]" : "]", file);
}

static void write_value(FILE *file, const struct member *member, const void *at,
			size_t count)
{
	switch (member->kind) {
	case MEMBER_TEXT:
		write_text(file, *(char *const *)at);
		break;
	case MEMBER_QUALITY:
		write_text(file, clock_quality_name(*(const enum clock_quality *)at));
		break;
	case MEMBER_RATE:
		write_rate(file, *(const double *)at);
		break;
	case MEMBER_COUNT:
		fprintf(file, "%" PRIu64, *(const uint64_t *)at);
		break;
	case MEMBER_NSEC:
		fprintf(file, "%" PRId64, *(const nsec_t *)at);
		break;
	case MEMBER_LOW:
		write_nsec(file, *(const nsec_t *)at, NSEC_MIN);
		break;
	case MEMBER_HIGH:
		write_nsec(file, *(const nsec_t *)at, NSEC_MAX);
		break;
	case MEMBER_OBJECT:
		putc('{', file);
		write_members(file, member->of, at);
		putc('}', file);
		break;
	case MEMBER_TEXTS:
	case MEMBER_LIST:
	case MEMBER_LINES:
		write_list(file, member, *(char *const *)at, count);
		break;
	}
}

static void write_members(FILE *file, const struct record *record, const char *from)
{
	for (size_t i = 0; i < record->members; i++) {
		const struct member *member = &record->member[i];
		size_t count = *(const size_t *)(const void *)(from + member->count_at);

		if (member->there == NOT_READ && !count)
			continue;
		fprintf(file, "%s\"%s\": ", member->before, member->name);
		write_value(file, member, from + member->at, count);
	}
}

void clock_map_write(const struct clock_map *map, FILE *file)
{
	fputs("{\n  \"format\": \"clustertrace-clocks\",\n  \"version\": 1", file);
	write_members(file, &map_record, (const char *)map);
	fputs("\n}\n", file);
}

/* Say what a member should be: "clocks[1].segments[0].rate_ppb: want ...". Returns -1. */
static int want(const struct place *place, const char *name, const char *what)
{
	error_set(place->error, "%s: want %s", name, what);
	for (const struct place *at = place; at->up; at = at->up) {
		AUTOFREE char *rest = mem_strdup(error_text(place->error));

		if (at->index == NO_INDEX)
			error_set(place->error, "%s.%s", at->member, rest);
		else
			error_set(place->error, "%s[%zu].%s", at->member, at->index,
				  rest);
	}
	return -1;
}

static int read_text(const struct place *place, const char *name, const json_t *value,
		     char **text)
{
	if (!json_is_string(value))
		return want(place, name, "a string");
	*text = mem_strdup(json_string_value(value));
	return 0;
}

static int read_rate(const struct place *place, const char *name, const json_t *value,
		     double *rate_ppb)
{
	if (!json_is_number(value))
		return want(place, name, "a number");
	*rate_ppb = json_number_value(value);
	if (!(fabs(*rate_ppb) < RATE_LIMIT))
		return want(place, name, "a number between -5e8 and 5e8");
	return 0;
}

static int read_quality(const struct place *place, const json_t *value,
			enum clock_quality *quality)
{
	const char *name = json_string_value(value);
	int found = name ? clock_quality_parse(name) : -1;

	if (found < 0)
		return want(place, "quality",
			    "exact, accurate, approximate, incomplete, contradictory or "
			    "absent");
	*quality = (enum clock_quality)found;
	return 0;
}

static int read_nsec(const struct place *place, const char *name, nsec_t null,
		     nsec_t *value)
{
	if (json_is_null(json_object_get(place->object, name))) {
		*value = null;
		return 0;
	}
	if (json_nsec(place->object, name, value))
		return want(place, name, "an integer or null");
	return 0;
}

static int want_object(const struct place *place, const char *list, size_t k)
{
	AUTOFREE char *name = mem_printf("%s[%zu]", list, k);

	return want(place, name, "an object");
}

static int read_members(const struct place *place, const struct record *record, char *to);

/* Counted as they are read, so that what was read can be cleared. */
static int read_list(const struct place *place, const struct member *member, void *at,
		     size_t *count)
{
	const json_t *list = json_object_get(place->object, member->name);
	size_t size = member->of ? member->of->size : sizeof(char *);
	struct place item = {.up = place, .member = member->name, .error = place->error};
	char *to;

	if (!json_is_array(list))
		return want(place, member->name, "an array");
	*(void **)at = to = mem_zalloc(json_array_size(list) * size);
	for (size_t k = 0; k < json_array_size(list); k++) {
		item.object = json_array_get(list, k);
		item.index = k;
		*count = k + 1;
		if (member->kind == MEMBER_TEXTS) {
			if (!json_is_string(item.object))
				return want(place, member->name, "strings");
			((char **)(void *)to)[k] =
			    mem_strdup(json_string_value(item.object));
			continue;
		}
		if (!json_is_object(item.object))
			return want_object(place, member->name, k);
		if (read_members(&item, member->of, to + k * size) ||
		    (member->of->check && member->of->check(&item, to, k)))
			return -1;
	}
	return 0;
}

static int read_value(const struct place *place, const struct member *member, void *at,
		      size_t *count)
{
	const json_t *value = json_object_get(place->object, member->name);
	nsec_t integer = 0;

	switch (member->kind) {
	case MEMBER_TEXT:
		return read_text(place, member->name, value, at);
	case MEMBER_QUALITY:
		return read_quality(place, value, at);
	case MEMBER_RATE:
		return read_rate(place, member->name, value, at);
	case MEMBER_COUNT:
		if (json_nsec(place->object, member->name, &integer) || integer < 0)
			return want(place, member->name, "an integer of at least 0");
		*(uint64_t *)at = (uint64_t)integer;
		return 0;
	case MEMBER_NSEC:
		if (json_nsec(place->object, member->name, at))
			return want(place, member->name, "an integer");
		return 0;
	case MEMBER_LOW:
		return read_nsec(place, member->name, NSEC_MIN, at);
	case MEMBER_HIGH:
		return read_nsec(place, member->name, NSEC_MAX, at);
	case MEMBER_OBJECT:
		if (!json_is_object(value))
			return want(place, member->name, "an object");
		return read_members(
		    &(struct place){value, place, member->name, NO_INDEX, place->error},
		    member->of, at);
	case MEMBER_TEXTS:
	case MEMBER_LIST:
	case MEMBER_LINES:
		return read_list(place, member, at, count);
	}
	return -1;
}

static int read_members(const struct place *place, const struct record *record, char *to)
{
	for (size_t i = 0; i < record->members; i++) {
		const struct member *member = &record->member[i];

		if (member->there == NOT_READ ||
		    (member->there == NOT_IN_OLD &&
		     !json_object_get(place->object, member->name)))
			continue;
		if (read_value(place, member, to + member->at,
			       (size_t *)(void *)(to + member->count_at)))
			return -1;
	}
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
	status = read_version(&place) || read_members(&place, &map_record, (char *)map);
	json_decref(root);
	if (!status)
		return 0;
	clock_map_clear(map);
	return error_prefix(error, "%s", path);
}
