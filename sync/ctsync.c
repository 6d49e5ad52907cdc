/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ctsync: the clocks of a cluster from its traces. */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/output.h"
#include "base/table.h"
#include "input/capture/frames.h"
#include "sync/apply/apply.h"
#include "sync/arguments.h"
#include "sync/fit/fit.h"
#include "sync/plot/plot.h"
#include "sync/sync.h"

enum exit_status { EXIT_TIED = 0, EXIT_FAILED = 1, EXIT_MISUSE = 2, EXIT_NOT_TIED = 3 };

struct request {
	struct sync_arguments sync;
	struct text_list traces, runs;
	char *output, *messages, *plot, *apply, *extract, *messages_out;
	bool json, quiet, verbose, stats, local_time;
};

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
	enum { OWN_ROWS = 12 };
	struct option_row rows[] = {
	    {'t', "trace", OPTION_LIST, &request->traces, "[NAME=]PATH",
	     "read this CTF trace, capture or .packets file; repeat for each", 0, 0},
	    {0, "json", OPTION_FLAG, &request->json, NULL, "print the clock map as JSON",
	     0, 0},
	    {'o', "output", OPTION_STRING, &request->output, "FILE",
	     "write the clock map as JSON to FILE", 0, 0},
	    {0, "messages", OPTION_STRING, &request->messages, "FILE",
	     "read messages from a CSV file instead of traces", 0, 0},
	    {0, "messages-out", OPTION_STRING, &request->messages_out, "DIR",
	     "write the messages of each node to DIR/NODE.messages", 0, 0},
	    {0, "plot", OPTION_STRING, &request->plot, "DIR",
	     "draw each pair and the graph of traces as SVG into DIR", 0, 0},
	    {0, "apply", OPTION_STRING, &request->apply, "DIR",
	     "make CTF traces on the reference clock in DIR", 0, 0},
	    {0, "extract", OPTION_STRING, &request->extract, "FILE",
	     "only write what is needed of a node's traces, given by -t or as its "
	     "directory, to FILE (.packets)",
	     0, 0},
	    {0, "stats", OPTION_FLAG, &request->stats, NULL, "print a line a pair", 0, 0},
	    {0, "local-time", OPTION_FLAG, &request->local_time, NULL,
	     "times of day by the zone of this machine instead of UTC", 0, 0},
	    {'v', "verbose", OPTION_FLAG, &request->verbose, NULL,
	     "print a line a pair, and every message left out", 0, 0},
	    {'q', "quiet", OPTION_FLAG, &request->quiet, NULL,
	     "no progress, and no text beside --json", 0, 0},
	    [OWN_ROWS + SYNC_ROWS] = {0},
	};
	struct command command = {
	    .name = "ctsync",
	    .usage = "[OPTION...] RUN | -t TRACE -t TRACE... | --messages FILE |\n"
		     "              --extract FILE NODE/ | --extract FILE -t TRACE...",
	    .summary = "how the clocks of a cluster relate, from its traces",
	    .rows = rows,
	};
	char *versions = make_versions();
	enum options_status status;

	sync_arguments_rows(&request->sync, &rows[OWN_ROWS]);
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
		return error_misuse(error, "--messages takes the place of traces");
	if (!request->messages && !traces)
		return error_set(error, "no trace given, want RUN, -t TRACE or "
					"--messages FILE (see --help)");
	if (request->messages && request->apply)
		return error_misuse(error, "--apply wants traces, not messages");
	if (request->messages && request->messages_out)
		return error_misuse(error, "--messages-out wants traces, as it tells of "
					   "their events");
	if (request->extract &&
	    (request->output || request->messages || request->plot || request->apply ||
	     request->messages_out || request->json))
		return error_misuse(error,
				    "--extract writes packets and no clocks, so it "
				    "does not go with -o, --json, --plot, --apply, "
				    "--messages or --messages-out");
	return 0;
}

static void collect_sources(const struct request *request, struct source_list *sources,
			    struct problem_list *problems)
{
	struct error error = ERROR_INIT;

	/* A directory is a run's or, for an extract, a node's. */
	for (size_t i = 0; i < request->runs.count; i++)
		if ((request->extract ? source_add_node : source_add_run)(
			sources, request->runs.item[i], problems, &error))
			problem_add(problems, "", "unreadable", 1, "%s",
				    error_text(&error));
	for (size_t i = 0; i < request->traces.count; i++)
		if (source_add_trace(sources, request->traces.item[i], problems, &error))
			problem_add(problems, "", "unreadable", 1, "%s",
				    error_text(&error));
	error_clear(&error);
}

/* An extract has no events to correct. */
static int check_apply(const struct request *request, const struct source_list *sources,
		       struct error *error)
{
	for (size_t i = 0; i < sources->count && request->apply; i++)
		if (sources->item[i].extract)
			return error_misuse(error,
					    "--apply wants traces, and %s has only "
					    "their packets",
					    sources->item[i].path);
	return 0;
}

static enum exit_status read_input(const struct request *request, struct sync *sync,
				   struct error *error)
{
	struct source_list sources = {.takes_extracts = !request->extract};
	struct progress progress;
	enum exit_status status = EXIT_TIED;

	if (request->messages)
		return sync_read_messages(sync, request->messages, error) ? EXIT_FAILED
									  : EXIT_TIED;
	progress_init(&progress, request->quiet);
	collect_sources(request, &sources, &sync->problems);
	if (sync_arguments_set_sources(&request->sync, &sources, error) ||
	    check_apply(request, &sources, error))
		status = EXIT_MISUSE;
	else if (request->extract)
		status =
		    extract_packets(sync, &sources, request->extract, &progress, error)
			? EXIT_FAILED
			: EXIT_TIED;
	else if (sync_read_sources(sync, &sources, &progress, error))
		status = EXIT_FAILED;
	source_list_clear(&sources);
	return status;
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
	print_clocks(sync, map, request->local_time, stdout);
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
	if (!status && request->messages_out)
		status = messages_out_write(sync, &map, request->messages_out, error);
	if (!status && request->apply)
		status = apply_run(&map, request->apply, request->json ? stderr : stdout,
				   &sync->problems, error);
	clock_map_clear(&map);
	return status ? status : output_flush_stdout(error);
}

/* Say what was odd; returns whether anything was not used. */
static bool report(const struct sync *sync)
{
	bool failed = false;

	problem_print(&sync->problems, "ctsync", stderr);
	for (size_t i = 0; i < sync->problems.count; i++)
		failed |= problem_is_failure(sync->problems.item[i].kind);
	if (sync->given_up)
		fprintf(stderr,
			"ctsync: %llu packets were given up before their other side was "
			"read (--in-flight)\n",
			(unsigned long long)sync->given_up);
	return failed;
}

static enum exit_status run(const struct request *request, struct error *error)
{
	struct sync_options options;
	struct sync sync;
	enum exit_status status;

	if (sync_arguments_parse(&request->sync, &options, error))
		return EXIT_MISUSE;
	options.alone = request->messages_out; /* the only node left, say */
	sync_init(&sync, &options);
	sync.log.has_ends = request->messages_out;
	status = read_input(request, &sync, error);
	if (!status && !request->extract &&
	    (sync_fit(&sync, error) || write_results(request, &sync, error)))
		status = EXIT_FAILED;
	if (report(&sync) && !status)
		status = EXIT_FAILED;
	else if (!status && !request->extract && !sync_is_tied(&sync))
		status = EXIT_NOT_TIED;
	sync_clear(&sync);
	return status;
}

static void clear_request(struct request *request)
{
	sync_arguments_clear(&request->sync);
	text_list_clear(&request->traces);
	text_list_clear(&request->runs);
	free(request->output);
	free(request->messages);
	free(request->plot);
	free(request->apply);
	free(request->extract);
	free(request->messages_out);
}

int main(int argc, const char **argv)
{
	struct request request = {0};
	struct error error = ERROR_INIT;
	int status;

	/* One thread frees what another read: in arenas of their own both would be kept.
	 */
	mallopt(M_ARENA_MAX, 1);
	output_catch_signals();
	output_catch_pipe();
	sync_arguments_init(&request.sync);
	status = options_end(parse(&request, argc, argv, &error), &error);
	if (status < 0)
		status = (int)(check_request(&request, &error) ? EXIT_MISUSE
							       : run(&request, &error));
	if (error.misuse)
		status = EXIT_MISUSE;
	error_tell(&error, "ctsync", stderr);
	clear_request(&request);
	return status;
}
