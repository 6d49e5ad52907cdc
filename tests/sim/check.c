/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sim-check: what ctsync said of a simulated run against its truth. Prints the
 * errors and the bounds, then a line for each thing that is not as it should be.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/options.h"
#include "message_file.h"
#include "survey.h"

/* The implications of a scenario. */
struct wanted {
	int seed;      /* of the times that are looked at */
	int islands;   /* groups of clocks with a reference each */
	int clocks;    /* that are not absent */
	char *quality; /* of every clock that is no reference; NULL: accurate */
	bool open;     /* bounds have a side that nothing bounds */
	bool rejects;  /* some messages are false */
	bool honest;   /* the truth is within the bounds of accurate clocks; no more */
	bool straight; /* one segment is enough for every clock */
	int median_us; /* half of the errors are less; 0: they are not asked for */
};

static int complaints;

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	complaints++;
}

static void check_clocks(const struct clock_map *map, const struct wanted *wanted)
{
	const char *quality = wanted->quality ? wanted->quality : "accurate";
	int clocks = 0;

	for (size_t i = 0; i < map->clocks; i++) {
		const struct clock *clock = &map->clock[i];
		const char *is = clock_quality_name(clock->quality);

		if (wanted->straight && clock->segments > 1)
			complain("%s: has %zu segments, want one", clock->trace,
				 clock->segments);
		clocks += clock->quality != CLOCK_ABSENT;
		if (clock->quality > CLOCK_EXACT && clock->quality < CLOCK_ABSENT &&
		    strcmp(is, quality) != 0)
			complain("%s: is %s, want %s", clock->trace, is, quality);
	}
	if (clocks != wanted->clocks)
		complain("%d clocks were tied, want %d", clocks, wanted->clocks);
	if (map->islands != (size_t)wanted->islands)
		complain("%zu islands, want %d", map->islands, wanted->islands);
}

/* Nothing bounds a clock between the messages around a step. */
#define OPEN_AT_STEPS 0.01 /* of the times that are looked at */

static bool has_steps(const struct clock_map *map)
{
	for (size_t i = 0; i < map->clocks; i++)
		if (map->clock[i].steps)
			return true;
	return false;
}

static void check_survey(struct survey *survey, const struct clock_map *map,
			 const struct wanted *wanted)
{
	double open = has_steps(map) ? OPEN_AT_STEPS * (double)survey->looks : 0;
	double median_us = survey_median(survey->error_ns, survey) / 1e3;

	printf("error median %.3f us, worst %.3f us; bound median +-%.3f us; "
	       "%" PRIu64 " messages rejected, %" PRIu64 " violated before\n",
	       median_us, survey_worst(survey->error_ns, survey) / 1e3,
	       survey_median(survey->half_ns, survey) / 1e3, survey->rejected,
	       survey->before);
	if (wanted->median_us && !(median_us <= wanted->median_us))
		complain("the error is %.3f us in the median, want %d at most", median_us,
			 wanted->median_us);
	if (survey->misses)
		complain("the truth is outside of the bounds at %" PRIu64 " of %" PRIu64
			 " times, first of %s at %" PRId64,
			 survey->misses, survey->looks, survey->miss_trace,
			 survey->miss_local_ns);
	if (!survey->looks)
		complain("no clock was looked at");
	if (survey->after)
		complain("%" PRIu64 " messages are received before they are sent",
			 survey->after);
	if ((double)survey->unbounded > open && !wanted->open)
		complain("%" PRIu64 " of %" PRIu64 " bounds are open", survey->unbounded,
			 survey->looks);
	if (survey->looks != survey->unbounded && wanted->open)
		complain("bounds have two sides, want one");
	if (wanted->rejects != (survey->rejected > 0))
		complain("%" PRIu64 " messages were rejected", survey->rejected);
}

/* Counted anew from the messages: only rejected ones may be inverted. */
static int check_messages(const char *directory, const struct clock_map *map,
			  uint64_t rejected, struct error *error)
{
	char *path = mem_printf("%s/messages.csv", directory);
	uint64_t count = 0;
	int status = 0;

	if (access(path, R_OK) == 0)
		status = message_file_inverted(path, map, &count, error);
	if (count > rejected)
		complain("%" PRIu64 " messages are inverted by the corrected clocks, "
			 "%" PRIu64 " were rejected",
			 count, rejected);
	free(path);
	return status;
}

static int check(const char *directory, const char *map_path, const struct wanted *wanted,
		 struct error *error)
{
	struct clock_map map = {0};
	struct survey survey = {0};
	struct recorded run;
	int status = simulated_open(&run, directory, error);

	if (!status)
		status = clock_map_read(&map, map_path, error);
	if (!status)
		status = survey_make(&survey, &map, &run, (uint64_t)wanted->seed, error);
	if (!status && wanted->honest) {
		printf("%" PRIu64 " of %" PRIu64 " times outside of the bounds, %" PRIu64
		       " of them of clocks that are called accurate\n",
		       survey.misses, survey.looks, survey.sure);
		complaints += survey.sure > 0;
	} else if (!status) {
		check_clocks(&map, wanted);
		check_survey(&survey, &map, wanted);
		status = check_messages(directory, &map, survey.rejected, error);
	}
	survey_clear(&survey);
	clock_map_clear(&map);
	recorded_close(&run);
	return status;
}

int main(int argc, const char **argv)
{
	struct wanted wanted = {.seed = 1, .islands = 1, .clocks = 2};
	struct option_row rows[] = {
	    {0, "seed", OPTION_INT, &wanted.seed, "N", "look at other times", 0, 1e9},
	    {0, "islands", OPTION_INT, &wanted.islands, "N", "so many are wanted", 0,
	     1e9},
	    {0, "clocks", OPTION_INT, &wanted.clocks, "N", "so many are wanted", 0, 1e9},
	    {0, "quality", OPTION_STRING, &wanted.quality, "QUALITY",
	     "of every clock but the references", 0, 0},
	    {0, "median", OPTION_INT, &wanted.median_us, "US",
	     "half of the errors are less", 0, 1e9},
	    {0, "open", OPTION_FLAG, &wanted.open, NULL, "bounds have one side", 0, 0},
	    {0, "straight", OPTION_FLAG, &wanted.straight, NULL,
	     "clocks have a segment each", 0, 0},
	    {0, "honest", OPTION_FLAG, &wanted.honest, NULL,
	     "the truth is in the bounds of accurate clocks, and no more", 0, 0},
	    {0, "rejects", OPTION_FLAG, &wanted.rejects, NULL, "messages are false", 0,
	     0},
	    {0}};
	const struct command command = {
	    .name = "sim-check",
	    .usage = "[OPTION...] RUN MAP",
	    .summary = "what ctsync said of a simulated run against its truth",
	    .rows = rows,
	};
	struct text_list words = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	int status = options_parse(&command, argc, argv, &words, &error);

	if (status == OPTIONS_GO)
		status = words.count != 2
			     ? error_misuse(&error, "want RUN and MAP")
			     : check(words.item[0], words.item[1], &wanted, &error) ||
				   complaints;
	text_list_clear(&words);
	free(wanted.quality);
	return program_end("sim-check", status, &error);
}
