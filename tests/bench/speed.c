/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench-speed: how fast ctsync is and how much memory it takes, on the traces
 * of a run, against babeltrace2 reading them to nowhere, and on messages made
 * for it. It measures and asserts nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "cold.h"
#include "input/run.h"
#include "input/trace_packets.h"
#include "launch.h"
#include "race.h"
#include "sync/observe/messages_csv.h"
#include "sync/trust.h"

enum { LONGER = 10, DRIFT_LIMIT_PPM = 200 };

struct request {
	int repeats, messages;
	bool cold;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void ignore(void *context, const struct packet_event *packet_event)
{
	(void)context;
	(void)packet_event;
}

static void ignore_event(void *context, const struct trace_event *event)
{
	(void)context;
	(void)event;
}

/* Read all fields of a trace's events. Return their number, or -1 with error. */
static int64_t read_fields(const char *path, struct error *error)
{
	struct trace_reader *reader = trace_reader_open(path, error);
	int64_t events;

	if (!reader)
		return -1;
	for (uint32_t i = 0; trace_reader_columns(reader, i); i++)
		trace_reader_select(reader, i,
				    &(struct trace_selection){.what = SELECT_COLUMNS});
	while (trace_reader_step(reader, 1 << 20, ignore_event, NULL))
		;
	events = (int64_t)trace_reader_facts(reader)->events;
	trace_reader_free(reader);
	return events;
}

/* Read a trace's packets. Return the number of its events, or -1 with error. */
static int64_t read_packets(const char *path, struct error *error)
{
	struct packet_source *packets = trace_packets_open(path, error);
	int64_t events;

	if (!packets)
		return -1;
	while (packet_source_step(packets, ignore, NULL))
		;
	events = (int64_t)packets->facts.events;
	packet_source_free(packets);
	return events;
}

/* The events of a run's traces, read one trace after the other in this process. */
static int count_events(const struct source_list *sources,
			int64_t (*read)(const char *, struct error *), uint64_t *events,
			struct error *error)
{
	*events = 0;
	for (size_t i = 0; i < sources->count; i++) {
		int64_t count = sources->item[i].kind == SOURCE_TRACE
				    ? read(sources->item[i].path, error)
				    : 0;

		if (count < 0)
			return -1;
		*events += (uint64_t)count;
	}
	return 0;
}

static bool has_ftrace(const struct source_list *sources)
{
	struct stat status;

	for (size_t i = 0; i < sources->count; i++)
		if (sources->item[i].kind == SOURCE_TRACE &&
		    stat(sources->item[i].path, &status) == 0 && S_ISREG(status.st_mode))
			return true;
	return false;
}

/* Another program reads LTTng's traces to nowhere, and ctsync synchronizes them. */
static void enter_lttng(struct race *race, const struct source_list *sources)
{
	struct text_list *dummy = &race_enter(race, "babeltrace2 -o dummy", 0)->words;
	struct text_list *one = &race_enter(race, "ctsync -j1", 0)->words;
	struct text_list *two = &race_enter(race, "ctsync -j2", 0)->words;

	launch_words(dummy, "babeltrace2", "-o", "dummy", NULL);
	launch_words(one, "ctsync", "-q", "-j1", NULL);
	launch_words(two, "ctsync", "-q", "-j2", NULL);
	for (size_t i = 0; i < sources->count; i++) {
		if (sources->item[i].kind != SOURCE_TRACE)
			continue;
		launch_words(dummy, sources->item[i].path, NULL);
		launch_words(one, "-t", sources->item[i].path, NULL);
		launch_words(two, "-t", sources->item[i].path, NULL);
	}
}

/* trace-cmd prints ftrace's to nowhere, and ctmerge writes all fields into a timeline. */
static void enter_ftrace(struct race *race, const struct source_list *sources,
			 const char *path, const char *timeline)
{
	struct text_list *report = &race_enter(race, "trace-cmd report", 0)->words;
	struct text_list *rows = &race_enter(race, "ctmerge --no-spans", 0)->words;
	struct text_list *whole = &race_enter(race, "ctmerge", 0)->words;

	launch_words(report, "trace-cmd", "report", "-q", NULL);
	for (size_t i = 0; i < sources->count; i++)
		if (sources->item[i].kind == SOURCE_TRACE)
			launch_words(report, "-i", sources->item[i].path, NULL);
	launch_words(rows, "ctmerge", "-q", "--no-sync", "--force", "-o", timeline, path,
		     "--no-spans", NULL);
	launch_words(whole, "ctmerge", "-q", "--no-sync", "--force", "-o", timeline, path,
		     NULL);
}

static int measure_traces(const struct request *request, const char *path,
			  const char *timeline, struct error *error)
{
	struct source_list sources = {0};
	struct problem_list problems = {NULL, 0, 0};
	struct race race;
	uint64_t events = 0;
	double begin;
	int status = source_add_run(&sources, path, &problems, error);
	bool is_ftrace = has_ftrace(&sources);

	race_init(&race, request->repeats);
	if (is_ftrace)
		enter_ftrace(&race, &sources, path, timeline);
	else
		enter_lttng(&race, &sources);
	if (!status)
		status = race_run(&race, error);
	begin = now();
	/* After the race, for what this process holds counts as its children's. */
	if (!status)
		status = count_events(&sources, is_ftrace ? read_fields : read_packets,
				      &events, error);
	for (size_t i = 0; i < race.count; i++)
		race.contender[i].items = events;
	if (!status) {
		printf("%s: %llu events, best of %d\n\n", path,
		       (unsigned long long)events, request->repeats);
		race_print(&race, "EVENTS/S");
		printf("\nreading alone, one trace after the other: %.3f s\n",
		       now() - begin);
	}
	race_clear(&race);
	if (!status && request->cold)
		status = cold_measure(&sources, request->repeats, error);
	source_list_clear(&sources);
	problem_clear(&problems);
	return status;
}

/* Messages between so many nodes into a file. */
static int make_messages(const char *path, int count, int nodes, struct error *error)
{
	struct text_list words = {NULL, 0, 0};
	char *counted = mem_printf("%d", count), *of = mem_printf("%d", nodes);
	struct launched launched = {0, 0, 0, 0};
	int status;

	launch_words(&words, "bench-messages", counted, of, NULL);
	status = launch(&words, path, &launched, error);
	if (!status && launched.status)
		status =
		    error_set(error, "bench-messages: exit status %d", launched.status);
	text_list_clear(&words);
	free(counted);
	free(of);
	return status;
}

/* Every line of a file, and nothing done with it. */
static double time_lines(const char *path)
{
	double begin = now();
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t capacity = 0;

	while (file && getline(&line, &capacity, file) > 0)
		;
	free(line);
	if (file)
		fclose(file);
	return now() - begin;
}

/* What ctsync's time goes into, measured in this process, the best of all. */
static int print_stages(const char *path, int repeats, struct error *error)
{
	double lines = 0, reading = 0, fitting = 0;

	for (int turn = 0; turn < repeats; turn++) {
		const struct fit_options how = {.drift_limit_ppm = DRIFT_LIMIT_PPM,
						.max_rejected = 0.02,
						.bounds.threads = 1};
		struct problem_list problems = {NULL, 0, 0};
		double bare = time_lines(path), begin = now(), middle, end;
		struct synchronization sync = {.network.limit = 0};
		struct clock_map map = {0};
		struct observations seen;
		int status = observe_messages(path, &seen, &problems, error);

		middle = now();
		if (!status)
			status = synchronize_sources(&seen, &how, &sync, &map, &problems,
						     error);
		end = now();
		clock_map_clear(&map);
		synchronization_clear(&sync);
		observations_clear(&seen);
		problem_clear(&problems);
		if (status)
			return -1;
		lines = turn && lines < bare ? lines : bare;
		reading = turn && reading < middle - begin ? reading : middle - begin;
		fitting = turn && fitting < end - middle ? fitting : end - middle;
	}
	printf(
	    "\nits lines alone (getline) %.3f s; lines, numbers, hulls and log %.3f s; "
	    "fit and\nbounds %.3f s\n",
	    lines, reading, fitting);
	return 0;
}

static int measure_messages(const struct request *request, const char *path, int nodes,
			    struct error *error)
{
	struct race race;
	int status = make_messages(path, request->messages, nodes, error);

	race_init(&race, request->repeats);
	launch_words(&race_enter(&race, "wc -l", (uint64_t)request->messages)->words,
		     "wc", "-l", path, NULL);
	launch_words(
	    &race_enter(&race, "ctsync --messages", (uint64_t)request->messages)->words,
	    "ctsync", "-q", "--messages", path, NULL);
	if (!status)
		status = race_run(&race, error);
	if (!status) {
		printf("\n%d messages between %d nodes, best of %d\n\n",
		       request->messages, nodes, request->repeats);
		race_print(&race, "MESSAGES/S");
		status = print_stages(path, request->repeats, error);
	}
	race_clear(&race);
	return status;
}

/* Memory must not grow with the run's length. */
static int measure_length(const struct request *request, const char *path,
			  struct error *error)
{
	struct race race;
	int longer = request->messages * LONGER;
	int status = make_messages(path, longer, 2, error);

	race_init(&race, 1);
	launch_words(&race_enter(&race, "ctsync --messages", (uint64_t)longer)->words,
		     "ctsync", "-q", "--messages", path, NULL);
	if (!status)
		status = race_run(&race, error);
	if (!status) {
		printf("\n%d messages between 2 nodes, once\n\n", longer);
		race_print(&race, "MESSAGES/S");
	}
	race_clear(&race);
	return status;
}

static int measure(const struct request *request, const struct text_list *runs,
		   struct error *error)
{
	char *path = launch_temporary(error);
	int status = path ? 0 : -1;

	for (size_t i = 0; !status && i < runs->count; i++)
		status = measure_traces(request, runs->item[i], path, error);
	if (!status && request->messages)
		status = measure_messages(request, path, 2, error);
	if (!status && request->messages)
		status = measure_messages(request, path, 10, error);
	if (!status && request->messages)
		status = measure_length(request, path, error);
	if (path)
		remove(path);
	free(path);
	return status;
}

int main(int argc, const char **argv)
{
	struct request request = {.repeats = 5, .messages = 1000000};
	struct option_row rows[] = {
	    {'n', "repeat", OPTION_INT, &request.repeats, "N",
	     "run everything N times (default: 5)", 1, 1000},
	    {'m', "messages", OPTION_INT, &request.messages, "N",
	     "make N messages and ten times as many (default: 1000000), 0: none", 0,
	     100000000},
	    {'c', "cold", OPTION_FLAG, &request.cold, NULL,
	     "read also files that are not in the page cache, against dd", 0, 0},
	    {0},
	};
	const struct command command = {
	    .name = "speed",
	    .usage = "[OPTION...] RUN...",
	    .summary = "ctsync's speed and memory",
	    .rows = rows,
	};
	struct text_list runs = {NULL, 0, 0};
	struct error error = ERROR_INIT;
	int status = options_parse(&command, argc, argv, &runs, &error);

	if (status == OPTIONS_GO)
		status = measure(&request, &runs, &error);
	text_list_clear(&runs);
	return program_end("speed", status, &error);
}
