/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-accuracy: ctsync's clocks of recorded runs against what the clocks
 * really said. Runs ctsync as a user does, and fails where the truth lies
 * outside of a printed bound.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/options.h"
#include "base/table.h"
#include "launch.h"
#include "score.h"
#include "told.h"

static const char *const methods[] = {"hull", "margin", "joint", "regression", NULL};

struct bench {
	const struct recorded *run;
	const char *method;
	char *map; /* where ctsync writes its clock map */
	struct table *scores, *agreements, *messages;
	uint64_t reversed; /* messages */
	bool failed;       /* a bound without the truth, or no clock at all */
};

/* Some of the run's sources, one after the other. */
struct choice {
	const char *what;
	size_t first, count;
};

/* Run ctsync on some subjects, on the clock of the reference node. */
static int synchronize(const struct bench *bench, const struct subject *const *subject,
		       size_t subjects, struct clock_map *map, struct error *error)
{
	struct text_list words = {NULL, 0, 0};
	struct launched launched = {0, 0, 0, 0};
	int status;

	launch_words(&words, "ctsync", "-q", "-o", bench->map, "--method", bench->method,
		     NULL);
	for (size_t i = 0; i < subjects; i++) {
		char *trace = mem_printf("%s=%s", subject[i]->name, subject[i]->path);

		launch_words(&words, "-t", trace, NULL);
		free(trace);
	}
	for (size_t i = 0; i < subjects; i++)
		if (subject[i]->node == bench->run->reference) {
			launch_words(&words, "-r", subject[i]->name, NULL);
			break;
		}
	memset(map, 0, sizeof(*map));
	status = launch(&words, NULL, &launched, error);
	if (!status && launched.status && launched.status != EXIT_NOT_TIED)
		status = error_set(error, "ctsync failed");
	if (!status)
		status = clock_map_read(map, bench->map, error);
	text_list_clear(&words);
	return status;
}

static int synchronize_choice(const struct bench *bench, const struct choice *choice,
			      struct clock_map *map, struct error *error)
{
	const struct subject **subject = mem_alloc(choice->count * sizeof(*subject));
	int status;

	for (size_t i = 0; i < choice->count; i++)
		subject[i] = &bench->run->subject[choice->first + i];
	status = synchronize(bench, subject, choice->count, map, error);
	free(subject);
	return status;
}

static void add_score_row(struct bench *bench, const char *what, struct score *score)
{
	char clocks[24], segments[24], messages[24], place[PLACES][48], half[24],
	    before[24], after[24], misses[48];
	const char *cell[] = {
	    bench->run->name, what,     bench->method, clocks,   segments,
	    messages,         place[0], place[1],      place[2], half,
	    before,           after,    misses};

	snprintf(clocks, sizeof(clocks), "%zu", score->clocks);
	snprintf(segments, sizeof(segments), "%zu", score->segments);
	snprintf(messages, sizeof(messages), "%llu", (unsigned long long)score->messages);
	for (int i = 0; i < PLACES; i++)
		snprintf(place[i], sizeof(place[i]), "%.1f (%.1f)",
			 score->worst_ns[i] / 1e3,
			 score->sum_ns[i] / 1e3 / (double)score->clocks);
	snprintf(half, sizeof(half), "%.1f", score_median_half(score) / 1e3);
	snprintf(before, sizeof(before), "%llu", (unsigned long long)score->before);
	snprintf(after, sizeof(after), "%llu", (unsigned long long)score->after);
	snprintf(misses, sizeof(misses), "%llu of %llu",
		 (unsigned long long)score->misses, (unsigned long long)score->looks);
	table_add(bench->scores, cell);
	bench->failed |= score->misses || !score->clocks;
}

/* One fit of a choice of sources; leaves its map to the caller. */
static int score_choice(struct bench *bench, const struct choice *choice,
			struct clock_map *map, struct error *error)
{
	struct score score = {0};

	memset(map, 0, sizeof(*map));
	if (choice->count < 2)
		return 0;
	if (synchronize_choice(bench, choice, map, error))
		return -1;
	score_add(&score, map, bench->run);
	add_score_row(bench, choice->what, &score);
	score_clear(&score);
	return 0;
}

/* Every two traces by themselves, in one row. */
static int score_pairs(struct bench *bench, struct error *error)
{
	const struct recorded *run = bench->run;
	struct score score = {0};
	int status = 0;

	for (size_t a = 0; a < run->traces; a++)
		for (size_t b = a + 1; !status && b < run->traces; b++) {
			const struct subject *pair[] = {&run->subject[a],
							&run->subject[b]};
			struct clock_map map;

			status = synchronize(bench, pair, 2, &map, error);
			if (!status)
				score_add(&score, &map, run);
			clock_map_clear(&map);
		}
	if (!status)
		add_score_row(bench, "pairs alone", &score);
	score_clear(&score);
	return status;
}

static void add_agreement_row(struct bench *bench, const struct agreement *agreement)
{
	char clocks[24], place[PLACES][24], disjoint[48];
	const char *cell[] = {bench->run->name, bench->method, clocks,  place[0],
			      place[1],         place[2],      disjoint};

	snprintf(clocks, sizeof(clocks), "%zu", agreement->clocks);
	for (int i = 0; i < PLACES; i++)
		snprintf(place[i], sizeof(place[i]), "%.1f",
			 agreement->worst_ns[i] / 1e3);
	snprintf(disjoint, sizeof(disjoint), "%llu of %llu",
		 (unsigned long long)agreement->disjoint,
		 (unsigned long long)agreement->looks);
	table_add(bench->agreements, cell);
	bench->failed |= agreement->disjoint > 0;
}

/* Compare the maps of a run's traces alone and of its captures alone, node by node. */
static void compare(struct bench *bench, const struct clock_map *traces,
		    const struct clock_map *captures)
{
	const struct recorded *run = bench->run;
	struct agreement agreement = {0};

	for (size_t i = 0; i < run->traces; i++)
		for (size_t k = 0; k < run->captures; k++) {
			const struct subject *trace = &run->subject[i];
			const struct subject *capture = &run->subject[run->traces + k];
			struct view a = view_of(traces, trace, run);
			struct view b = view_of(captures, capture, run);

			if (trace->node == capture->node && a.clock && b.clock)
				agreement_add(&agreement, &a, &b);
		}
	if (agreement.clocks)
		add_agreement_row(bench, &agreement);
}

static int examine_method(struct bench *bench, struct error *error)
{
	size_t n = bench->run->traces, m = bench->run->captures;
	const struct choice just_traces = {"traces", 0, n},
			    just_captures = {"captures", n, m},
			    both = {"both", 0, n && m ? n + m : 0};
	struct clock_map traces = {0}, captures = {0}, all = {0};
	int status = score_choice(bench, &just_traces, &traces, error);

	if (!status && n > 2)
		status = score_pairs(bench, error);
	if (!status)
		status = score_choice(bench, &just_captures, &captures, error);
	if (!status)
		status = score_choice(bench, &both, &all, error);
	if (!status)
		compare(bench, &traces, &captures);
	clock_map_clear(&traces);
	clock_map_clear(&captures);
	clock_map_clear(&all);
	return status;
}

static bool has_truth(const char *path)
{
	char *truth = mem_printf("%s/truth.csv", path);
	bool is_there = access(truth, R_OK) == 0;

	free(truth);
	return is_there;
}

/* A run of sources that all have the host's clock, with nothing to fit. */
static int examine_one_clock(struct bench *bench, const char *path, struct error *error)
{
	const char *slash = strrchr(path, '/');
	const struct recorded run = {.name = slash && slash[1] ? slash + 1 : path,
				     .path = path};

	return told_add(bench->messages, &run, false, &bench->reversed, error);
}

static int examine(struct bench *bench, const char *path, struct error *error)
{
	struct recorded run;
	int status;

	if (!has_truth(path))
		return examine_one_clock(bench, path, error);
	status = recorded_open(&run, path, error);
	bench->run = &run;
	if (!status)
		status = told_add(bench->messages, &run, true, &bench->reversed, error);
	for (size_t i = 0; !status && methods[i]; i++) {
		bench->method = methods[i];
		status = examine_method(bench, error);
	}
	recorded_close(&run);
	return status ? error_prefix(error, "%s", path) : 0;
}

static int examine_all(struct bench *bench, const struct text_list *runs,
		       struct error *error)
{
	int status = 0;

	bench->map = launch_temporary(error);
	if (!bench->map)
		return -1;
	for (size_t i = 0; !status && i < runs->count; i++)
		status = examine(bench, runs->item[i], error);
	remove(bench->map);
	free(bench->map);
	return status;
}

static void print(const struct bench *bench)
{
	puts("Errors and bounds in microseconds: the worst clock (mean of all); bounds "
	     "are\n"
	     "half their width at the middle, the median of all.\n");
	table_print(bench->scores, stdout);
	puts("\nThe clocks by the traces against the clocks by the captures, the worst "
	     "node:\n");
	table_print(bench->agreements, stdout);
	puts(
	    "\nMessages by what the clocks really said (without a truth.csv: that of one "
	    "machine):\n");
	table_print(bench->messages, stdout);
}

static int measure(const struct text_list *runs, struct error *error)
{
	static const struct table_column score[] = {{.title = "RUN"},
						    {.title = "FROM"},
						    {.title = "METHOD"},
						    {.title = "CLOCKS", .right = true},
						    {.title = "SEGMENTS", .right = true},
						    {.title = "MESSAGES", .right = true},
						    {.title = "BEGIN", .right = true},
						    {.title = "MIDDLE", .right = true},
						    {.title = "END", .right = true},
						    {.title = "BOUND", .right = true},
						    {.title = "BEFORE", .right = true},
						    {.title = "AFTER", .right = true},
						    {.title = "MISSES", .right = true}};
	static const struct table_column agreement[] = {
	    {.title = "RUN"},
	    {.title = "METHOD"},
	    {.title = "NODES", .right = true},
	    {.title = "BEGIN", .right = true},
	    {.title = "MIDDLE", .right = true},
	    {.title = "END", .right = true},
	    {.title = "DISJOINT", .right = true}};
	static const struct table_column message[] = {
	    {.title = "RUN"},
	    {.title = "KIND"},
	    {.title = "RIGHT", .right = true},
	    {.title = "REVERSED", .right = true}};
	struct bench bench = {
	    .scores = table_new(score, sizeof(score) / sizeof(score[0])),
	    .agreements = table_new(agreement, sizeof(agreement) / sizeof(agreement[0])),
	    .messages = table_new(message, sizeof(message) / sizeof(message[0])),
	};
	int status = examine_all(&bench, runs, error);

	print(&bench);
	table_free(bench.scores);
	table_free(bench.agreements);
	table_free(bench.messages);
	if (!status && bench.reversed)
		status = error_set(error, "a message was received before it was sent");
	if (!status && bench.failed)
		status = error_set(error, "a bound does not hold the truth");
	return status;
}

int main(int argc, const char **argv)
{
	struct option_row rows[] = {{0}};
	const struct command command = {
	    .name = "accuracy",
	    .usage = "RUN...",
	    .summary = "ctsync's clocks of recorded runs against their truth.csv",
	    .rows = rows,
	};
	struct text_list runs = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	int status = options_parse(&command, argc, argv, &runs, &error);

	if (status == OPTIONS_GO)
		status = measure(&runs, &error);
	text_list_clear(&runs);
	return program_end("accuracy", status, &error);
}
