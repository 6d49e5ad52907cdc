/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "clock/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../test.h"

/* Return a map as it is written. The caller frees it. */
static char *written(const struct clock_map *map)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	clock_map_write(map, file);
	assert_int_equal(ferror(file), 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(strlen(text), size);
	return text;
}

static void assert_written(const struct clock_map *map, const char *expect)
{
	char *text = written(map);

	assert_string_equal(text, expect);
	free(text);
}

TEST(test_empty)
{
	struct clock_map map = {0};

	assert_written(
	    &map, "{\n"
		  "  \"format\": \"clustertrace-clocks\",\n"
		  "  \"version\": 1,\n"
		  "  \"reference\": \"\",\n"
		  "  \"islands\": [],\n"
		  "  \"clocks\": [],\n"
		  "  \"pairs\": [],\n"
		  "  \"matching\": {\"sent\": 0, \"received\": 0, \"matched\": 0, "
		  "\"ambiguous\": 0,\n"
		  "    \"unmatched_sent\": 0, \"unmatched_received\": 0, \"inside\": 0}\n"
		  "}\n");
}

static struct clock_step step = {3, -12};
static struct clock_slew slew = {4, 6, -9, -500000};

TEST(test_claims)
{
	char n0[] = "n0", n1[] = "n1", chrony[] = "chrony", ptp4l[] = "ptp4l";
	struct clock_claim_test claim[] = {
	    {n0, chrony, 31, 32, 33, 34, 35, 36, 37, 38, n1, 39, 40, 41},
	    {n1, ptp4l, 0, 1, 0, 0, 0, 0, 0, NSEC_MAX, NULL, 0, 0, 0}};
	struct clock_map map = {.reference = n0, .claim = claim, .claims = 2};

	assert_written(
	    &map,
	    "{\n"
	    "  \"format\": \"clustertrace-clocks\",\n"
	    "  \"version\": 1,\n"
	    "  \"reference\": \"n0\",\n"
	    "  \"islands\": [],\n"
	    "  \"clocks\": [],\n"
	    "  \"pairs\": [],\n"
	    "  \"claims\": [\n"
	    "    {\"node\": \"n0\", \"source\": \"chrony\", \"claims\": 31, "
	    "\"unbounded\": 32, \"unsynchronized\": 33, \"tested\": 35, "
	    "\"contradicted\": 36, \"disputed\": 37,\n"
	    "     \"bound_ns\": 38, \"other\": \"n1\", \"at_ns\": 39, \"apart_ns\": 40, "
	    "\"allowed_ns\": 41},\n"
	    "    {\"node\": \"n1\", \"source\": \"ptp4l\", \"claims\": 0, "
	    "\"unbounded\": 1, \"unsynchronized\": 0, \"tested\": 0, "
	    "\"contradicted\": 0, \"disputed\": 0,\n"
	    "     \"bound_ns\": null, \"other\": \"\", \"at_ns\": 0, \"apart_ns\": 0, "
	    "\"allowed_ns\": 0}\n"
	    "  ],\n"
	    "  \"matching\": {\"sent\": 0, \"received\": 0, \"matched\": 0, "
	    "\"ambiguous\": 0,\n"
	    "    \"unmatched_sent\": 0, \"unmatched_received\": 0, \"inside\": 0}\n"
	    "}\n");
}

TEST(test_second_clocks)
{
	char n0[] = "n0", n1[] = "n1", tai[] = "TAI", none[] = "";
	struct clock_second second[] = {{n0, tai, 0, 37, 0, 0},
					{n1, none, 8, -9, NSEC_MAX, -1.5}};
	struct clock_map map = {.second = second, .seconds = 2};
	char *text = written(&map);

	assert_non_null(
	    strstr(text, "  \"second_clocks\": [\n"
			 "    {\"trace\": \"n0\", \"scale\": \"TAI\", \"local_ns\": 0, "
			 "\"ahead_ns\": 37, \"high_ns\": 0, \"fast_ppb\": 0.000000},\n"
			 "    {\"trace\": \"n1\", \"scale\": \"\", \"local_ns\": 8, "
			 "\"ahead_ns\": -9, \"high_ns\": null, \"fast_ppb\": -1.500000}\n"
			 "  ],\n"));
	free(text);
}

TEST(test_full)
{
	char n0[] = "n0", n1[] = "n1", path0[] = "run/n0/kernel", path1[] = "";
	char *names[] = {n0, n1};
	struct clock_island island = {n0, names, 2};
	struct clock_segment segment[] = {{1, 2, -58.6}, {1795228732943977331, -4, 1e-7}};
	struct clock_bound bound[] = {{0, -1200, 1100}, {7, NSEC_MIN, NSEC_MAX}};
	struct clock clock[] = {
	    {n0, path0, n0, CLOCK_EXACT, 3, 4, segment, 1, bound, 1, NULL, 0, NULL, 0},
	    {n1, path1, n0, CLOCK_INCOMPLETE, -3, 9, segment, 2, bound, 2, &step, 1,
	     &slew, 1}};
	struct clock_pair pair[] = {
	    {n0, n1, 10, 11, 12, 13, 14, CLOCK_APPROXIMATE, 15, 16, NSEC_MAX, -17},
	    {n1, n0, 0, 0, 0, 0, 0, CLOCK_ABSENT, 0, 0, 0, NSEC_MAX}};
	struct clock_offset offset[] = {{7, -8, -9, 10},
					{1795228732943977331, 12, -3, 3}};
	struct clock_tie tie[] = {{n0, n1, 21, 0, 0, offset, 2},
				  {n1, n0, 0, 1, 5, offset, 1}};
	struct clock_map map = {.reference = n0, .matching = {1, 2, 3, 4, 5, 6, 7}};

	map.island = &island, map.islands = 1, map.clock = clock, map.clocks = 2;
	map.pair = pair, map.pairs = 2, map.tie = tie, map.ties = 2;
	assert_written(
	    &map,
	    "{\n"
	    "  \"format\": \"clustertrace-clocks\",\n"
	    "  \"version\": 1,\n"
	    "  \"reference\": \"n0\",\n"
	    "  \"islands\": [\n"
	    "    {\"reference\": \"n0\", \"traces\": [\"n0\", \"n1\"]}\n"
	    "  ],\n"
	    "  \"clocks\": [\n"
	    "    {\"trace\": \"n0\", \"path\": \"run/n0/kernel\", \"reference\": "
	    "\"n0\",\n"
	    "     \"quality\": \"exact\", \"begin_ns\": 3, \"end_ns\": 4,\n"
	    "     \"segments\": [{\"local_ns\": 1, \"ref_ns\": 2, \"rate_ppb\": "
	    "-58.600000}],\n"
	    "     \"bounds\": [{\"local_ns\": 0, \"low_ns\": -1200, \"high_ns\": "
	    "1100}]},\n"
	    "    {\"trace\": \"n1\", \"path\": \"\", \"reference\": \"n0\",\n"
	    "     \"quality\": \"incomplete\", \"begin_ns\": -3, \"end_ns\": 9,\n"
	    "     \"segments\": [{\"local_ns\": 1, \"ref_ns\": 2, \"rate_ppb\": "
	    "-58.600000}, {\"local_ns\": 1795228732943977331, \"ref_ns\": -4, "
	    "\"rate_ppb\": 0.000000}],\n"
	    "     \"bounds\": [{\"local_ns\": 0, \"low_ns\": -1200, \"high_ns\": 1100}, "
	    "{\"local_ns\": 7, \"low_ns\": null, \"high_ns\": null}],\n"
	    "     \"steps\": [{\"local_ns\": 3, \"size_ns\": -12}],\n"
	    "     \"slews\": [{\"begin_ns\": 4, \"end_ns\": 6, \"size_ns\": -9, "
	    "\"fast_ppb\": -500000.000000}]}\n"
	    "  ],\n"
	    "  \"pairs\": [\n"
	    "    {\"a\": \"n0\", \"b\": \"n1\", \"messages_ab\": 10, \"messages_ba\": "
	    "11, "
	    "\"rejected\": 12,\n"
	    "     \"hull_ab\": 13, \"hull_ba\": 14, \"quality\": \"approximate\",\n"
	    "     \"violations_before\": 15, \"violations_after\": 16,\n"
	    "     \"min_latency_ab_ns\": null, \"min_latency_ba_ns\": -17},\n"
	    "    {\"a\": \"n1\", \"b\": \"n0\", \"messages_ab\": 0, \"messages_ba\": 0, "
	    "\"rejected\": 0,\n"
	    "     \"hull_ab\": 0, \"hull_ba\": 0, \"quality\": \"absent\",\n"
	    "     \"violations_before\": 0, \"violations_after\": 0,\n"
	    "     \"min_latency_ab_ns\": 0, \"min_latency_ba_ns\": null}\n"
	    "  ],\n"
	    "  \"ties\": [\n"
	    "    {\"a\": \"n0\", \"b\": \"n1\", \"packets\": 21, \"rejected\": 0, "
	    "\"samples\": 0,\n"
	    "     \"offsets\": [{\"local_ns\": 7, \"offset_ns\": -8, \"low_ns\": -9, "
	    "\"high_ns\": 10}, {\"local_ns\": 1795228732943977331, \"offset_ns\": 12, "
	    "\"low_ns\": -3, \"high_ns\": 3}]},\n"
	    "    {\"a\": \"n1\", \"b\": \"n0\", \"packets\": 0, \"rejected\": 1, "
	    "\"samples\": 5,\n"
	    "     \"offsets\": [{\"local_ns\": 7, \"offset_ns\": -8, \"low_ns\": -9, "
	    "\"high_ns\": 10}]}\n"
	    "  ],\n"
	    "  \"matching\": {\"sent\": 1, \"received\": 2, \"matched\": 3, "
	    "\"ambiguous\": 4,\n"
	    "    \"unmatched_sent\": 5, \"unmatched_received\": 6, \"inside\": 7}\n"
	    "}\n");
}

static void assert_rate(double rate_ppb, const char *expect)
{
	char name[] = "n";
	struct clock_segment segment = {0, 0, rate_ppb};
	struct clock clock = {.trace = name,
			      .path = name,
			      .reference = name,
			      .segment = &segment,
			      .segments = 1};
	struct clock_map map = {.clock = &clock, .clocks = 1};
	char *text = written(&map), *found = strstr(text, "\"rate_ppb\": ");

	assert_non_null(found);
	found += strlen("\"rate_ppb\": ");
	*strchr(found, '}') = '\0';
	assert_string_equal(found, expect);
	free(text);
}

TEST(test_rates)
{
	assert_rate(0, "0.000000");
	assert_rate(-0.0, "0.000000");
	assert_rate(-4e-7, "0.000000");
	assert_rate(-6e-7, "-0.000001");
	assert_rate(-0.5, "-0.500000");
	assert_rate(499999.9999996, "500000.000000");
	assert_rate(-123456.789012, "-123456.789012");
	assert_rate(1e-7 + 1, "1.000000");
}
