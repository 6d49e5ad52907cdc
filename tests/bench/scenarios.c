/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-scenarios: every method of ctsync, and what stands for other tools, on
 * the simulator's scenarios, against the truth.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/table.h"
#include "baseline.h"
#include "launch.h"
#include "message_file.h"
#include "survey.h"

static const char *const methods[] = {"hull",       "margin",   "joint",
				      "regression", "tangents", NULL};

struct bench {
	const char *directory; /* where runs go */
	char *map;             /* where ctsync writes its clock map */
	const char *scenario;
	struct table *table;
	int seed;
	bool failed;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int synchronize(const struct bench *bench, const char *method,
		       const char *messages, struct clock_map *map, struct error *error)
{
	struct text_list words = {NULL, 0, 0};
	struct launched launched;
	int status;

	launch_words(&words, "ctsync", "-q", "-o", bench->map, "--method", method,
		     "--messages", messages, NULL);
	status = launch(&words, NULL, &launched, error);
	text_list_clear(&words);
	return status ? -1 : clock_map_read(map, bench->map, error);
}

static void microseconds(char text[32], double ns)
{
	if (isfinite(ns))
		snprintf(text, 32, "%.1f", ns / 1e3);
	else
		snprintf(text, 32, "none");
}

static void add_row(struct bench *bench, const char *method, struct survey *survey,
		    uint64_t inverted, double seconds)
{
	char worst[32], median[32], half[32], misses[48], left[32], rejected[32],
	    time[32];
	bool bounded = strcmp(method, "tangents") != 0;
	const char *cell[] = {bench->scenario,           method, worst,    median, half,
			      bounded ? misses : "none", left,   rejected, time};

	microseconds(worst, survey_worst(survey->error_ns, survey));
	microseconds(median, survey_median(survey->error_ns, survey));
	microseconds(half, bounded ? survey_median(survey->half_ns, survey) : INFINITY);
	snprintf(misses, sizeof(misses), "%llu of %llu",
		 (unsigned long long)survey->misses, (unsigned long long)survey->looks);
	snprintf(left, sizeof(left), "%llu", (unsigned long long)inverted);
	snprintf(rejected, sizeof(rejected), "%llu",
		 (unsigned long long)survey->rejected);
	snprintf(time, sizeof(time), "%.2f", seconds);
	table_add(bench->table, cell);
	bench->failed |= survey->misses > 0;
}

static int try_method(struct bench *bench, const struct recorded *run, const char *method,
		      struct error *error)
{
	char *messages = mem_printf("%s/messages.csv", run->path);
	struct clock_map map = {0};
	struct survey survey = {0};
	uint64_t inverted = 0;
	double begin = now();
	int status = strcmp(method, "tangents") == 0
			 ? baseline_fit(&map, messages, error)
			 : synchronize(bench, method, messages, &map, error);
	double seconds = now() - begin;

	if (!status)
		status = survey_make(&survey, &map, run, (uint64_t)bench->seed, error);
	if (!status)
		status = message_file_inverted(messages, &map, &inverted, error);
	if (!status)
		add_row(bench, method, &survey, inverted, seconds);
	survey_clear(&survey);
	clock_map_clear(&map);
	free(messages);
	return status;
}

static int simulate(const struct bench *bench, const char *path, struct error *error)
{
	struct text_list words = {NULL, 0, 0};
	char *seed = mem_printf("%d", bench->seed);
	struct launched launched;
	int status;

	launch_words(&words, "ctsim", "-q", "--messages", "--seed", seed, "-o", path,
		     bench->scenario, NULL);
	status = launch(&words, NULL, &launched, error);
	if (!status && launched.status)
		status = error_set(error, "ctsim failed");
	text_list_clear(&words);
	free(seed);
	return status;
}

static int try_scenario(struct bench *bench, struct error *error)
{
	char *path = mem_printf("%s/%s", bench->directory, bench->scenario);
	struct recorded run = {0};
	int status = simulate(bench, path, error);

	if (!status)
		status = simulated_open(&run, path, error);
	for (size_t i = 0; !status && methods[i]; i++)
		status = try_method(bench, &run, methods[i], error);
	recorded_close(&run);
	free(path);
	return status ? error_prefix(error, "%s", bench->scenario) : 0;
}

static int measure(struct bench *bench, const struct text_list *words,
		   struct error *error)
{
	static const struct table_column column[] = {{.title = "SCENARIO"},
						     {.title = "METHOD"},
						     {.title = "WORST", .right = true},
						     {.title = "MEDIAN", .right = true},
						     {.title = "BOUND", .right = true},
						     {.title = "MISSES", .right = true},
						     {.title = "INVERTED", .right = true},
						     {.title = "REJECTED", .right = true},
						     {.title = "SECONDS", .right = true}};
	int status = 0;

	bench->table = table_new(column, sizeof(column) / sizeof(column[0]));
	bench->directory = words->item[0];
	bench->map = mem_printf("%s/map.json", bench->directory);
	for (size_t i = 1; !status && i < words->count; i++) {
		bench->scenario = words->item[i];
		status = try_scenario(bench, error);
	}
	puts("Worst and median error and half the bounds' width (median), in "
	     "microseconds.\n");
	table_print(bench->table, stdout);
	table_free(bench->table);
	free(bench->map);
	if (!status && bench->failed)
		status = error_set(error, "a bound does not hold the truth");
	return status;
}

int main(int argc, const char **argv)
{
	struct bench bench = {.seed = 1};
	struct option_row rows[] = {
	    {0, "seed", OPTION_INT, &bench.seed, "N", "of the simulator", 1, 1e9}, {0}};
	const struct command command = {
	    .name = "scenarios",
	    .usage = "[--seed=N] DIRECTORY SCENARIO...",
	    .summary = "the methods on simulated scenarios, against the truth",
	    .rows = rows,
	};
	struct text_list words = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	int status = options_parse(&command, argc, argv, &words, &error);

	if (status == OPTIONS_GO)
		status = words.count < 2
			     ? error_misuse(&error, "want a directory and a scenario")
			     : measure(&bench, &words, &error);
	text_list_clear(&words);
	return program_end("scenarios", status, &error);
}
