/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctsync: the clocks of a cluster from its traces. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/output.h"
#include "base/table.h"
#include "input/capture.h"
#include "input/reader.h"
#include "sync/apply_run.h"
#include "sync/lp.h"
#include "sync/plot_run.h"
#include "sync/print.h"
#include "sync/statistics.h"
#include "sync/sync.h"

enum exit_status { EXIT_TIED = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2, EXIT_NOT_TIED = 3 };

struct request {
	struct text_list traces, runs, local;
	char *reference, *method, *output, *messages, *plot, *apply, *segments, *bounds;
	bool json, quiet, verbose, stats;
	int jobs, in_flight;
	double drift_limit_ppm, max_rejected;
};

static void complain(const char *text)
{
	fprintf(stderr, "ctsync: %s\n", text);
}

static char *make_versions(void)
{
	char *babeltrace = ctf_library_version(), *glpk = lp_library_version();
	char *text =
	    mem_printf("with %s, %s, %s, GSL %s, jansson %s, libsmartcols %s", babeltrace,
		       capture_library_version(), glpk, statistics_library_version(),
		       json_library_version(), table_library_version());

	free(babeltrace);
	free(glpk);
	return text;
}

static enum options_status parse(struct request *request, int argc, const char **argv,
				 struct error *error)
{
	struct option_row rows[] = {
	    {'t', "trace", OPTION_LIST, &request->traces, "[NAME=]PATH",
	     "read this CTF trace or capture; repeat for each", 0, 0},
	    {'r', "reference", OPTION_STRING, &request->reference, "NAME",
	     "put every clock on this trace's (default: the best connected)", 0, 0},
	    {'j', "jobs", OPTION_INT, &request->jobs, "N",
	     "read with N threads (default: the processors)", 1, 1024},
	    {0, "json", OPTION_FLAG, &request->json, NULL, "print the clock map as JSON",
	     0, 0},
	    {'o', "output", OPTION_STRING, &request->output, "FILE",
	     "write the clock map as JSON to FILE", 0, 0},
	    {0, "method", OPTION_STRING, &request->method, "METHOD",
	     "fit by hull, margin, joint or regression (default: hull for two clocks, "
	     "joint for more)",
	     0, 0},
	    {0, "segments", OPTION_STRING, &request->segments, "auto|N|SECONDSs",
	     "lines a clock: the fewest that satisfy its messages (default), N, or one "
	     "each so many seconds, as in 60s",
	     0, 0},
	    {0, "drift-limit", OPTION_DOUBLE, &request->drift_limit_ppm, "PPM",
	     "no clock drifts more than this against the reference (default: 200)", 0.001,
	     100000},
	    {0, "bounds", OPTION_STRING, &request->bounds, "straight|limit",
	     "take clocks as straight within a segment (default), or only the drift "
	     "limit as given",
	     0, 0},
	    {0, "max-rejected", OPTION_DOUBLE, &request->max_rejected, "SHARE",
	     "leave out at most this share of a pair's messages as false matches "
	     "(default: 0.02)",
	     0, 1},
	    {0, "messages", OPTION_STRING, &request->messages, "FILE",
	     "read messages from a CSV file instead of traces", 0, 0},
	    {0, "local", OPTION_LIST, &request->local, "[NAME=]ADDR",
	     "an address of the captures' own node, or of the one named", 0, 0},
	    {0, "plot", OPTION_STRING, &request->plot, "DIR",
	     "draw each pair and the graph of traces as SVG into DIR", 0, 0},
	    {0, "apply", OPTION_STRING, &request->apply, "DIR",
	     "make CTF traces on the reference clock in DIR", 0, 0},
	    {0, "in-flight", OPTION_INT, &request->in_flight, "N",
	     "let at most N packets wait for their other side (default: 262144)", 64,
	     1 << 30},
	    {0, "stats", OPTION_FLAG, &request->stats, NULL, "print a line a pair", 0, 0},
	    {'v', "verbose", OPTION_FLAG, &request->verbose, NULL,
	     "print a line a pair, and every message left out", 0, 0},
	    {'q', "quiet", OPTION_FLAG, &request->quiet, NULL,
	     "no progress, and no text beside --json", 0, 0},
	    {0},
	};
	struct command command = {
	    .name = "ctsync",
	    .usage = "[OPTION...] RUN | -t TRACE -t TRACE... | --messages FILE",
	    .summary = "how the clocks of a cluster relate, from its traces",
	    .rows = rows,
	};
	char *versions = make_versions();
	enum options_status status;

	command.versions = versions;
	status = options_parse(&command, argc, argv, &request->runs, error);
	free(versions);
	return status;
}

/* What the options say together. 0, or -1 with error: misuse. */
static int check_request(const struct request *request, struct error *error)
{
	bool traces = request->traces.count || request->runs.count;

	if (request->messages && traces)
		return error_set(error, "--messages takes the place of traces");
	if (!request->messages && !traces)
		return error_set(error, "no trace given, want RUN, -t TRACE or "
					"--messages FILE (see --help)");
	if (request->messages && request->apply)
		return error_set(error, "--apply wants traces, not messages");
	if (request->bounds && strcmp(request->bounds, "straight") != 0 &&
	    strcmp(request->bounds, "limit") != 0)
		return error_set(error, "--bounds: no '%s', want straight or limit",
				 request->bounds);
	if (request->method && !fit_method_find(request->method))
		return error_set(
		    error, "--method: no '%s', want hull, margin, joint or regression",
		    request->method);
	return 0;
}

/* Whether a source is meant by "NAME=ADDR", or by any "ADDR". */
static bool is_meant(const struct source *source, const char *name, size_t length)
{
	return !length || (source->name && strlen(source->name) == length &&
			   strncmp(source->name, name, length) == 0);
}

/* --local stands above what node.json says. 0, or -1 with error: misuse. */
static int set_local(const struct text_list *local, struct source_list *sources,
		     struct error *error)
{
	for (size_t s = 0; s < sources->count; s++) {
		struct source *source = &sources->item[s];
		struct node_address *own = NULL;
		size_t count = 0, room = 0;

		for (size_t i = 0; i < local->count; i++) {
			const char *word = local->item[i], *equals = strchr(word, '=');
			struct node_address address;

			if (node_address_parse(equals ? equals + 1 : word, &address)) {
				free(own);
				return error_set(error, "--local: '%s' is no address",
						 equals ? equals + 1 : word);
			}
			if (!is_meant(source, word, equals ? (size_t)(equals - word) : 0))
				continue;
			own = mem_grow(own, count, &room, sizeof(*own));
			own[count++] = address;
		}
		if (!count)
			continue;
		free(source->local);
		source->local = own;
		source->locals = count;
	}
	return 0;
}

static void collect_sources(const struct request *request, struct source_list *sources,
			    struct problem_list *problems)
{
	struct error error = ERROR_INIT;

	for (size_t i = 0; i < request->runs.count; i++)
		if (source_add_run(sources, request->runs.item[i], problems, &error))
			problem_add(problems, "", "unreadable", 1, "%s",
				    error_text(&error));
	for (size_t i = 0; i < request->traces.count; i++)
		if (source_add_trace(sources, request->traces.item[i], problems, &error))
			problem_add(problems, "", "unreadable", 1, "%s",
				    error_text(&error));
	error_clear(&error);
}

static enum exit_status read_input(const struct request *request, struct sync *sync,
				   struct error *error)
{
	struct source_list sources = {NULL, 0, 0};
	struct progress progress;
	enum exit_status status = EXIT_TIED;

	if (request->messages)
		return sync_read_messages(sync, request->messages, error) ? EXIT_FAILED
									  : EXIT_TIED;
	progress_init(&progress, request->quiet);
	collect_sources(request, &sources, &sync->problems);
	if (set_local(&request->local, &sources, error))
		status = EXIT_MISUSE;
	else if (sync_read_sources(sync, &sources, &progress, error))
		status = EXIT_FAILED;
	source_list_clear(&sources);
	return status;
}

static int flush_output(struct error *error)
{
	return fflush(stdout) || ferror(stdout) ? error_errno(error, "standard output")
						: 0;
}

static int write_map(const struct clock_map *map, const char *path, struct error *error)
{
	struct output output;

	if (output_open(&output, path, error))
		return -1;
	clock_map_write(map, output.file);
	return output_commit(&output, error);
}

static void print_text(const struct request *request, struct sync *sync,
		       const struct clock_map *map)
{
	print_clocks(sync, map, stdout);
	if (request->verbose || request->stats) {
		putchar('\n');
		print_pairs(map, stdout);
	}
	putchar('\n');
	print_matching(sync, map, stdout);
}

static int write_results(const struct request *request, struct sync *sync,
			 struct error *error)
{
	struct clock_map map;
	int status = 0;

	sync_describe(sync, &map);
	if (request->output)
		status = write_map(&map, request->output, error);
	if (request->json && !request->output)
		clock_map_write(&map, stdout);
	else if (!request->json && !request->quiet)
		print_text(request, sync, &map);
	if (!status && request->verbose && !request->json)
		status = print_rejected(sync, stdout, error);
	if (!status && request->plot)
		status = plot_run(sync, request->plot, error);
	if (!status && request->apply)
		status = apply_run(&map, request->apply, request->json ? stderr : stdout,
				   &sync->problems, error);
	clock_map_clear(&map);
	return status ? status : flush_output(error);
}

/* Whether a problem means that something given could not be used. */
static bool is_failure(const struct problem *problem)
{
	static const char *const harmless[] = {"discarded", "backward",  "foreign",
					       "cut",       "silent",    "headerless",
					       "twice",     "fit",       "contradiction",
					       "malformed", "unstamped", "step",
					       "drift",     NULL};

	for (size_t i = 0; harmless[i]; i++)
		if (strcmp(problem->kind, harmless[i]) == 0)
			return false;
	return true;
}

/* Say what was odd; returns whether anything was not used. */
static bool report(const struct sync *sync)
{
	bool failed = false;

	for (size_t i = 0; i < sync->problems.count; i++) {
		const struct problem *problem = &sync->problems.item[i];

		fprintf(stderr, "ctsync: %s%s%s\n", problem->place,
			*problem->place ? ": " : "", problem->text);
		failed |= is_failure(problem);
	}
	if (sync->given_up)
		fprintf(stderr,
			"ctsync: %llu packets were given up before their other side was "
			"read (--in-flight)\n",
			(unsigned long long)sync->given_up);
	return failed;
}

/* "auto", "3" or "60s". 0, or -1 with error. */
static int parse_segments(const char *text, struct corridor_wish *wish,
			  struct error *error)
{
	char *end;
	double number;

	memset(wish, 0, sizeof(*wish));
	if (!text || strcmp(text, "auto") == 0)
		return 0;
	number = strtod(text, &end);
	if (end != text && strcmp(end, "s") == 0 && number > 0 && number < 1e9)
		wish->length_ns = nsec_round(number * 1e9);
	else if (end != text && !*end && number >= 1 && number <= 4096 &&
		 number == (double)(int)number)
		wish->segments = (size_t)number;
	else
		return error_set(error,
				 "--segments: '%s' is neither auto, nor a number from 1 "
				 "to 4096, nor seconds such as 60s",
				 text);
	return 0;
}

static enum exit_status run(const struct request *request, struct error *error)
{
	struct sync_options options = {
	    .method = request->method ? fit_method_find(request->method) : NULL,
	    .drift_limit_ppm = request->drift_limit_ppm,
	    .max_rejected = request->max_rejected,
	    .reference = request->reference,
	    .threads = request->jobs,
	    .in_flight = (size_t)request->in_flight,
	};
	struct sync sync;
	enum exit_status status;

	options.limit_only = request->bounds && strcmp(request->bounds, "limit") == 0;
	if (parse_segments(request->segments, &options.segments, error))
		return EXIT_MISUSE;
	sync_init(&sync, &options);
	status = read_input(request, &sync, error);
	if (!status && sync_fit(&sync, error))
		status = EXIT_FAILED;
	if (!status && write_results(request, &sync, error))
		status = EXIT_FAILED;
	if (report(&sync) && !status)
		status = EXIT_FAILED;
	else if (!status && !sync_is_tied(&sync))
		status = EXIT_NOT_TIED;
	sync_clear(&sync);
	return status;
}

static int default_jobs(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	return processors < 1 ? 1 : processors > 1024 ? 1024 : (int)processors;
}

static void clear_request(struct request *request)
{
	text_list_clear(&request->traces);
	text_list_clear(&request->runs);
	text_list_clear(&request->local);
	free(request->reference);
	free(request->method);
	free(request->output);
	free(request->messages);
	free(request->plot);
	free(request->apply);
	free(request->segments);
	free(request->bounds);
}

int main(int argc, const char **argv)
{
	struct request request = {
	    .jobs = default_jobs(),
	    .in_flight = 1 << 18,
	    .drift_limit_ppm = 200,
	    .max_rejected = 0.02,
	};
	struct error error = ERROR_INIT;
	enum exit_status status = EXIT_TIED;

	switch (parse(&request, argc, argv, &error)) {
	case OPTIONS_SHOWN:
		if (flush_output(&error))
			status = EXIT_FAILED;
		break;
	case OPTIONS_WRONG:
		status = EXIT_MISUSE;
		break;
	case OPTIONS_GO:
		status =
		    check_request(&request, &error) ? EXIT_MISUSE : run(&request, &error);
		break;
	}
	if (error.text)
		complain(error.text);
	error_clear(&error);
	clear_request(&request);
	return (int)status;
}
