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

#define RATE_LIMIT 5e8 /* ppb; at half or one and a half times the speed */

bool clock_is_utc(const struct clock *clock)
{
	return !*clock->path && strcmp(clock->trace, CLOCK_UTC) == 0;
}

const struct clock *clock_map_find(const struct clock_map *map, const char *trace)
{
	for (size_t i = 0; i < map->clocks; i++)
		if (strcmp(map->clock[i].trace, trace) == 0)
			return &map->clock[i];
	return NULL;
}

/* Hash a string as it will be after writing and reading. */
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

/* The file format is a table for writing, reading and freeing: the members of each kind
 * of object, in order. */
enum member_kind {
	MEMBER_TEXT,
	MEMBER_WORD,  /* a borrowed string; never read */
	MEMBER_TEXTS, /* a list of strings */
	MEMBER_QUALITY,
	MEMBER_RATE,
	MEMBER_COUNT,
	MEMBER_NSEC,
	MEMBER_LOW,   /* null for NSEC_MIN */
	MEMBER_HIGH,  /* null for NSEC_MAX */
	MEMBER_LIST,  /* objects on one line */
	MEMBER_LINES, /* objects on a line each */
	MEMBER_OBJECT,
};

struct record;

struct member {
	const char *name;
	enum member_kind kind;
	const char *before; /* separator in front of the member in the file */
	size_t at;          /* offset in the struct */
	size_t count_at;    /* offset of a list's length */
	const struct record *of;
	/* NOT_READ and NOT_IF_EMPTY are for lists, which are omitted if empty,
	 * NOT_IF_ZERO for times. */
	enum { ALWAYS, NOT_IN_OLD, NOT_READ, NOT_IF_EMPTY, NOT_IF_ZERO } there;
};

struct record {
	size_t size;
	const struct member *member;
	size_t members;
	/* Check the k-th item of a list, after those before it. Return 0, or -1 with
	 * error. */
	int (*check)(const void *list, size_t k, struct error *error);
};

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

/* Set an error such as "rate_ppb: expected ...". prefix_error() adds the enclosing
 * objects on the way up. Return -1. */
static int expected_error(struct error *error, const char *name, const char *expected)
{
	return error_set(error, "%s: expected %s", name, expected);
}

static int check_stamp(const char *name, nsec_t instant, struct error *error)
{
	return nsec_is_stamp(instant)
		   ? 0
		   : expected_error(error, name, "a time between 1967 and 2111");
}

static int check_segment(const void *list, size_t k, struct error *error)
{
	const struct clock_segment *segment = list;

	if (check_stamp("local_ns", segment[k].local_ns, error) ||
	    check_stamp("ref_ns", segment[k].ref_ns, error))
		return -1;
	if (k && segment[k].local_ns <= segment[k - 1].local_ns)
		return expected_error(error, "local_ns",
				      "a time after the preceding segment's");
	return 0;
}

static int check_bound(const void *list, size_t k, struct error *error)
{
	const struct clock_bound *bound = list;

	if (check_stamp("local_ns", bound[k].local_ns, error))
		return -1;
	if (k && bound[k].local_ns < bound[k - 1].local_ns)
		return expected_error(error, "local_ns",
				      "a time not before the preceding bound's");
	if (bound[k].low_ns > bound[k].high_ns)
		return expected_error(error, "low_ns", "at most high_ns");
	return 0;
}

static int check_clock(const void *list, size_t k, struct error *error)
{
	const struct clock *clock = list;

	if (!clock[k].segments)
		return expected_error(error, "segments", "at least one");
	for (size_t i = 0; i < k; i++)
		if (strcmp(clock[i].trace, clock[k].trace) == 0)
			return error_set(error, "trace: duplicate name '%s'",
					 clock[k].trace);
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

static const struct member step_members[] = {
    MEMBER(NSEC, clock_step, local_ns, ""),
    MEMBER(NSEC, clock_step, size_ns, NEXT),
};
static const struct record step_record = RECORD(clock_step, step_members, NULL);

static const struct member slew_members[] = {
    MEMBER(NSEC, clock_slew, begin_ns, ""),
    MEMBER(NSEC, clock_slew, end_ns, NEXT),
    MEMBER(NSEC, clock_slew, size_ns, NEXT),
    MEMBER(RATE, clock_slew, fast_ppb, NEXT),
};
static const struct record slew_record = RECORD(clock_slew, slew_members, NULL);

static const struct member clock_members[] = {
    MEMBER(TEXT, clock, trace, ""),
    MEMBER(TEXT, clock, path, NEXT),
    MEMBER(TEXT, clock, reference, NEXT),
    MEMBER(QUALITY, clock, quality, NEW_LINE),
    MEMBER(NSEC, clock, begin_ns, NEXT),
    MEMBER(NSEC, clock, end_ns, NEXT),
    LIST(LIST, clock, "segments", NEW_LINE, segment, segments, &segment_record, ALWAYS),
    LIST(LIST, clock, "bounds", NEW_LINE, bound, bounds, &bound_record, ALWAYS),
    LIST(LIST, clock, "steps", NEW_LINE, step, steps, &step_record, NOT_IF_EMPTY),
    LIST(LIST, clock, "slews", NEW_LINE, slew, slews, &slew_record, NOT_IF_EMPTY),
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
    MEMBER(COUNT, clock_tie, samples, NEXT),
    LIST(LIST, clock_tie, "offsets", NEW_LINE, offset, offsets, &offset_record, ALWAYS),
};
static const struct record tie_record = RECORD(clock_tie, tie_members, NULL);

static const struct member second_members[] = {
    MEMBER(TEXT, clock_second, trace, ""),
    MEMBER(TEXT, clock_second, scale, NEXT),
    MEMBER(NSEC, clock_second, local_ns, NEXT),
    MEMBER(NSEC, clock_second, ahead_ns, NEXT),
    MEMBER(HIGH, clock_second, high_ns, NEXT),
    MEMBER(RATE, clock_second, fast_ppb, NEXT),
};
static const struct record second_record = RECORD(clock_second, second_members, NULL);

static const struct member claim_members[] = {
    MEMBER(TEXT, clock_claim_test, node, ""),
    MEMBER(TEXT, clock_claim_test, source, NEXT),
    MEMBER(COUNT, clock_claim_test, claims, NEXT),
    MEMBER(COUNT, clock_claim_test, unbounded, NEXT),
    MEMBER(COUNT, clock_claim_test, unsynchronized, NEXT),
    MEMBER(COUNT, clock_claim_test, tested, NEXT),
    MEMBER(COUNT, clock_claim_test, contradicted, NEXT),
    MEMBER(COUNT, clock_claim_test, disputed, NEXT),
    MEMBER(HIGH, clock_claim_test, bound_ns, NEW_LINE),
    MEMBER(TEXT, clock_claim_test, other, NEXT),
    MEMBER(HIGH, clock_claim_test, at_ns, NEXT),
    MEMBER(HIGH, clock_claim_test, apart_ns, NEXT),
    MEMBER(HIGH, clock_claim_test, allowed_ns, NEXT),
};
static const struct record claim_record = RECORD(clock_claim_test, claim_members, NULL);

static const struct member steering_members[] = {
    MEMBER(TEXT, clock_explanation, trace, ""),
    MEMBER(WORD, clock_explanation, what, NEXT),
    MEMBER(NSEC, clock_explanation, local_ns, NEXT),
    MEMBER(TEXT, clock_explanation, by, NEXT),
    MEMBER(HIGH, clock_explanation, frequency_ppb, NEXT),
    MEMBER(HIGH, clock_explanation, offset_ns, NEXT),
};
static const struct record steering_record =
    RECORD(clock_explanation, steering_members, NULL);

static const struct member limit_members[] = {
    MEMBER(TEXT, clock_limit, trace, ""),
    MEMBER(HIGH, clock_limit, at_ns, NEXT),
    MEMBER(TEXT, clock_limit, sent_to, NEW_LINE),
    MEMBER(HIGH, clock_limit, sent_latency_ns, NEXT),
    MEMBER(HIGH, clock_limit, sent_away_ns, NEXT),
    MEMBER(TEXT, clock_limit, received_from, NEW_LINE),
    MEMBER(HIGH, clock_limit, received_latency_ns, NEXT),
    MEMBER(HIGH, clock_limit, received_away_ns, NEXT),
    MEMBER(HIGH, clock_limit, drift_ns, NEW_LINE),
    MEMBER(HIGH, clock_limit, others_ns, NEXT),
    MEMBER(WORD, clock_limit, help, NEXT),
};
static const struct record limit_record = RECORD(clock_limit, limit_members, NULL);

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
    {"utc_bound_ns", MEMBER_HIGH, TOP, offsetof(struct clock_map, utc_bound_ns), 0, NULL,
     NOT_IF_ZERO},
    {"utc_median_bound_ns", MEMBER_HIGH, TOP,
     offsetof(struct clock_map, utc_median_bound_ns), 0, NULL, NOT_IF_ZERO},
    LIST(LINES, clock_map, "islands", TOP, island, islands, &island_record, ALWAYS),
    LIST(LINES, clock_map, "clocks", TOP, clock, clocks, &clock_record, ALWAYS),
    LIST(LINES, clock_map, "pairs", TOP, pair, pairs, &pair_record, ALWAYS),
    LIST(LINES, clock_map, "ties", TOP, tie, ties, &tie_record, NOT_READ),
    LIST(LINES, clock_map, "second_clocks", TOP, second, seconds, &second_record,
	 NOT_READ),
    LIST(LINES, clock_map, "claims", TOP, claim, claims, &claim_record, NOT_IF_EMPTY),
    LIST(LINES, clock_map, "steering", TOP, steering, steerings, &steering_record,
	 NOT_READ),
    LIST(LINES, clock_map, "limits", TOP, limit, limits, &limit_record, NOT_READ),
    {"matching", MEMBER_OBJECT, TOP, offsetof(struct clock_map, matching), 0,
     &matching_record, ALWAYS},
};
static const struct record map_record = RECORD(clock_map, map_members, NULL);

static bool is_list(const struct member *member)
{
	return member->kind == MEMBER_TEXTS || member->kind == MEMBER_LIST ||
	       member->kind == MEMBER_LINES;
}

static void clear_members(const struct record *record, char *from)
{
	for (const struct member *member = record->member;
	     member < record->member + record->members; member++) {
		char **at = (char **)(void *)(from + member->at);
		size_t count =
		    is_list(member) ? *(size_t *)(void *)(from + member->count_at) : 0;

		for (size_t k = 0; k < count; k++)
			if (member->of)
				clear_members(member->of, *at + k * member->of->size);
			else
				free(((char **)(void *)*at)[k]);
		if (member->kind == MEMBER_TEXT || is_list(member))
			free(*at);
	}
}

void clock_map_clear(struct clock_map *map)
{
	clear_members(&map_record, (char *)map);
	memset(map, 0, sizeof(*map));
}

static void write_text(FILE *file, const char *text)
{
	struct bytes quoted = {0};

	text = text ? text : "";
	json_add_text(&quoted, text, strlen(text));
	fwrite(quoted.data, 1, quoted.size, file);
	bytes_clear(&quoted);
}

/* Return the time that is written as null. */
static nsec_t null_value(enum member_kind kind)
{
	return kind == MEMBER_LOW ? NSEC_MIN : NSEC_MAX;
}

/* Write a rate with six decimals, in any locale, and without "-0". */
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
	case MEMBER_WORD:
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
	case MEMBER_LOW:
	case MEMBER_HIGH:
		if (member->kind != MEMBER_NSEC &&
		    *(const nsec_t *)at == null_value(member->kind))
			fputs("null", file);
		else
			fprintf(file, "%" PRId64, *(const nsec_t *)at);
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

		if ((member->there == NOT_READ || member->there == NOT_IF_EMPTY) &&
		    !count)
			continue;
		if (member->there == NOT_IF_ZERO &&
		    !*(const nsec_t *)(const void *)(from + member->at))
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

/* Put an enclosing object such as "segments[0]" in front of an error. Return -1. */
static int prefix_error(struct error *error, const char *object)
{
	AUTOFREE char *rest = mem_strdup(error_text(error));

	return error_set(error, "%s.%s", object, rest);
}

/* Read a single value. Return false if it is not of the expected kind. */
static bool read_scalar(const json_t *value, enum member_kind kind, void *to)
{
	const char *text = json_string_value(value);
	nsec_t integer = json_integer_value(value);
	int quality;

	switch (kind) {
	case MEMBER_TEXT:
		if (text)
			*(char **)to = mem_strdup(text);
		return text;
	case MEMBER_QUALITY:
		quality = text ? clock_quality_parse(text) : -1;
		if (quality >= 0)
			*(enum clock_quality *)to = (enum clock_quality)quality;
		return quality >= 0;
	case MEMBER_RATE:
		*(double *)to = json_number_value(value);
		return json_is_number(value) && fabs(*(double *)to) < RATE_LIMIT;
	case MEMBER_COUNT:
		*(uint64_t *)to = (uint64_t)integer;
		return json_is_integer(value) && integer >= 0;
	case MEMBER_NSEC:
		*(nsec_t *)to = integer;
		return json_is_integer(value);
	case MEMBER_LOW:
	case MEMBER_HIGH:
		if (json_is_null(value))
			integer = null_value(kind);
		*(nsec_t *)to = integer;
		return json_is_integer(value) || json_is_null(value);
	default:
		return false;
	}
}

static int read_members(const json_t *object, const struct record *record, char *to,
			struct error *error);

/* Read the k-th object of a list, after those before it. Return 0, or -1 with error. */
static int read_item(const json_t *object, const struct member *member, char *list,
		     size_t k, struct error *error)
{
	const struct record *of = member->of;
	AUTOFREE char *place = NULL;

	if (json_is_object(object) &&
	    !read_members(object, of, list + k * of->size, error) &&
	    !(of->check && of->check(list, k, error)))
		return 0;
	place = mem_printf("%s[%zu]", member->name, k);
	return json_is_object(object) ? prefix_error(error, place)
				      : expected_error(error, place, "an object");
}

/* Read a list. `count` is always the number of items to clear. */
static int read_list(const json_t *value, const struct member *member, void *at,
		     size_t *count, struct error *error)
{
	size_t size = member->of ? member->of->size : sizeof(char *);
	char *list;

	if (!json_is_array(value))
		return expected_error(error, member->name, "an array");
	*(void **)at = list = mem_zalloc(json_array_size(value) * size);
	while (*count < json_array_size(value)) {
		size_t k = (*count)++;
		const json_t *item = json_array_get(value, k);

		if (member->of && read_item(item, member, list, k, error))
			return -1;
		if (!member->of && !read_scalar(item, MEMBER_TEXT, list + k * size))
			return expected_error(error, member->name, "strings");
	}
	return 0;
}

static int read_value(const json_t *value, const struct member *member, char *to,
		      struct error *error)
{
	static const char *const expected[] = {
	    [MEMBER_TEXT] = "a string",
	    [MEMBER_QUALITY] = "exact, accurate, approximate, incomplete, contradictory "
			       "or absent",
	    [MEMBER_RATE] = "a number between -5e8 and 5e8",
	    [MEMBER_COUNT] = "an integer of at least 0",
	    [MEMBER_NSEC] = "an integer",
	    [MEMBER_LOW] = "an integer or null",
	    [MEMBER_HIGH] = "an integer or null",
	    [MEMBER_OBJECT] = "an object",
	};
	void *at = to + member->at;

	if (is_list(member))
		return read_list(value, member, at,
				 (size_t *)(void *)(to + member->count_at), error);
	if (member->kind == MEMBER_OBJECT && json_is_object(value))
		return read_members(value, member->of, at, error)
			   ? prefix_error(error, member->name)
			   : 0;
	return read_scalar(value, member->kind, at)
		   ? 0
		   : expected_error(error, member->name, expected[member->kind]);
}

static int read_members(const json_t *object, const struct record *record, char *to,
			struct error *error)
{
	for (size_t i = 0; i < record->members; i++) {
		const struct member *member = &record->member[i];
		const json_t *value = json_object_get(object, member->name);

		if (member->there == NOT_READ || (member->there != ALWAYS && !value))
			continue;
		if (read_value(value, member, to, error))
			return -1;
	}
	return 0;
}

static int read_version(const json_t *object, struct error *error)
{
	const char *format = json_text(object, "format");
	nsec_t version;

	if (!format || strcmp(format, "clustertrace-clocks") != 0)
		return expected_error(error, "format", "\"clustertrace-clocks\"");
	if (json_nsec(object, "version", &version))
		return expected_error(error, "version", "an integer");
	if (version != 1)
		return error_set(error, "unknown version %" PRId64 " (expected 1)",
				 version);
	return 0;
}

/* Check that the clocks of islands and pairs are in the map. Return 0, or -1 with error.
 */
static int check_names(const struct clock_map *map, struct error *error)
{
	for (size_t i = 0; i < map->islands; i++)
		for (size_t k = 0; k < map->island[i].traces; k++)
			if (!clock_map_find(map, map->island[i].trace[k]))
				return error_set(
				    error, "islands[%zu].traces: unknown clock '%s'", i,
				    map->island[i].trace[k]);
	for (size_t i = 0; i < map->pairs; i++) {
		const struct clock_pair *pair = &map->pair[i];
		bool has_a = clock_map_find(map, pair->a);

		if (!has_a || !clock_map_find(map, pair->b))
			return error_set(error, "pairs[%zu].%s: unknown clock '%s'", i,
					 has_a ? "b" : "a", has_a ? pair->b : pair->a);
	}
	return 0;
}

int clock_map_read(struct clock_map *map, const char *path, struct error *error)
{
	json_t *root = json_read_object(path, error);
	int status;

	memset(map, 0, sizeof(*map));
	if (!root)
		return -1;
	output_protect(path);
	status = read_version(root, error) ||
		 read_members(root, &map_record, (char *)map, error) ||
		 check_names(map, error);
	json_decref(root);
	if (!status)
		return 0;
	clock_map_clear(map);
	return error_prefix(error, "%s", path);
}
