/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../draw.h"
#include "../scratch.h"
#include "base/json.h"
#include "base/mem.h"

enum { ROUNDS = 200, MOST = 4 };

static nsec_t draw_nsec(void)
{
	return (nsec_t)(draw() >> draw() % 64) * (draw() % 2 ? 1 : -1);
}

static char *draw_name(size_t k)
{
	static const char *const tail[] = {"", "\"", "\\\n", "\xc3\xa9", "/a b:c.pcap"};

	return mem_printf("n%zu%s", k, tail[draw() % 5]);
}

static enum clock_quality draw_quality(void)
{
	return (enum clock_quality)(draw() % 6);
}

static void draw_clock(struct clock *clock, size_t k)
{
	nsec_t at = (nsec_t)(draw() >> 3);

	clock->trace = draw_name(k);
	clock->path = draw_name(k);
	clock->reference = draw_name(0);
	clock->quality = draw_quality();
	clock->begin_ns = draw_nsec();
	clock->end_ns = draw_nsec();
	clock->segments = 1 + draw() % MOST;
	clock->segment = mem_zalloc(clock->segments * sizeof(*clock->segment));
	for (size_t i = 0; i < clock->segments; i++) {
		at += (nsec_t)(1 + draw() % (UINT64_C(1) << 40));
		clock->segment[i] = (struct clock_segment){
		    at, (nsec_t)(draw() >> 3),
		    (double)(int64_t)(draw() % 1000000000) / 1e3 - 5e5};
	}
	clock->bounds = draw() % MOST;
	clock->bound = mem_zalloc(clock->bounds * sizeof(*clock->bound));
	for (size_t i = 0; i < clock->bounds; i++) {
		at += (nsec_t)(draw() % 2 * (draw() % (UINT64_C(1) << 40)));
		clock->bound[i] = (struct clock_bound){
		    at, draw() % 3 ? -(nsec_t)(draw() >> 30) : NSEC_MIN,
		    draw() % 3 ? (nsec_t)(draw() >> 30) : NSEC_MAX};
	}
	clock->steps = draw() % MOST;
	clock->step = mem_zalloc(clock->steps * sizeof(*clock->step));
	for (size_t i = 0; i < clock->steps; i++)
		clock->step[i] = (struct clock_step){draw_nsec(), draw_nsec()};
	clock->slews = draw() % MOST;
	clock->slew = mem_zalloc(clock->slews * sizeof(*clock->slew));
	for (size_t i = 0; i < clock->slews; i++)
		clock->slew[i] = (struct clock_slew){
		    draw_nsec(), draw_nsec(), draw_nsec(),
		    (double)(int64_t)(draw() % 1000000000) / 1e3 - 5e5};
}

/* The name of one of the map's clocks. */
static char *draw_trace(const struct clock_map *map)
{
	return mem_strdup(map->clock[draw() % map->clocks].trace);
}

static void draw_map(struct clock_map *map)
{
	memset(map, 0, sizeof(*map));
	map->reference = draw_name(0);
	map->clocks = draw() % MOST;
	map->clock = mem_zalloc(map->clocks * sizeof(*map->clock));
	for (size_t i = 0; i < map->clocks; i++)
		draw_clock(&map->clock[i], i);
	map->islands = map->clocks ? draw() % MOST : 0;
	map->island = mem_zalloc(map->islands * sizeof(*map->island));
	for (size_t i = 0; i < map->islands; i++) {
		map->island[i].reference = draw_name(i);
		map->island[i].traces = draw() % MOST;
		map->island[i].trace = mem_zalloc(MOST * sizeof(char *));
		for (size_t k = 0; k < map->island[i].traces; k++)
			map->island[i].trace[k] = draw_trace(map);
	}
	map->pairs = map->clocks ? draw() % MOST : 0;
	map->pair = mem_zalloc(map->pairs * sizeof(*map->pair));
	for (size_t i = 0; i < map->pairs; i++)
		map->pair[i] = (struct clock_pair){draw_trace(map),
						   draw_trace(map),
						   draw() >> 1,
						   draw() >> 20,
						   draw() >> 50,
						   (size_t)(draw() >> 40),
						   (size_t)(draw() >> 50),
						   draw_quality(),
						   draw() >> 3,
						   draw() >> 60,
						   draw() % 3 ? draw_nsec() : NSEC_MAX,
						   draw() % 3 ? draw_nsec() : NSEC_MAX};
	map->matching =
	    (struct clock_matching){draw() >> 1, draw() >> 2, draw() >> 9, draw() >> 60,
				    draw() >> 8, draw() >> 1, draw() >> 2};
}

static void write_file(const char *text)
{
	FILE *file = fopen("clocks.json", "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static char *written(const struct clock_map *map)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	clock_map_write(map, file);
	assert_int_equal(fclose(file), 0);
	return text;
}

/* Compare more than the file's bytes: nulls are read as the limits. */
static void assert_same_clock(const struct clock *a, const struct clock *b)
{
	assert_string_equal(a->trace, b->trace);
	assert_int_equal(a->quality, b->quality);
	assert_int_equal(a->segments, b->segments);
	for (size_t k = 0; k < a->segments; k++) {
		assert_int_equal(a->segment[k].local_ns, b->segment[k].local_ns);
		assert_int_equal(a->segment[k].ref_ns, b->segment[k].ref_ns);
		assert_true(fabs(a->segment[k].rate_ppb - b->segment[k].rate_ppb) < 6e-7);
	}
	assert_int_equal(a->bounds, b->bounds);
	for (size_t k = 0; k < a->bounds; k++) {
		assert_int_equal(a->bound[k].low_ns, b->bound[k].low_ns);
		assert_int_equal(a->bound[k].high_ns, b->bound[k].high_ns);
	}
}

TEST(test_round_trip)
{
	for (int round = 0; round < ROUNDS; round++) {
		struct error error = ERROR_INIT;
		struct clock_map map, back;
		char *text, *again;

		draw_map(&map);
		text = written(&map);
		write_file(text);
		if (clock_map_read(&back, "clocks.json", &error))
			fail_msg("%s", error_text(&error));
		again = written(&back);
		assert_string_equal(text, again);
		for (size_t i = 0; i < map.clocks; i++)
			assert_same_clock(&map.clock[i], &back.clock[i]);
		for (size_t i = 0; i < map.pairs; i++)
			assert_int_equal(map.pair[i].min_latency_ab_ns,
					 back.pair[i].min_latency_ab_ns);
		free(text);
		free(again);
		clock_map_clear(&map);
		clock_map_clear(&back);
	}
}

static const char sample[] =
    "{\"format\": \"clustertrace-clocks\", \"version\": 1, \"reference\": \"n0\","
    " \"islands\": [{\"reference\": \"n0\", \"traces\": [\"n0\", \"n1\"]}],"
    " \"clocks\": [{\"trace\": \"n0\", \"path\": \"\", \"reference\": \"n0\","
    "  \"quality\": \"exact\", \"begin_ns\": 0, \"end_ns\": 9,"
    "  \"segments\": [{\"local_ns\": 0, \"ref_ns\": 0, \"rate_ppb\": 0}],"
    "  \"bounds\": []},"
    " {\"trace\": \"n1\", \"path\": \"run/n1\", \"reference\": \"n0\","
    "  \"quality\": \"accurate\", \"begin_ns\": 1, \"end_ns\": 8,"
    "  \"segments\": [{\"local_ns\": 11, \"ref_ns\": 12, \"rate_ppb\": -58.6},"
    "                 {\"local_ns\": 21, \"ref_ns\": 22, \"rate_ppb\": 1e2}],"
    "  \"bounds\": [{\"local_ns\": 31, \"low_ns\": -3, \"high_ns\": 3},"
    "               {\"local_ns\": 41, \"low_ns\": null, \"high_ns\": null}]}],"
    " \"pairs\": [{\"a\": \"n0\", \"b\": \"n1\", \"messages_ab\": 51,"
    "  \"messages_ba\": 52, \"rejected\": 53, \"hull_ab\": 54, \"hull_ba\": 55,"
    "  \"quality\": \"accurate\", \"violations_before\": 56,"
    "  \"violations_after\": 57, \"min_latency_ab_ns\": 58,"
    "  \"min_latency_ba_ns\": null}],"
    " \"matching\": {\"sent\": 61, \"received\": 62, \"matched\": 63,"
    "  \"ambiguous\": 64, \"unmatched_sent\": 65, \"unmatched_received\": 66}}";

TEST(test_sample)
{
	struct error error = ERROR_INIT;
	struct clock_map map;
	const struct clock *clock;

	write_file(sample);
	assert_int_equal(clock_map_read(&map, "clocks.json", &error), 0);
	assert_string_equal(map.reference, "n0");
	assert_int_equal(map.islands, 1);
	assert_string_equal(map.island[0].trace[1], "n1");
	clock = clock_map_find(&map, "n1");
	assert_ptr_equal(clock, &map.clock[1]);
	assert_null(clock_map_find(&map, "n2"));
	assert_string_equal(clock->path, "run/n1");
	assert_int_equal(clock->quality, CLOCK_ACCURATE);
	assert_int_equal(clock->end_ns, 8);
	assert_int_equal(clock->segments, 2);
	assert_true(clock->segment[0].rate_ppb == -58.6);
	assert_int_equal(clock->bound[0].low_ns, -3);
	assert_int_equal(clock->bound[1].low_ns, NSEC_MIN);
	assert_int_equal(clock->bound[1].high_ns, NSEC_MAX);
	assert_int_equal(map.pair[0].hull_ba, 55);
	assert_int_equal(map.pair[0].min_latency_ab_ns, 58);
	assert_int_equal(map.pair[0].min_latency_ba_ns, NSEC_MAX);
	assert_int_equal(map.matching.unmatched_received, 66);
	clock_map_clear(&map);
}

/* The sample with its first `from` replaced must be refused with this message. */
static void assert_refused(const char *from, const char *to, const char *message)
{
	const char *at = strstr(sample, from);
	struct error error = ERROR_INIT;
	struct clock_map map;
	char *text;

	assert_non_null(at);
	text = mem_printf("%.*s%s%s", (int)(at - sample), sample, to, at + strlen(from));
	write_file(text);
	free(text);
	assert_int_equal(clock_map_read(&map, "clocks.json", &error), -1);
	assert_string_equal(error_text(&error), message);
	assert_null(map.clock);
	error_clear(&error);
}

TEST(test_wrong_head)
{
	assert_refused("-clocks", "",
		       "clocks.json: format: expected \"clustertrace-clocks\"");
	assert_refused("\"format\"", "\"f\"",
		       "clocks.json: format: expected \"clustertrace-clocks\"");
	assert_refused("\"version\": 1", "\"version\": 2",
		       "clocks.json: unknown version 2 (expected 1)");
	assert_refused("\"version\": 1", "\"version\": 1.0",
		       "clocks.json: version: expected an integer");
	assert_refused("\"reference\": \"n0\"", "\"reference\": null",
		       "clocks.json: reference: expected a string");
	assert_refused("\"islands\"", "\"i\"", "clocks.json: islands: expected an array");
	assert_refused("[{\"reference\"", "[7, {\"reference\"",
		       "clocks.json: islands[0]: expected an object");
	assert_refused("[{\"reference\"", "[{\"r\"",
		       "clocks.json: islands[0].reference: expected a string");
	assert_refused("\"traces\": [\"n0\", \"n1\"]", "\"traces\": \"n0\"",
		       "clocks.json: islands[0].traces: expected an array");
	assert_refused("[\"n0\", \"n1\"]", "[\"n0\", 1]",
		       "clocks.json: islands[0].traces: expected strings");
}

TEST(test_wrong_clock)
{
	assert_refused("\"clocks\"", "\"c\"", "clocks.json: clocks: expected an array");
	assert_refused("[{\"trace\"", "[[], {\"trace\"",
		       "clocks.json: clocks[0]: expected an object");
	assert_refused("{\"trace\": \"n1\"", "{\"trace\": 1",
		       "clocks.json: clocks[1].trace: expected a string");
	assert_refused("{\"trace\": \"n1\"", "{\"trace\": \"n0\"",
		       "clocks.json: clocks[1].trace: duplicate name 'n0'");
	assert_refused("\"path\": \"run/n1\", ", "",
		       "clocks.json: clocks[1].path: expected a string");
	assert_refused("\"exact\"", "\"perfect\"",
		       "clocks.json: clocks[0].quality: expected exact, accurate, "
		       "approximate, incomplete, contradictory or absent");
	assert_refused("\"exact\"", "3",
		       "clocks.json: clocks[0].quality: expected exact, accurate, "
		       "approximate, incomplete, contradictory or absent");
	assert_refused("\"begin_ns\": 1", "\"begin_ns\": 1.5",
		       "clocks.json: clocks[1].begin_ns: expected an integer");
	assert_refused("\"end_ns\": 8", "\"end_ns\": \"8\"",
		       "clocks.json: clocks[1].end_ns: expected an integer");
}

TEST(test_wrong_segment)
{
	assert_refused(
	    "\"segments\": [{\"local_ns\": 0, \"ref_ns\": 0, \"rate_ppb\": 0}]",
	    "\"segments\": []", "clocks.json: clocks[0].segments: expected at least one");
	assert_refused(
	    "\"segments\": [{\"local_ns\": 0, \"ref_ns\": 0, \"rate_ppb\": 0}]",
	    "\"segments\": {}", "clocks.json: clocks[0].segments: expected an array");
	assert_refused("[{\"local_ns\": 0", "[null, {\"local_ns\": 0",
		       "clocks.json: clocks[0].segments[0]: expected an object");
	assert_refused("\"ref_ns\": 22", "\"ref_ns\": null",
		       "clocks.json: clocks[1].segments[1].ref_ns: expected an integer");
	assert_refused("\"rate_ppb\": -58.6", "\"rate_ppb\": \"-58.6\"",
		       "clocks.json: clocks[1].segments[0].rate_ppb: expected a number "
		       "between -5e8 and 5e8");
	assert_refused("\"rate_ppb\": -58.6", "\"rate_ppb\": -5e8",
		       "clocks.json: clocks[1].segments[0].rate_ppb: expected a number "
		       "between -5e8 and 5e8");
	assert_refused("\"local_ns\": 21", "\"local_ns\": 11",
		       "clocks.json: clocks[1].segments[1].local_ns: expected a time "
		       "after the preceding segment's");
}

TEST(test_wrong_bound)
{
	assert_refused("\"bounds\": []", "\"bounds\": 0",
		       "clocks.json: clocks[0].bounds: expected an array");
	assert_refused("\"low_ns\": -3, ", "",
		       "clocks.json: clocks[1].bounds[0].low_ns: expected an integer or "
		       "null");
	assert_refused("\"high_ns\": null", "\"high_ns\": 1e3",
		       "clocks.json: clocks[1].bounds[1].high_ns: expected an integer or "
		       "null");
	assert_refused("\"low_ns\": -3", "\"low_ns\": 4",
		       "clocks.json: clocks[1].bounds[0].low_ns: expected at most "
		       "high_ns");
	assert_refused("\"local_ns\": 41", "\"local_ns\": 30",
		       "clocks.json: clocks[1].bounds[1].local_ns: expected a time not "
		       "before the preceding bound's");
}

TEST(test_wrong_pair)
{
	assert_refused("\"pairs\"", "\"p\"", "clocks.json: pairs: expected an array");
	assert_refused("[{\"a\"", "[1, {\"a\"",
		       "clocks.json: pairs[0]: expected an object");
	assert_refused("\"b\": \"n1\"", "\"b\": 1",
		       "clocks.json: pairs[0].b: expected a string");
	assert_refused(
	    "\"messages_ab\": 51", "\"messages_ab\": -1",
	    "clocks.json: pairs[0].messages_ab: expected an integer of at least 0");
	assert_refused(
	    "\"hull_ba\": 55, ", "",
	    "clocks.json: pairs[0].hull_ba: expected an integer of at least 0");
	assert_refused("\"min_latency_ab_ns\": 58", "\"min_latency_ab_ns\": false",
		       "clocks.json: pairs[0].min_latency_ab_ns: expected an integer or "
		       "null");
	assert_refused("\"matching\"", "\"m\"",
		       "clocks.json: matching: expected an object");
	assert_refused("\"sent\": 61", "\"sent\": []",
		       "clocks.json: matching.sent: expected an integer of at least 0");
}

TEST(test_no_json)
{
	struct error error = ERROR_INIT;
	struct clock_map map;

	assert_int_equal(clock_map_read(&map, "none.json", &error), -1);
	assert_string_equal(error_text(&error), "none.json: No such file or directory");
	write_file("[]");
	assert_int_equal(clock_map_read(&map, "clocks.json", &error), -1);
	assert_string_equal(error_text(&error), "clocks.json: not a JSON object");
	write_file("");
	assert_int_equal(clock_map_read(&map, "clocks.json", &error), -1);
	assert_non_null(strstr(error_text(&error), "clocks.json:1:0: invalid JSON"));
	error_clear(&error);
}

/* Cut anywhere, the file is refused or (at its very end) read; never a crash. */
TEST(test_cut_anywhere)
{
	char text[sizeof(sample)];

	for (size_t length = 0; length < sizeof(sample) - 1; length++) {
		struct error error = ERROR_INIT;
		struct clock_map map;

		memcpy(text, sample, length);
		text[length] = '\0';
		write_file(text);
		assert_int_equal(clock_map_read(&map, "clocks.json", &error), -1);
		error_clear(&error);
	}
}

/* Members that a later version adds do not matter. */
TEST(test_unknown_members)
{
	struct error error = ERROR_INIT;
	struct clock_map map;
	char *text = mem_printf("{\"new\": [1], %s", sample + 1);

	write_file(text);
	free(text);
	assert_int_equal(clock_map_read(&map, "clocks.json", &error), 0);
	clock_map_clear(&map);
}

GROUP_FIXTURE(scratch_enter, scratch_leave)
